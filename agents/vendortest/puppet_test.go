package vendortest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"fantail/agents/acp/acptest"
	"fantail/agents/agentstest"
	"fantail/agents/llm"
)

// model is the name of the model that the vendor's agents are.
const model = "acp/fake"

// puppets is a vendor whose agents do what the test has them do, turn by turn.
type puppets struct {
	*Vendor
	turns   chan *turn
	loses   atomic.Bool
	forgets atomic.Bool // what it is prompted with from now on
}

// turn is one that a puppet carries out.
type turn struct {
	*acptest.Turn
	over chan string // why it ends
}

// newPuppets returns a vendor of puppets, each as able makes it able to.
func newPuppets(t testing.TB, able func(a *acptest.Agent)) *puppets {
	p := &puppets{turns: make(chan *turn, 10)}
	p.Vendor = New(t, func() *acptest.Agent {
		a := &acptest.Agent{Loads: true, Resumes: true, Loses: func(string) bool { return p.loses.Load() }, Forgets: func(string) bool { return p.forgets.Load() }}
		able(a)
		a.Turn = func(t *acptest.Turn) string {
			n := &turn{t, make(chan string)}
			p.turns <- n
			select {
			case why := <-n.over:
				return why
			case <-t.Context.Done():
				return ""
			}
		}
		return a
	})
	return p
}

// steers makes a puppet one that lets itself be steered, waits one that does not.
func steers(a *acptest.Agent) { a.Steers = true }
func waits(*acptest.Agent)    {}

func abilities() map[string]func(*acptest.Agent) {
	return map[string]func(*acptest.Agent){"steers": steers, "waits": waits, "deaf": deaf}
}

// Lose has prompts stay on their way from now on, or arrive.
func (p *puppets) Lose(all bool) { p.loses.Store(all) }

// ends ends the turn.
func (n *turn) ends() { n.over <- "" }

// answers says something and ends the turn.
func (n *turn) answers(text string) {
	n.Say(text)
	n.ends()
}

// told reports whether the turn's prompt holds a text.
func (n *turn) told(text string) bool { return strings.Contains(n.Prompt, text) }

// open opens a pool whose main is carried out by a puppet. The models of the pool's own say what they were asked.
func (p *puppets) open(t testing.TB, s setting) (*world, *agentstest.Model) {
	t.Helper()
	m := &agentstest.Model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return agentstest.Text("ours: " + agentstest.Asked(req)), nil
	}}
	s.Start, s.Model, s.Others = p.Go, model, map[string]llm.Provider{model: p.Engine()}
	return open(t, m, s), m
}
