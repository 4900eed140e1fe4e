package agents_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"fantail/.ci/parallel"
	"fantail/agents/agentstest"
	"fantail/agents/llm"
	"fantail/store/storetest"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	storetest.Memory()
	lives := agentstest.Lives{"asks": asksThenDies, "program asks": programAsksThenDies, "replies": replies}
	if child() || lives.Live() || observerLives() || caller() {
		return
	}
	parallel.Raise()
	goleak.VerifyTestMain(m)
}

type (
	model   = agentstest.Model
	setting = agentstest.Setting
)

// What tests say so often that it is short here.
var (
	text    = agentstest.Text
	call    = agentstest.Call
	asked   = agentstest.Asked
	results = agentstest.Results
	kinds   = agentstest.Kinds
	valid   = agentstest.Valid
	check   = agentstest.Check
)

// world is a pool and what these tests do with it.
type world struct{ *agentstest.World }

func open(t testing.TB, m llm.Provider, s setting) *world {
	t.Helper()
	return &world{agentstest.Open(t, m, s)}
}
