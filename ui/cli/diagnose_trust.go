package cli

import (
	"fmt"
	"slices"
	"strings"

	"fantail/agents/hooks"
)

// DoctorBrings reports what of the repository runs by itself or does not, which hooks there are,
// which are broken, and what the repository may not set. Faults whose place is in said were
// reported already.
func DoctorBrings(brought *hooks.TrustStore, room *hooks.Runner, said []string, trouble error) (all []Finding) {
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
			case l.Standing == hooks.Agreed:
				runs++
			}
		}
		says = fmt.Sprintf("%d yours, %d of the repository that you trust, %d that do not run", own, runs, len(lines)-own-runs)
	}
	all = append(all, Finding{What: "hooks", Says: says})
	for _, l := range lines {
		if !l.Source.Own && l.Standing != hooks.Agreed {
			all = append(all, Finding{What: "hook", Says: l.Place() + ": " + string(l.Event) + " is " + l.Standing.String() + "; /trust asks"})
		}
	}
	for _, r := range brought.Review() {
		if r.Kind != hooks.HooksKind && r.Standing != hooks.Agreed { // hooks are listed one by one
			says := r.Name + " is " + r.Standing.String() + "; /trust asks"
			if r.Fault != nil {
				says = r.Name + " can't be trusted: " + r.Fault.Error()
			}
			all = append(all, Finding{What: string(r.Kind), Says: says})
		}
	}
	for _, f := range faults {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, f.Place+": ") }) {
			all = append(all, Finding{What: "hook", Bad: true, Says: f.String()})
		}
	}
	for _, f := range ignored {
		all = append(all, Finding{What: "ignored", Says: f.String()})
	}
	return all
}
