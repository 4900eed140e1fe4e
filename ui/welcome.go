package ui

import (
	"fmt"
	"strings"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/frame"
	"fantail/ui/tabs"
)

// unmodelled reports whether main has no language model, as far as is known yet.
func (a *App) unmodelled() bool {
	if t := a.tabs.Main(); t != nil && t.Info.Model != "" {
		return t.Info.Model == tabs.PlainEngine
	}
	word, _, _ := strings.Cut(a.o.Start, " ")
	return word == tabs.PlainEngine
}

// modelLines are the model and why; without one, what works and how to get one.
func (a *App) modelLines(w int) []string {
	start := a.o.Start
	if start == "" {
		start = "starting"
	}
	plain := a.unmodelled()
	if plain {
		start, _, _ = strings.Cut(start, "; ") // how to get one is said below
	}
	label, indent := a.theme.Paint(themes.Dim, "model  "), "       "
	var ls []string
	add := func(role themes.Role, text string) {
		for _, l := range frame.Wrap(text, max(10, min(w-6-len(indent), 90))) {
			ls = append(ls, label+a.theme.Paint(role, l))
			label = indent
		}
	}
	add(themes.Text, frame.CleanLine(start))
	if plain {
		if w < 60 {
			label, indent = "", ""
		}
		add(themes.Warn, "No language model: only plain instructions work, such as `run go test ./...`.")
		add(themes.Warn, "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama, or name a model in fantail/config.toml; then start Fantail again.")
	}
	return ls
}

// welcome is the start screen: what it is, which model and why, what to try.
func (a *App) welcome(w, h int) []string {
	p := a.theme.Paint
	var ls []string
	add := func(s string) { ls = append(ls, frame.Fit("  "+s, w)) }
	mark := []string{`  \ | /  `, ` --\|/-- `, `    V    `}
	name := []string{"Fantail" + version(a.o.Version), "Fan out the work, tail any agent, collect the mail.", ""}
	rows := a.welcomeRows(w)
	if h > len(rows)+7 { // else what matters would not be in sight
		add("")
		for i, m := range mark {
			role := themes.Dim
			if i == 0 {
				role = themes.Accent
			}
			add(p(themes.Accent, m) + " " + p(role, name[i]))
		}
		add("")
	}
	for _, l := range rows {
		add(l)
	}
	add("")
	for _, x := range [][2]string{
		{"/push name=tests run go test ./...", "queue work for an agent of its own"},
		{"/run 2", "start what is queued, two at a time"},
		{"/check", "collect what they mailed you"},
		{"/help", "every command and key"},
	} {
		add(p(themes.Tool, x[0]))
		if w >= 60 {
			ls[len(ls)-1] = frame.Fit("  "+p(themes.Tool, fmt.Sprintf("%-36s", x[0]))+p(themes.Dim, x[1]), w)
		}
	}
	for len(ls) < h {
		ls = append(ls, strings.Repeat(" ", w))
	}
	return ls[:h]
}

// welcomeHelper is what a helper's tab shows while nothing has been said there.
func (a *App) welcomeHelper(i agents.Info, w, h int) []string {
	p := a.theme.Paint
	name := frame.CleanLine(i.Name)
	ls := []string{"", p(themes.Accent, name) + p(themes.Dim, " · helper · "+frame.CleanLine(i.Model)), ""}
	for _, l := range frame.Wrap("What you type here is for "+name+" alone: it has a conversation, a task queue and an inbox of its own. "+
		"Commands act for it, and other agents reach it with send.", min(max(10, w-4), 76)) {
		ls = append(ls, p(themes.Dim, l))
	}
	ls = append(ls, "", p(themes.Tool, "/send "+name+" TEXT")+p(themes.Dim, "  in another tab writes to it"), p(themes.Tool, "/agent close")+p(themes.Dim, "  closes it"))
	for i, l := range ls {
		ls[i] = frame.Fit("  "+l, w)
	}
	for len(ls) < h {
		ls = append(ls, strings.Repeat(" ", w))
	}
	return ls[:h]
}

func version(v string) string {
	if v == "" {
		return ""
	}
	return " " + v
}
