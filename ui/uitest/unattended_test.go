package uitest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"fantail/agents"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// A conversation that nobody attends shows while it is at work: in its own mode, whatever the session's is. A failure of
// it calls nobody, and its tab goes with it.
func TestUnattended(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/mode yolo")
		s.See("builtin · yolo")
		c, err := s.Pool.Scripts.Open(context.Background(), agents.Unattended{Mode: permission.Ask})
		if err != nil {
			t.Fatal(err)
		}
		s.See("prompt-2 ○")
		s.Press("alt+2")
		s.See("builtin · never asks · ask")
		if err := c.Prompt(context.Background(), "run touch made"); err != nil {
			t.Fatal(err)
		}
		s.See("nobody is here to be asked")
		s.NotSee("has a question")
		if _, err := c.End(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.Gone("prompt-2 ○")
		synctest.Wait()
		s.See("builtin · yolo")
	})
}
