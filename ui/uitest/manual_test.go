package uitest_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"fantail/tools/permission"
	"fantail/ui/manual"
	"fantail/ui/uitest"
)

var (
	recipe  = regexp.MustCompile("(?s)\n## ([A-Z][A-Za-z -]+)\n[^`]*(?:`[^`\n]+`[^`]*)*```\n(.*?)```")
	block   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")
	program = regexp.MustCompile(`run ((go|git) \w+)`) // programs that a machine may lack
	remark  = regexp.MustCompile(`   .*`)              // after a line of a block
)

// TestManualWorkflows types the manual's workflows as they are there: each line
// is taken, and in the end all work is done and all mail read.
func TestManualWorkflows(t *testing.T) {
	t.Parallel()
	page, ok := manual.Find("workflows")
	if !ok {
		t.Fatal("there is no page of workflows")
	}
	recipes := recipe.FindAllStringSubmatch(page.Text, -1)
	if n := strings.Count(page.Text, "\n## "); n == 0 || len(recipes) != n {
		t.Fatalf("%d of %d sections have a block to play", len(recipes), n)
	}
	for _, b := range recipes {
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

// TestManualInstructions types the instructions to the built-in engine that the manual shows: it knows each, and carries it out.
func TestManualInstructions(t *testing.T) {
	t.Parallel()
	for _, name := range manual.Names() {
		page, _ := manual.Find(name)
		for _, b := range block.FindAllStringSubmatch(page.Text, -1) {
			if b[1] != "" || strings.Contains("\n"+b[2], "\n/") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				o := uitest.Options{Mode: permission.Yolo, Files: map[string]string{"main.go": "package main // TODO\n"}}
				play(t, o, func(s *uitest.Session) {
					for line := range strings.SplitSeq(strings.TrimSpace(b[2]), "\n") {
						s.Enter(program.ReplaceAllString(remark.ReplaceAllString(line, ""), "run echo $1"))
						s.Wait(10 * time.Second)
						s.Until("the line was taken", func() bool { return typed(s) == "" })
						s.NotSee("No language model is configured", "✗")
					}
				})
			})
		}
	}
}
