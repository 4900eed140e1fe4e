package agents_test

import (
	"fmt"
	"testing"

	"fantail/agents/llm/builtin"
	"fantail/tools"
)

// BenchmarkNested drains a queue of tasks that each dispatch another and wait for
// it, beside the tabs of those that ended.
func BenchmarkNested(b *testing.B) {
	const tasks = 400
	for b.Loop() {
		w := open(b, builtin.New(), setting{Dir: b.TempDir()})
		for n := range tasks {
			_, err := w.Pool.Tasks.Push(b.Context(), w.Main(), tools.Task{Prompt: fmt.Sprintf("delegate kid%d: say deep then say asked", n), Deliver: "hold"})
			check(b, err)
		}
		w.Run(0)
		check(b, w.Pool.Settled(b.Context()))
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(2*tasks*b.N), "ms/task")
}
