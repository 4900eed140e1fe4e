package budget

import (
	"fmt"
	"strings"

	"fantail/tools"
	"fantail/tools/allowance"
)

// stop is the answer that lets a turn end.
const stop = "Stop"

// more is the answer that gives as much again.
func (o *Over) more() string { return "Go on with another " + o.Amount.String() }

// Question asks the human for more.
func (o *Over) Question() tools.Question {
	return tools.Question{
		Text: fmt.Sprintf("The budget of %s is used up: %s. Go on?", o.Name, o.Amount.Used(o.Used)),
		Options: []tools.Option{
			{Label: o.more(), Why: "another amount can be typed: 20k, $1"}, {Label: stop, Why: "the turn ends here"},
		},
	}
}

// Given is how much more an answer gives; none: the turn ends.
func (o *Over) Given(answer string) allowance.Amount {
	if answer == o.more() {
		return o.Amount
	}
	a, err := allowance.Parse(strings.TrimSpace(answer))
	if err != nil || a.Money != o.Amount.Money {
		return allowance.Amount{} // whatever it says, it is no amount of that
	}
	return a
}
