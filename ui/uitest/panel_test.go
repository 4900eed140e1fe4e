package uitest_test

import (
	"fmt"
	"testing"
	"time"

	"fantail/ui/uitest"
)

// The full-screen panels of an inbox and of a queue.

// queued is a queue with tasks in every state, the first of them running.
func queued(s *uitest.Session) {
	for _, p := range [][2]string{
		{"tests", "look"}, {"vet", "fail this is not allowed"}, {"slow", "after 60s of work"}, {"docs", "after=slow look at the docs"}, {"lint", "look at the linter"},
	} {
		s.Enter("/push name=" + p[0] + " " + p[1])
		s.See("Queued " + p[0])
	}
	s.Enter("/run 1")
	s.See("vet ✗", "slow ●")
}

// TestQueuePanel: what can be done with a queue from its panel.
//
// Spec: Q-59.
func TestQueuePanel(t *testing.T) {
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Press("f4")
		s.See("Nothing is queued. /push PROMPT adds a task")
		s.Press("esc")
		queued(s)
		s.Type("half a draft")
		s.Press("f4")
		s.See("[All 5]· Queued 2 · Running 1 · Finished 2", "after slow look at the docs", "it waits for slow")
		s.Golden("panel-queue-120")
		s.Press("down")
		s.See("so many of its queue run as /run 1 allows")
		s.Type("K")
		s.See("lint is number 1 of the queue now")
		s.Type("e")
		s.See("lint› look at the linter")
		s.Type(" again")
		s.Press("enter")
		s.See("Changed the prompt of lint", "look at the linter again")
		s.Type("x")
		s.See("Remove lint?")
		s.Press("esc")
		s.See("[All 5]")
		s.Type("xr")
		s.See("Removed lint", "[All 4]· Queued 1 · Running 1 · Finished 2")
		s.Type("2")
		s.See("[Running 1]", "waiting for the model")
		s.Type("xc")
		s.Gone("End slow?")
		s.Type("3")
		s.Gone("after 60s")
		s.See("[Finished 2]", "not allowed")
		s.Type("/look")
		s.Gone("this is not allowed")
		s.Press("enter")
		s.See("All two files")
		s.Type("y")
		s.See("Queued tests again")
		s.Press("esc")
		s.Type("0")
		s.Press("esc")
		s.See("half a draft")
		s.Press("ctrl+c", "f4")
		s.Type("3")
		s.See("[Finished 2]")
		s.Press("enter")
		s.See("[2 Transcript]")
	})
}

// TestQueuePanelFollows: what changes shows by itself, at every size.
func TestQueuePanelFollows(t *testing.T) {
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		queued(s)
		s.Press("f4")
		s.See("Running 1 · Finished 2")
		s.Wait(time.Minute)
		s.See("Queued 0 · Running 0 · Finished 5")
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			s.Resize(size[0], size[1])
			s.Golden(fmt.Sprintf("panel-queue-%d", size[0]))
		}
	})
}
