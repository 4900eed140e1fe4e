package uitest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/ui/uitest"
)

// TestAnswerSheet: Alt+A with more than one question lists them all; a key answers equal ones together, and what does not
// show whole is answered where it was opened; after the last one the sheet closes, and the draft is as it was.
//
// Spec: R-49, E-26.
func TestAnswerSheet(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {40, 12}} {
		play(t, uitest.Options{W: size[0], H: size[1]}, func(s *uitest.Session) {
			for _, task := range []string{"three write new: text", "one run touch made", "two run touch made"} {
				s.Enter("/push name=" + task)
				s.See("Queued " + strings.Fields(task)[0])
			}
			s.Enter("/run 3")
			s.Until("three agents ask", func() bool { return open(s) == 3 })
			s.Type("a draft")
			s.Wait(time.Second)
			s.Press("alt+a")
			s.See("3 questions from 3 agents", "×2", "touch made", "write new")
			s.Type("y") // too early
			s.See("Not answered")
			if open(s) != 3 {
				t.Error("a key at once answers")
			}
			s.Wait(time.Second)
			s.Press("home")
			s.Golden(fmt.Sprintf("answer-sheet-%d", size[0]))
			s.Wait(time.Second)
			s.Type("y")
			s.See("1 question from 1 agent")
			s.Until("both were answered", func() bool { return open(s) == 1 && made(s, "made") })
			s.Wait(time.Second)
			s.Type("y")
			s.See("Open it before you allow it")
			s.Press("space")
			s.See("three wants to write new")
			s.Wait(time.Second)
			s.Type("y")
			s.Until("the file is there", func() bool { return open(s) == 0 && made(s, "new") })
			s.See("› a draft")
		})
	}
}
