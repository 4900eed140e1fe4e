package uitest

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"
)

// Press presses keys, named as the program names them: enter, alt+2, ctrl+pgup. An unknown name is
// a mistake of the test and panics.
func (s *Session) Press(names ...string) {
	for _, n := range names {
		keys := bytesOf(n)
		if keys[0] == '\x1b' {
			s.Wait(50 * time.Millisecond) // no human is faster
		}
		s.Send(keys)
		if strings.HasSuffix(n, "esc") {
			// A terminal's Esc counts as a key only if nothing follows at once.
			s.Wait(100 * time.Millisecond)
		}
	}
}

// Enter types a line and presses Enter.
func (s *Session) Enter(text string) {
	s.Type(text)
	s.Press("enter")
}

// Wait lets d pass, and then waits until everything is at rest.
func (s *Session) Wait(d time.Duration) {
	time.Sleep(d)
	if !s.o.Real {
		synctest.Wait()
	}
}

// Until waits until ok is true, or fails the test with the screen.
func (s *Session) Until(what string, ok func() bool) {
	s.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for !ok() {
		select {
		case <-s.wrote:
		case <-late.C:
			s.t.Fatalf("waited in vain until %s; the screen:\n%s", what, s.Screen())
		}
	}
}

// See waits until the screen shows each text.
func (s *Session) See(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		s.Until(fmt.Sprintf("the screen shows %q", text), func() bool { return strings.Contains(s.Screen(), text) })
	}
}

// Gone waits until the screen shows none of the texts.
func (s *Session) Gone(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		s.Until(fmt.Sprintf("the screen no longer shows %q", text), func() bool { return !strings.Contains(s.Screen(), text) })
	}
}

// NotSee lets half a second pass and fails if the screen shows one of the texts.
func (s *Session) NotSee(texts ...string) {
	s.t.Helper()
	s.Wait(500 * time.Millisecond)
	screen := s.Screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Fatalf("the screen shows %q:\n%s", text, screen)
		}
	}
}

// Line returns the first line of the screen with that text.
func (s *Session) Line(text string) string {
	s.t.Helper()
	s.See(text)
	for _, l := range strings.Split(s.Screen(), "\n") {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

// Status returns the last line of the screen.
func (s *Session) Status() string {
	lines := strings.Split(strings.TrimSuffix(s.Screen(), "\n"), "\n")
	return lines[len(lines)-1]
}

// named is a test under another name.
type named struct {
	testing.TB
	name string
}

func (n named) Name() string { return n.name }

// Golden compares the screen with testdata/NAME.golden once it is at rest. -update writes the file.
// Parts that differ from run to run are replaced by a text of the same width.
func (s *Session) Golden(name string) {
	s.t.Helper()
	s.Wait(time.Second)
	golden.RequireEqual(named{s.t, name}, s.steady(s.Screen()))
}

// GoldenStyles compares the screen and the style of every run of cells.
func (s *Session) GoldenStyles(name string) {
	s.t.Helper()
	s.Wait(time.Second)
	golden.RequireEqual(named{s.t, name}, s.steady(legend(s.grid())))
}

// Parts that differ by a tick from run to run: spinners and running clocks. Estimates of a
// request's tokens differ with every text of the program.
var (
	braille = regexp.MustCompile(`[⠀-⣿]`)
	age     = regexp.MustCompile(`([●◐⚠+~?] |idle |ends in )(?:\d+:)?\d+:\d\d`)
	silence = regexp.MustCompile(`(stalled (?:for )?)\d+s`)
	ago     = regexp.MustCompile(`\d+m\d\ds( ago)`)
	list    = regexp.MustCompile(`(?:─|\+-) (?:Agents|Inbox|Queue) [·-] `)
	column  = regexp.MustCompile(`  \d+[smh]\b| \d+[smh] ago`)
	fan     = regexp.MustCompile(`Fan  \d+ agent`)
	clocks  = regexp.MustCompile(`\d+:\d\d\b| \d+s\b|~\d+ tokens`)
	digits  = regexp.MustCompile(`\d`)
	moment  = regexp.MustCompile(`\d\d:\d\d:\d\d`)
	running = regexp.MustCompile(`\d[\dhms.]*( · esc st| · (?:\d+ new · )?end )`)
	about   = regexp.MustCompile(`about +[\d,]+`)
	session = regexp.MustCompile(`(?m)^(  session +)\d+$`) // which of several that start at once gets the first one
	waited  = regexp.MustCompile(`(?m)(^[⠀-⣿◌] .* · )\d[\dhms.]*$`)
)

// steady replaces the workspace's path, spinners, running clocks and estimates.
func (s *Session) steady(screen string) string {
	is := "/srv/my-project/shop"
	root := s.Home.Root
	for len(is) < len(root) {
		is = "/" + is
	}
	screen = strings.ReplaceAll(screen, root, is[len(is)-len(root):])
	screen = silence.ReplaceAllString(ago.ReplaceAllString(screen, "1m00s$1"), "${1}100s")
	if list.MatchString(screen) {
		screen = column.ReplaceAllStringFunc(screen, func(s string) string { return digits.ReplaceAllString(s, " ") })
	}
	if fan.MatchString(screen) {
		screen = clocks.ReplaceAllStringFunc(screen, func(s string) string { return digits.ReplaceAllString(s, "0") })
	}
	screen = moment.ReplaceAllString(screen, "00:00:00")
	screen = about.ReplaceAllStringFunc(screen, func(s string) string { return digits.ReplaceAllString(s, "0") })
	screen = age.ReplaceAllString(screen, "${1}0:00")
	screen = running.ReplaceAllString(screen, "0s$1")
	screen = waited.ReplaceAllString(screen, "${1}0s")
	screen = session.ReplaceAllString(screen, "${1}1")
	return braille.ReplaceAllString(screen, "⠿")
}

// legend returns the grid with a letter for each style under every line, and the meaning of the
// letters.
func legend(grid [][]cell) string {
	var b strings.Builder
	letters, known := map[string]rune{}, []string{}
	letter := func(k string) rune {
		if k == "" {
			return '.'
		}
		if _, ok := letters[k]; !ok {
			letters[k] = rune('a' + len(letters))
			known = append(known, k)
		}
		return letters[k]
	}
	for _, row := range grid {
		var text, styles strings.Builder
		for _, c := range row {
			text.WriteString(c.text)
			styles.WriteRune(letter(c.sgr))
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(text.String(), " "))
		if st := strings.TrimRight(styles.String(), "."); st != "" {
			fmt.Fprintf(&b, "%s\n", st)
		}
	}
	sort.Slice(known, func(i, j int) bool { return letters[known[i]] < letters[known[j]] })
	for _, k := range known {
		fmt.Fprintf(&b, "%c %q\n", letters[k], k)
	}
	return b.String()
}
