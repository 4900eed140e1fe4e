package fleet

import (
	"fmt"
	"strings"

	"fantail/tools"
)

// stopOver is the answer that lets a turn end.
const stopOver = "Stop"

// more returns the answer that grants the same amount again.
func (o *OverBudget) more() string { return "Go on with another " + o.Amount.String() }

// Question asks the human for more.
func (o *OverBudget) Question() tools.Question {
	return tools.Question{
		Text: fmt.Sprintf("The budget of %s is used up: %s. Go on?", o.Name, o.Amount.Used(o.Used)),
		Options: []tools.Option{
			{Label: o.more(), Why: "another amount can be typed: 20k, $1"}, {Label: stopOver, Why: "the turn ends here"},
		},
	}
}

// Given returns how much more an answer grants; none: the turn ends.
func (o *OverBudget) Given(answer string) tools.Amount {
	if answer == o.more() {
		return o.Amount
	}
	a, err := tools.ParseAmount(strings.TrimSpace(answer))
	if err != nil || a.Money != o.Amount.Money {
		return tools.Amount{} // the answer names no such amount
	}
	return a
}
