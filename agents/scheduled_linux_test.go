package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/.ci/long"
	"fantail/agents/llm/builtin"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permission"
)

// came waits for the n-th message of main's inbox.
func (w *world) came(n int) inbox.Message {
	w.T.Helper()
	var ms []inbox.Message
	w.Until("the message is there", func() bool {
		ms = w.waits(w.Main())
		return len(ms) >= n
	})
	return ms[n-1]
}

// A scheduled command is held as an agent's command is, in every mode, also when its task is begun once more, and does not
// run where nothing holds it. The human's word for that schedule lets it run as they do.
func TestScheduledCommand_sandbox(t *testing.T) {
	for _, c := range long.Some(t, 2, []struct {
		name     string
		mode     permission.Mode
		sandbox  string
		wall     permission.Sandbox
		outside  bool // it writes outside of the workspace
		runs     bool
		complain string
	}{
		{"held", permission.Ask, "", permission.Prevents, false, true, "its sandbox keeps it from"},
		{"in mode yolo", permission.Yolo, "", permission.Prevents, false, true, "its sandbox keeps it from"},
		{"in mode plan", permission.Plan, "", permission.Prevents, false, true, "its sandbox keeps it from"},
		{"detected only", permission.Ask, "", permission.Detects, false, true, "its sandbox keeps it from"},
		{"nothing holds it", permission.Ask, "", permission.NoSandbox, false, false, "it did not run"},
		{"nothing holds it in mode yolo", permission.Yolo, "", permission.NoSandbox, false, false, "sandbox=off"},
		{"the human's word", permission.Ask, schedule.NoSandbox, permission.Prevents, true, true, ""},
		{"the human's word, and nothing would hold it", permission.Ask, schedule.NoSandbox, permission.NoSandbox, true, true, ""},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s, beside := walled(t, c.mode, c.wall)
			w := open(t, builtin.New(), s)
			out := filepath.Join(beside, "out")
			w.plan(schedule.Order{Kind: schedule.Command, Name: "made", Sandbox: c.sandbox, Always: true}, "every 10m echo x >> ran; echo x > "+out)
			_, err := w.Pool.Schedule.Fire(t.Context(), "made", 0)
			check(t, err)
			m := w.came(1)
			if !strings.Contains(m.Body+m.Error, c.complain) || (m.Error == "") != c.outside {
				t.Errorf("it tells %+v", m)
			}
			for range 2 {
				if _, err := os.Stat(out); (err == nil) != c.outside {
					t.Errorf("outside of the workspace: %v", err)
				}
				if _, err := os.Stat(filepath.Join(s.Dir, "ran")); (err == nil) != c.runs {
					t.Errorf("in the workspace: %v", err)
				}
				_ = os.Remove(out)
				_ = os.Remove(filepath.Join(s.Dir, "ran"))
				_, _, err = w.Pool.Tasks.Retry(t.Context(), w.Main(), "made", "")
				check(t, err)
				w.Run(0)
				w.Settle()
			}
			check(t, w.DB.Read(t.Context(), func(rx *store.Rx) error {
				k, err := schedule.Known(&rx.View, "made")
				if k.Last.Ended.IsZero() || (k.Last.Outcome == "completed") != c.outside {
					t.Errorf("its run is %+v", k.Last)
				}
				return err
			}))
		})
	}
}
