package ui

import (
	"cmp"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Opening is what the opening of the workspace found: remembered choices, and the files that affect
// the agents. Empty fields mean nothing was found.
type Opening struct {
	Start        string // the model and why it was chosen
	Trouble      string // why it is not the model chosen here
	Theme        string // the theme chosen here
	Instructions string // the instruction file for main
	Policy       string // the file that says how main's mail is handled
	Sandbox      string // what the sandbox of commands lacks
	Brings       string // what of the repository does not run because the human has not agreed to it
}

// WelcomeOptions is what else the start screen shows, and the tabs it is about.
type WelcomeOptions struct {
	Tabs     *tabs.Tabs
	Version  string
	Root     string // directory of the workspace
	ReadOnly error  // why nothing can be written here; nil: it can
	News     string // what is new with this screen; "": nothing
}

// Welcome is the start screen.
type Welcome struct {
	WelcomeOptions

	start   string // the model and why it was chosen; "": not known yet
	opening Opening
	told    bool // main's transcript has it
}

// NewWelcome makes the start screen. start is the model and why it was chosen, as far as known.
func NewWelcome(e WelcomeOptions, start string) *Welcome {
	return &Welcome{WelcomeOptions: e, start: start}
}

// Model replaces the line about the model.
func (s *Welcome) Model(start string) { s.start = start }

// Lacks sets what the sandbox of commands lacks.
func (s *Welcome) Lacks(text string) {
	s.opening.Sandbox = text
	if t := s.Tabs.Main(); s.told && t != nil {
		t.View.Local(text, transcript.Plain)
	}
}

// Open sets what the opening of the workspace found.
func (s *Welcome) Open(o Opening) {
	s.opening, s.told = o, false
	s.start = cmp.Or(o.Start, s.start)
}

// inForce names the files that affect main.
func (o Opening) inForce() string {
	var in []string
	if o.Instructions != "" {
		in = append(in, "instructions from "+o.Instructions)
	}
	if o.Policy != "" {
		in = append(in, "mail policy from "+o.Policy)
	}
	return strings.Join(in, ", ")
}

// Tell says in main's transcript, once for each opening, what the start screen would say if the
// transcript were empty.
func (s *Welcome) Tell() {
	t := s.Tabs.Main()
	if s.told || t == nil || !t.Loaded || t.Newest == 0 {
		return
	}
	s.told = true
	if s.ReadOnly != nil {
		t.View.Local(readOnly(s.ReadOnly), transcript.Bad)
	}
	if s.News != "" {
		t.View.Local(s.News, transcript.Plain)
	}
	if text := s.opening.Trouble; text != "" {
		t.View.Local(text, transcript.Bad)
	}
	if text := s.opening.Sandbox; text != "" {
		t.View.Local(text, transcript.Plain)
	}
	if text := s.opening.Brings; text != "" {
		t.View.Local(text, transcript.Plain)
	}
	if text := s.opening.inForce(); text != "" {
		t.View.Local("In force: "+text, transcript.Plain)
	}
}

// readOnly says that nothing can be written, why, and what that means.
func readOnly(why error) string {
	return fmt.Sprintf("Read-only: %s. What is there shows; nothing starts, is taken or is kept.", cells.Clean(why.Error()))
}

// Lines returns the start screen of an empty tab. t is nil if there is no tab.
func (s *Welcome) Lines(t *tabs.Tab, w, h int) []string {
	var lines []string
	if t != nil && t.Info.Kind.Nature().Opened {
		lines = s.helper(t.Info, w)
	} else {
		lines = s.main(w, h)
	}
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return lines[:h]
}

// unmodelled reports whether main has no language model, as far as is known yet.
func (s *Welcome) unmodelled() bool {
	if t := s.Tabs.Main(); t != nil && t.Info.Model != "" {
		return t.Info.Model == tabs.PlainEngine
	}
	word, _, _ := strings.Cut(s.start, " ")
	return word == tabs.PlainEngine
}

// modelLines returns the model and why it was chosen. Without a model it says what works and how to
// get one.
func (s *Welcome) modelLines(w int) []string {
	start := s.start
	if start == "" {
		start = "starting"
	}
	plain := s.unmodelled()
	if plain {
		start, _, _ = strings.Cut(start, "; ") // how to get one follows below
	}
	label, indent := s.Tabs.Theme.Paint(themes.Dim, "model  "), "       "
	var ls []string
	add := func(role themes.Role, text string) {
		for _, l := range cells.Wrap(text, max(10, min(w-6-len(indent), 90))) {
			ls = append(ls, label+s.Tabs.Theme.Paint(role, l))
			label = indent
		}
	}
	add(themes.Text, cells.CleanLine(start))
	if plain {
		if w < 60 {
			label, indent = "", ""
		}
		add(themes.Warn, "No language model: only plain instructions work, such as `run go test ./...`.")
		add(themes.Warn, "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama, or name a model in fantail/config.toml; then start Fantail again.")
	}
	return ls
}

// rows returns the rows about the model and the workspace.
func (s *Welcome) rows(w int) []string {
	p := s.Tabs.Theme.Paint
	rows := s.modelLines(w)
	add := func(text string, role themes.Role) {
		for _, l := range cells.Wrap(cells.CleanLine(text), max(10, w-14)) {
			rows = append(rows, "       "+p(role, l))
		}
	}
	if s.ReadOnly != nil {
		add(readOnly(s.ReadOnly), themes.Bad)
	}
	if s.News != "" {
		add(s.News, themes.Text)
	}
	if text := s.opening.Trouble; text != "" {
		add(text, themes.Bad)
	}
	if text := s.opening.Sandbox; text != "" {
		add(text, themes.Warn)
	}
	if text := s.opening.Brings; text != "" {
		add(text, themes.Warn)
	}
	rows = append(rows, p(themes.Dim, "here   ")+cells.Cut(cells.CleanLine(s.Root), max(10, w-12)))
	if text := s.opening.inForce(); text != "" {
		add(text, themes.Text)
	}
	return rows
}

// main returns the start screen of main: what the program is, which model and why, what to try.
func (s *Welcome) main(w, h int) []string {
	p := s.Tabs.Theme.Paint
	var ls []string
	add := func(text string) { ls = append(ls, cells.Fit("  "+text, w)) }
	mark := []string{`  \ | /  `, ` --\|/-- `, `    V    `}
	name := []string{"Fantail" + version(s.Version), "Fan out the work, tail any agent, collect the mail.", ""}
	rows := s.rows(w)
	if h > len(rows)+7 { // else the rows that matter would be out of sight
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
		{"/push interactive name=aide …", "one that stays; /tell aide TEXT goes on"},
		{"/run 2", "start what is queued, two at a time"},
		{"/check", "collect what they mailed you"},
		{"/help", "every command and key"},
	} {
		add(p(themes.Tool, x[0]))
		if w >= 60 {
			ls[len(ls)-1] = cells.Fit("  "+p(themes.Tool, fmt.Sprintf("%-36s", x[0]))+p(themes.Dim, x[1]), w)
		}
	}
	return ls
}

// helper returns the start screen of a helper: what typing here does.
func (s *Welcome) helper(i event.Info, w int) []string {
	p := s.Tabs.Theme.Paint
	name := cells.CleanLine(i.Name)
	ls := []string{"", p(themes.Accent, name) + p(themes.Dim, " · helper · "+cells.CleanLine(i.Model)), ""}
	for _, l := range cells.Wrap("What you type here is for "+name+" alone: it has a conversation, a task queue and an inbox of its own. "+
		"Commands act for it, and other agents reach it with send.", min(max(10, w-4), 76)) {
		ls = append(ls, p(themes.Dim, l))
	}
	ls = append(ls, "", p(themes.Tool, "/send "+name+" TEXT")+p(themes.Dim, "  in another tab writes to it"), p(themes.Tool, "/agent close")+p(themes.Dim, "  closes it"))
	for i, l := range ls {
		ls[i] = cells.Fit("  "+l, w)
	}
	return ls
}

func version(v string) string {
	if v == "" {
		return ""
	}
	return " " + v
}
