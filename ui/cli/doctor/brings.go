package doctor

import (
	"fmt"

	"fantail/agents/hooks"
	"fantail/agents/trust"
)

// Brings is what hooks there are, what of them is broken or does not run, and what the repository may not set.
func Brings(room *hooks.Room, trouble error) (all []Finding) {
	if trouble != nil {
		all = append(all, Finding{What: "trust", Bad: true, Says: trouble.Error()})
	}
	lines, faults, ignored := room.List()
	says := "there are none"
	if len(lines) > 0 {
		own, runs := 0, 0
		for _, l := range lines {
			switch {
			case l.Source.Own:
				own++
			case l.Standing == trust.Agreed:
				runs++
			}
		}
		says = fmt.Sprintf("%d yours, %d of the repository that you trust, %d that do not run", own, runs, len(lines)-own-runs)
	}
	all = append(all, Finding{What: "hooks", Says: says})
	for _, l := range lines {
		if !l.Source.Own && l.Standing != trust.Agreed {
			all = append(all, Finding{What: "hook", Says: l.Place() + ": " + string(l.Event) + " is " + l.Standing.String() + "; /trust asks"})
		}
	}
	for _, f := range faults {
		all = append(all, Finding{What: "hook", Bad: true, Says: f.String()})
	}
	for _, f := range ignored {
		all = append(all, Finding{What: "ignored", Says: f.String()})
	}
	return all
}
