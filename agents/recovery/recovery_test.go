package recovery_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fantail/agents/history"
	"fantail/agents/recovery"
	"fantail/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestParkedAt: a cut turn goes on only if a question was all that was under way: a call that began, or was allowed
// and may have begun, is not done again.
func TestParkedAt(t *testing.T) {
	at := time.Unix(1, 0)
	for _, c := range []struct {
		what string
		es   string // kind:call
		row  store.Approval
		want string // the remaining calls; "": it does not go on
	}{
		{"a question", "prompt: text: call:a", store.Approval{Call: "a", Data: "{}"}, "a"},
		{"its answer was not acted upon", "call:a", store.Approval{Call: "a", Data: "{}", Answered: at}, "a"},
		{"its answer was", "call:a", store.Approval{Call: "a", Data: "{}", Answered: at, Acted: at}, ""},
		{"of the first call that has no result", "call:a call:b call:c result:a", store.Approval{Call: "b", Data: "{}"}, "b c"},
		{"of a later one", "call:a call:b", store.Approval{Call: "b", Data: "{}"}, ""},
		{"of none that is open", "call:a call:b result:a", store.Approval{Call: "a", Data: "{}"}, ""},
		{"a command had begun", "call:a started:a", store.Approval{Call: "a", Data: "{}"}, ""},
		{"a neighbour's had", "call:a call:b started:b", store.Approval{Call: "a", Data: "{}"}, ""},
		{"a neighbour waited for a task", "call:a call:b delegated:b", store.Approval{Call: "a", Data: "{}"}, ""},
		{"one before it had begun and ended", "call:a call:b started:a result:a", store.Approval{Call: "b", Data: "{}"}, "b"},
		{"others could run beside it", "call:a call:b", store.Approval{Call: "a", Data: `{"beside":true}`}, ""},
		{"none is left that could", "call:a call:b result:b", store.Approval{Call: "a", Data: `{"beside":true}`}, "a"},
		{"it can't be read", "call:a", store.Approval{Call: "a", Data: "{"}, ""},
		{"nothing was under way", "call:a result:a text:", store.Approval{Call: "a", Data: "{}"}, ""},
	} {
		var es []history.Entry
		for _, s := range strings.Fields(c.es) {
			kind, call, _ := strings.Cut(s, ":")
			e := history.Entry{Kind: history.EntryKind(kind)}
			switch {
			case e.Kind == history.EntryResult:
				e.Result = &history.Result{ID: call}
			case call != "":
				e.Call = &history.Call{ID: call}
			}
			es = append(es, e)
		}
		c.row.ID = 7
		p := recovery.ParkedAt(store.Turn{ID: 3}, es, []store.Approval{{ID: 6, Call: "other", Data: "{}"}, c.row})
		if p == nil {
			if c.want != "" {
				t.Errorf("%s: it is over", c.what)
			}
			continue
		}
		var left []string
		for _, call := range p.Calls {
			left = append(left, call.ID)
		}
		if got := strings.Join(left, " "); got != c.want || p.Row.ID != 7 || p.Turn.ID != 3 {
			t.Errorf("%s: turn %d goes on at question %d with %q, want %q", c.what, p.Turn.ID, p.Row.ID, got, c.want)
		}
	}
}
