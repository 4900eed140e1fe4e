package uitest_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"fantail/ui/uitest"
)

var (
	block  = regexp.MustCompile("(?s)\\*\\*([A-Z][a-z -]+)\\*\\*[^`]*(?:`[^`\n]+`[^`]*)*```\n(.*?)```")
	remark = regexp.MustCompile(`   .*`) // behind a line of a block
)

// TestReadmeWorkflows types the README's workflows as they stand there: each line
// is taken, and in the end all work is done and all mail read.
func TestReadmeWorkflows(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Workflows\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := block.FindAllStringSubmatch(section, -1)
	if n := strings.Count(section, "```") / 2; n == 0 || len(blocks) != n {
		t.Fatalf("%d of %d blocks have a name", len(blocks), n)
	}
	for _, b := range blocks {
		t.Run(b[1], func(t *testing.T) {
			play(t, uitest.Options{}, func(s *uitest.Session) {
				for _, line := range strings.Split(strings.TrimSpace(b[2]), "\n") {
					s.Enter(strings.TrimSpace(remark.ReplaceAllString(line, "")))
					if strings.HasSuffix(line, `\`) {
						continue
					}
					s.Wait(10 * time.Second)
					s.Until("the line was taken", func() bool { return typed(s) == "" })
				}
				l, err := s.Pool.Records.Balance(context.Background())
				if err != nil || l.Started == 0 || l.Running+l.Queued+l.Pending > 0 || len(l.Wrong) > 0 {
					t.Errorf("in the end: %s, %v", l, err)
				}
				s.NotSee("pending]", "Nothing can arrive", "No messages ready")
			})
		})
	}
}
