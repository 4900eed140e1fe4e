// Package slash is the table of slash commands and what each does.
package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store/config"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Models says which models are available. The zero value knows none.
type Models struct {
	Names func() []string // those known now
	// Facts says in a few words how large a model is, what it costs, which levels of effort it has, and its name.
	Facts func(name string) string
	// Ask adds to Names what the providers list. It may wait for them, for some seconds.
	Ask func(ctx context.Context)
	// Unlisted says why a model's provider may not have it, "" if nothing speaks against it; it may wait too.
	Unlisted func(ctx context.Context, name string) string
}

// names returns those known now.
func (m Models) names() []string {
	if m.Names == nil {
		return nil
	}
	return m.Names()
}

// Options is what commands may use.
type Options struct {
	Pool      *agents.Pool // nil: not yet; only commands that need no workspace run
	Tabs      *tabs.Tabs
	Tally     event.Tally
	Files     *composer.FileIndex // nil: not read yet
	Documents []history.Document  // as last listed
	Custom    CustomCommands      // from files and MCP servers
	Now       func() time.Time
	Theme     *themes.Theme
	NoColor   bool
	Models    Models
	Doubt     format.Doubt
	ReadOnly  error // why nothing can be written; nil: it can
	// Remember stores a choice for the next start in this workspace. nil: nothing is stored.
	Remember func(ctx context.Context, c agents.Choice, name string) error
	// Reload rereads the configuration and says what changed. nil: it can't.
	Reload func(ctx context.Context) (string, error)
	// Sandbox says what confines the commands of agents in that mode, and how. It may block until
	// that is known. nil: unknown.
	Sandbox func(mode permission.Mode) string
	// Restart ends the host once all work has ended, and starts the next one. nil: there is no
	// host.
	Restart func(ctx context.Context) error
}

// command is one slash command: a row of the table used by the parser, the completion, the help and
// the manual.
type command struct {
	name    string
	aliases []string
	args    string
	help    string
	run     func(in input) (intent.Intent, error)
	// complete returns candidates for the word being typed after the arguments before it. nil:
	// there are none.
	complete completer
	verbs    func() []string // candidates for the first word, instead of complete
	alone    bool            // it needs no workspace
}

// input is a command with its arguments.
type input struct {
	command
	Options

	t    *tabs.Tab // the tab of the agent it acts for
	id   int64     // the agent's id; code off the interface's goroutine must not use t
	here *tabs.Tab // the tab where it was typed, which shows its answer
	text string    // the whole line
	rest string    // the text after the name
}

// Run returns the intent of the command in text. here is the tab it was typed in.
func Run(e Options, here *tabs.Tab, text string) (intent.Intent, error) {
	name, rest := format.FirstWord(strings.TrimPrefix(text, "/"))
	c, ok := find(name)
	if !ok && e.Custom.Has(name) {
		c, ok = command{name: name, run: runCustom}, true
	}
	if !ok {
		f, known := foreignOf(name)
		switch {
		case !known:
			return nil, unknown(name)
		case f.line == "":
			return intent.Tell{Agent: here.Info.ID, Command: text, Text: "Fantail has no /" + name + ": " + f.says, Tone: transcript.Plain}, nil
		}
		text = strings.TrimSpace("/" + f.line + " " + rest)
		name, rest = format.FirstWord(text[1:])
		c, _ = find(name)
	}
	agent := e.Tabs.Acting()
	in := input{command: c, Options: e, t: agent, id: agent.Info.ID, here: here, text: text, rest: rest}
	if (e.Pool == nil || in.id == 0) && !c.alone {
		return nil, panel.ErrOpening
	}
	return c.run(in)
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
		for _, x := range c.aliases {
			if x == name {
				return c, true
			}
		}
	}
	return command{}, false
}

// unknown returns the error for a word that is not a command.
func unknown(name string) error {
	if strings.Contains(name, "/") {
		return fmt.Errorf("unknown command /%s. To send it as a prompt, put a space in front", name)
	}
	if near := near(name); near != nil {
		return fmt.Errorf("unknown command /%s. Did you mean /%s?", name, strings.Join(near, ", /"))
	}
	return fmt.Errorf("unknown command /%s. /help to list them", name)
}

// maxNear limits how many commands near returns.
const maxNear = 3

// near returns the commands that the user may have meant: the most similar one, and those that begin with name.
func near(name string) (near []string) {
	c, _ := find(config.Nearest(name, Words()))
	if c.name != "" {
		near = append(near, c.name)
	}
	for _, c := range commands() {
		if len(near) < maxNear && name != "" && strings.HasPrefix(c.name, name) && !slices.Contains(near, c.name) {
			near = append(near, c.name)
		}
	}
	return near
}

func (c command) usage() string {
	if c.args == "" {
		return "/" + c.name
	}
	return "/" + c.name + " " + c.args
}

// wrong is the error of a command with arguments it does not accept.
func (c command) wrong(form string, args ...any) error {
	return fmt.Errorf("/%s: %s. Usage: %s", c.name, fmt.Sprintf(form, args...), c.usage())
}

// works reports whether the command's agent is working.
func (in input) works() bool { return format.Working(in.t.Info.State) }

// elsewhere names the agent in whose tab the messages show, "" if that is the tab the command was
// typed in.
func (in input) elsewhere() string {
	if in.here == in.t {
		return ""
	}
	return in.t.Info.Name
}

// act runs f after the actions before it, and shows its text below the command.
func (in input) act(f func(ctx context.Context) (string, error)) intent.Intent {
	return intent.Do{Agent: in.here.Info.ID, Command: in.text, F: said(f)}
}

// start is act for functions that may take long.
func (in input) start(f func(ctx context.Context) (string, error)) intent.Intent {
	return intent.Do{Agent: in.here.Info.ID, Command: in.text, Long: true, F: said(f)}
}

// then is act for functions that return another intent.
func (in input) then(f func(ctx context.Context) (intent.Intent, error)) intent.Intent {
	return intent.Do{Agent: in.here.Info.ID, Command: in.text, F: f}
}

// heads shows the command at once, above the messages that it brings into the agent's tab. A
// command typed in another tab shows only there, with its answer.
func (in input) heads(do intent.Intent) intent.Intent {
	d, ok := do.(intent.Do)
	if !ok || in.here != in.t || in.ReadOnly != nil { // it brings no messages here
		return do
	}
	d.Command = ""
	return intent.All{in.tell(""), d}
}

// said makes a function that returns a text into one that returns an intent.
func said(f func(ctx context.Context) (string, error)) func(ctx context.Context) (intent.Intent, error) {
	return func(ctx context.Context) (intent.Intent, error) {
		text, err := f(ctx)
		return intent.Said{Text: text}, err
	}
}

// tell shows a text below the command at once.
func (in input) tell(text string) intent.Intent {
	return intent.Tell{Agent: in.here.Info.ID, Command: in.text, Text: text, Tone: transcript.Plain}
}

// sayWhile shows a text in the status line while the agent works.
func (in input) sayWhile(text string) intent.Intent {
	return intent.Say{Text: text, While: in.works}
}

// remember stores a choice made on the screen.
func (in input) remember(ctx context.Context, c agents.Choice, name string) error {
	if in.Remember == nil || in.ReadOnly != nil {
		return nil
	}
	return in.Remember(ctx, c, name)
}

// picked opens a picker. then returns the intent for the picked value.
func picked(box dialog.Box, then func(value string) intent.Intent) intent.Open {
	return intent.Open{Box: box, Decide: func(d dialog.Decision) intent.Intent {
		if p, ok := d.(dialog.Picked); ok {
			return then(p.Value)
		}
		return nil
	}}
}
