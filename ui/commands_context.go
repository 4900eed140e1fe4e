package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
)

func runContext(a *App, in input) (tea.Cmd, error) {
	if in.rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	of := in.here.info
	if of.ID == 0 {
		return nil, errOpening
	}
	return a.act(in.here, in.text, func() (string, error) {
		c, err := a.pool.Context(a.ctx, of.ID)
		return contextText(of.Name, c), err
	}), nil
}

// contextText is what /context prints.
func contextText(name string, c agents.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Context of %s, %s\n", name, c.Model)
	switch {
	case c.Used == 0:
		b.WriteString("No request has been counted yet.")
	case c.Window == 0:
		fmt.Fprintf(&b, "%s tokens after the last request; how many the model can read is unknown.", grouped(c.Used))
	default:
		fmt.Fprintf(&b, "%s of %s tokens after the last request, %d%%; compacted by itself from 85%% on.", grouped(c.Used), grouped(c.Window), c.Used*100/c.Window)
	}
	b.WriteString("\n\nEstimated, in tokens:\n")
	all := 0
	for _, p := range c.Parts {
		fmt.Fprintf(&b, "  %-22s about %8s", p.What, grouped(p.Tokens))
		if p.What != "system prompt" {
			fmt.Fprintf(&b, "  (%s)", grouped(p.Items))
		}
		b.WriteString("\n")
		all += p.Tokens
	}
	fmt.Fprintf(&b, "  %-22s about %8s\n\n", "together", grouped(all))
	switch c.Mail {
	case 0:
		b.WriteString("No message has entered it.")
	case 1:
		fmt.Fprintf(&b, "1 message entered it, about %s tokens.", grouped(c.MailTokens))
	default:
		fmt.Fprintf(&b, "%d messages entered it, about %s tokens.", c.Mail, grouped(c.MailTokens))
	}
	return b.String()
}

// grouped is a number with commas.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
