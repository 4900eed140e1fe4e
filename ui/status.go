package ui

import (
	"fmt"
	"strings"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/frame"
)

// piece is a part of the status line's right side. The lower keep is, the
// earlier it is dropped when the line is narrow.
type piece struct {
	text string
	role themes.Role
	keep int
}

// statusLine is `[Agent: NAME | N pending] [Branch: B]` on its left, and on its
// right what runs, the model, the context's share, the cost, the mode and quiet. On a
// narrow screen the branch goes before what asks and runs, a fork, what came from
// outside and quiet; the rest of the left is cut only after all of the right is gone.
func (a *App) statusLine(w int) string {
	left := a.statusLeft(w)
	branch := a.statusBranch()
	if a.flash.text != "" {
		text := "  " + a.theme.Paint(themes.Warn, frame.CleanLine(a.flash.text))
		if frame.Width(left+branch+text) > w {
			branch = ""
		}
		return frame.Fit(left+branch+text, w)
	}
	pieces := a.statusRight()
	for {
		right, plain := "", ""
		for i, p := range pieces {
			sep := ""
			if i > 0 {
				sep = " · "
				if p.keep >= 8 || pieces[i-1].keep >= 8 {
					sep = "   "
				}
			}
			right += a.theme.Paint(themes.Dim, sep) + a.theme.Paint(p.role, p.text)
			plain += sep + p.text
		}
		free := w - frame.Width(left+branch) - frame.Width(plain) - 1
		if len(pieces) == 0 {
			if frame.Width(left) < w {
				left += a.statusBranch() // as much of it as there is room for
			}
			return frame.Fit(left, w)
		}
		if free >= 1 {
			return left + branch + strings.Repeat(" ", free) + right + " "
		}
		drop := 0
		for i, p := range pieces {
			if p.keep < pieces[drop].keep {
				drop = i
			}
		}
		if pieces[drop].keep >= 7 && branch != "" {
			branch = ""
			continue
		}
		pieces = append(pieces[:drop:drop], pieces[drop+1:]...)
	}
}

func (a *App) statusBranch() string {
	if a.branch == "" {
		return ""
	}
	return a.theme.Paint(themes.Status, " [Branch: "+frame.CleanLine(a.branch)+"]")
}

func (a *App) statusRight() []piece {
	var ps []piece
	if a.tally.Asking > 0 {
		ps = append(ps, piece{fmt.Sprintf("⚠ %d asking", a.tally.Asking), themes.Warn, 9})
	}
	var work []string
	if a.tally.Running > 0 {
		work = append(work, fmt.Sprintf("▶ %d running", a.tally.Running))
	}
	if a.tally.Queued > 0 {
		work = append(work, fmt.Sprintf("%d queued", a.tally.Queued))
	}
	if len(work) > 0 {
		ps = append(ps, piece{strings.Join(work, " · "), themes.Accent, 8})
	}
	if t := a.tabs.focus; t != nil {
		i := t.info
		model := i.Model
		if _, short, ok := strings.Cut(model, "/"); ok && short != "" {
			model = short
		}
		ps = append(ps, piece{frame.Cut(frame.CleanLine(model), 28), themes.Dim, 5})
		if i.Window > 0 && i.Context > 0 {
			ps = append(ps, piece{fmt.Sprintf("%d%%", min(100, i.Context*100/i.Window)), themes.Dim, 4})
		} else if i.Context > 0 {
			ps = append(ps, piece{amount(i.Context) + " tokens", themes.Dim, 2})
		}
		if i.Priced && i.Cost > 0 {
			ps = append(ps, piece{fmt.Sprintf("$%.2f", float64(i.Cost)/1e6), themes.Dim, 3})
		}
	}
	if t := a.tabs.focus; t != nil && t.info.Kind == agents.Fork {
		ps = append(ps, piece{"fork", themes.Message, 7})
	}
	m := a.tally.Mode
	if t := a.tabs.focus; t != nil && t.info.Outside {
		m = m.Tightest()
		ps = append(ps, piece{"from outside", themes.Warn, 7})
	}
	if m != "" {
		role := themes.Dim
		if m != "ask" {
			role = themes.Warn
		}
		ps = append(ps, piece{string(m), role, 6})
	}
	if mark := a.quietMark(); mark != "" {
		ps = append(ps, piece{mark, themes.Message, 7})
	}
	return ps
}

// amount is a number of tokens in short: 950, 12k.
func amount(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
