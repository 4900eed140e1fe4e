package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/intent"
	"fantail/ui/manual"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Opening is what the opening of the workspace found: remembered choices, and the files that affect
// the agents. Empty fields mean nothing was found.
type Opening struct {
	Start        string // the model and why it was chosen
	Trouble      string // why it is not the model chosen here
	Theme        string // the theme chosen here
	Rail         string // [agents.Hidden] if the rail was hidden here
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
	Config   string // the path of the configuration file; "": unknown
}

// Way is a way to a model that exists here: what it is in a few words, and what to type for it.
type Way struct{ Says, Type string }

// Welcome is the start screen.
type Welcome struct {
	WelcomeOptions

	start   string // the model and why it was chosen; "": not known yet
	opening Opening
	told    bool // main's transcript has it
	said    []string
	ways    []Way
}

// NewWelcome makes the start screen. start is the model and why it was chosen, as far as known.
func NewWelcome(e WelcomeOptions, start string) *Welcome {
	return &Welcome{WelcomeOptions: e, start: start}
}

// Model replaces the line about the model.
func (s *Welcome) Model(start string) { s.start = start }

// Ways sets the ways to a model that were found here.
func (s *Welcome) Ways(ways []Way) { s.ways = ways }

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
		in = append(in, o.Instructions)
	}
	if o.Policy != "" {
		in = append(in, "the mail policy of "+o.Policy)
	}
	return strings.Join(in, ", ")
}

// Tell says in main's transcript, once for each opening, what the start screen would say if the
// transcript were empty. It says nothing twice: the transcript may come before the opening.
func (s *Welcome) Tell() {
	t := s.Tabs.Main()
	if s.told || t == nil || !t.Loaded || t.Newest == 0 {
		return
	}
	s.told = true
	say := func(text string, tone transcript.Tone) {
		if text != "" && !slices.Contains(s.said, text) {
			s.said = append(s.said, text)
			t.View.Local(text, tone)
		}
	}
	if s.ReadOnly != nil {
		say(readOnly(s.ReadOnly), transcript.Bad)
	}
	say(s.News, transcript.Plain)
	say(s.opening.Trouble, transcript.Bad)
	say(s.opening.Sandbox, transcript.Plain)
	say(s.opening.Brings, transcript.Plain)
	if text := s.opening.inForce(); text != "" {
		say("Using "+text, transcript.Plain)
	}
}

// readOnly says that nothing can be written, why, and what that means.
func readOnly(why error) string {
	return fmt.Sprintf("Read-only: %s. You can look around; nothing runs and nothing is saved.", cells.Clean(why.Error()))
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

// labelled returns a text after a label, wrapped.
func (s *Welcome) labelled(label, text string, w int) (ls []string) {
	for _, l := range cells.Wrap(cells.CleanLine(text), max(10, min(w-6-len(label), 90))) {
		ls = append(ls, s.Tabs.Theme.Paint(themes.Dim, label)+s.Tabs.Theme.Paint(themes.Text, l))
		label = strings.Repeat(" ", len(label))
	}
	return ls
}

// tries are lines that work without a model, in any workspace.
var tries = [...][2]string{
	{"grep TODO", "search the files"},
	{"/push name=todos grep TODO", "queue it for a new agent; /run, then /check"},
	{"remind me in 1m: stretch", "get a message in a minute"},
}

// nextTry returns the line that Tab puts into a box with that text; false: none.
func nextTry(text string) (string, bool) {
	if text == "" {
		return tries[0][0], true
	}
	at := slices.IndexFunc(tries[:], func(t [2]string) bool { return t[0] == text })
	return tries[(at+1)%len(tries)][0], at >= 0
}

// variables names the variables that most often hold a key.
const variables = "ANTHROPIC_API_KEY or OPENAI_API_KEY"

// unconnected returns the rows shown without a model: the ways to one, the first highlighted, and lines that work without
// one. A low screen gets the most important rows.
func (s *Welcome) unconnected(w, h int) (ls []string) {
	p, few := s.Tabs.Theme.Paint, h < 12
	wide := max(10, min(w-4, 90))
	add := func(role themes.Role, text string) {
		for _, l := range cells.Wrap(text, wide-1) {
			ls = append(ls, " "+p(role, l))
		}
	}
	gap := func() {
		if !few {
			ls = append(ls, "")
		}
	}
	const first, key = " connect a model", "enter "
	ls = append(ls, p(themes.Warn, "No model connected"), p(themes.Selection, cells.Fit(first, max(wide-len(key), len(first)+1))+key))
	if s.Config == "" || few {
		add(themes.Dim, variables)
	} else {
		add(themes.Dim, variables+", or a model in "+cells.CleanLine(s.Config))
	}
	for _, way := range s.ways {
		if !few {
			add(themes.Text, cells.CleanLine(way.Says))
		}
		add(themes.Tool, cells.CleanLine(way.Type))
	}
	ls = append(ls, s.notes(w)...)
	gap()
	ls = append(ls, p(themes.Dim, "Try it without a model · tab"))
	for _, t := range tries {
		if w < 60 {
			add(themes.Tool, t[0])
			continue
		}
		ls = append(ls, " "+p(themes.Tool, cells.Fit(t[0], 30))+p(themes.Dim, t[1]))
	}
	gap()
	if why, _, _ := strings.Cut(s.start, "; "); why != "" { // what follows is said above
		ls = append(ls, s.labelled("model  ", why, w)...)
	}
	return append(ls, s.about(w)...)
}

// connect opens the text that says how to connect a model: in short, then as the manual does.
func (s *Welcome) connect(w int) intent.Intent {
	var b strings.Builder
	b.WriteString("# Connect a model\n\nSet a key in your shell, and start `fantail` there again. Agents at work go on, and use it too.\n\n" +
		"```sh\nexport ANTHROPIC_API_KEY=…   # or\nexport OPENAI_API_KEY=…\n```\n\n")
	if s.Config != "" {
		fmt.Fprintf(&b, "Or name a model in `%s`, and say `/restart`:\n\n```toml\nmodel = \"ollama/qwen3\"\n```\n\n", cells.CleanLine(s.Config))
	}
	b.WriteString("Or start a local server, such as Ollama, and start `fantail` again. `/model` lists the models.\n")
	for _, way := range s.ways {
		fmt.Fprintf(&b, "\n- %s: `%s`", cells.CleanLine(way.Says), cells.CleanLine(way.Type))
	}
	page := manual.Page{Name: "models", Title: "Connect a model", Text: b.String()}
	if p, ok := manual.Find(page.Name); ok {
		page.Text += "\n\n#" + p.Text // its headings are one level below
	}
	return page.Show(s.Tabs.Theme, w)
}

// notes returns the rows about anything unusual here.
func (s *Welcome) notes(w int) (rows []string) {
	add := func(text string, role themes.Role) {
		if text == "" {
			return
		}
		for _, l := range cells.Wrap(cells.CleanLine(text), max(10, w-14)) {
			rows = append(rows, "       "+s.Tabs.Theme.Paint(role, l))
		}
	}
	if s.ReadOnly != nil {
		add(readOnly(s.ReadOnly), themes.Bad)
	}
	add(s.News, themes.Text)
	add(s.opening.Trouble, themes.Bad)
	add(s.opening.Sandbox, themes.Strong)
	add(s.opening.Brings, themes.Strong)
	return rows
}

// about returns the rows about the workspace.
func (s *Welcome) about(w int) []string {
	rows := []string{s.Tabs.Theme.Paint(themes.Dim, "in     ") + cells.Cut(cells.CleanLine(s.Root), max(10, w-12))}
	if text := s.opening.inForce(); text != "" {
		rows = append(rows, s.labelled("       ", text, w)...)
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
	rows, most := s.connected(w), h+3 // some of the commands may be out of sight
	if s.unmodelled() {
		rows, most = s.unconnected(w, h), h
	}
	if len(rows)+len(mark)+2 <= most {
		add("")
		for i, m := range mark {
			role := themes.Dim
			if i == 0 {
				role = themes.Strong
			}
			add(p(themes.Message, m) + " " + p(role, name[i]))
		}
		add("")
	}
	for _, l := range rows {
		add(l)
	}
	return ls
}

// connected are the rows with a model: which and why, the workspace, and commands to begin with.
func (s *Welcome) connected(w int) []string {
	p := s.Tabs.Theme.Paint
	ls := slices.Concat(s.labelled("model  ", cmp.Or(s.start, "starting"), w), s.notes(w), s.about(w), []string{""})
	for _, x := range [][2]string{
		{"/push name=tests run go test ./...", "queue a task for a new agent"},
		{"/push interactive name=aide …", "an agent you can keep talking to: /tell aide …"},
		{"/run 2", "start the queue, two at a time"},
		{"/check", "collect finished results"},
		{"/help", "every command and key"},
	} {
		if w < 60 {
			ls = append(ls, p(themes.Tool, x[0]))
			continue
		}
		ls = append(ls, p(themes.Tool, fmt.Sprintf("%-36s", x[0]))+p(themes.Dim, x[1]))
	}
	return ls
}

// helper returns the start screen of a helper: what typing here does.
func (s *Welcome) helper(i event.Info, w int) []string {
	p := s.Tabs.Theme.Paint
	name := cells.CleanLine(i.Name)
	ls := []string{"", p(themes.Strong, name) + p(themes.Dim, " · helper · "+cells.CleanLine(i.Model)), ""}
	for _, l := range cells.Wrap("What you type here is for "+name+" alone: it has a conversation, a task queue and an inbox of its own. "+
		"Commands act for it, and other agents reach it with send.", min(max(10, w-4), 76)) {
		ls = append(ls, p(themes.Dim, l))
	}
	ls = append(ls, "", p(themes.Tool, "/send "+name+" TEXT")+p(themes.Dim, "  in another tab writes to it"), p(themes.Tool, "/agent close")+p(themes.Dim, "  to close it"))
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
