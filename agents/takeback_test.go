package agents_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"fantail/agents/llm"
)

// TestWork_whatWasDueIsGone: a prompt that keeps a turn from ending may be taken back before it enters. The turn ends
// then; no request goes out that ends with what the model said itself.
func TestWork_whatWasDueIsGone(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "first" && valid(req.Messages) == nil {
			began <- struct{}{}
			<-goOn
		}
		return text("said"), nil
	}}
	var mu sync.Mutex
	ends := func() {} // called by the writer as the turn looks whether it may end
	w := open(t, m, setting{Trace: func(statement string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(statement, "FROM prompts") && strings.Contains(statement, "removed_at IS NULL") {
			ends()
			ends = func() {}
		}
	}})
	gone := 0
	for try := 0; try < 20 || gone == 0 && try < 500; try++ { // who is first is for the scheduler to say
		w.Prompt("first")
		<-began
		w.Prompt("second")
		w.Until("it is queued", func() bool { return len(w.Info("main").Prompts) == 1 })
		id := w.Info("main").Prompts[0].ID
		before := len(m.Seen())
		var all sync.WaitGroup
		mu.Lock()
		ends = func() {
			all.Go(func() {
				taken, err := w.Pool.Unprompt(context.WithoutCancel(t.Context()), id)
				check(t, err)
				if taken {
					gone++
				}
			})
		}
		mu.Unlock()
		goOn <- struct{}{}
		w.Settle()
		all.Wait()
		for _, r := range m.Seen()[before:] {
			check(t, valid(r.Messages))
		}
	}
	switch {
	case gone == 0 && runtime.GOMAXPROCS(0) == 1:
		t.Skip("with one processor the prompt is never gone in time")
	case gone == 0:
		t.Error("the prompt was never gone in time: this proves nothing")
	}
}
