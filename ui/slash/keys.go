package slash

import (
	"fmt"
	"strings"

	"fantail/ui/dialog"
)

// Here is where a key is asked for and what there is, as a set of these.
type Here int

const (
	Types    Here = 1 << iota // text can be typed
	InBox                     // into a prompt box
	InTab                     // the tab of an agent without a prompt box; nothing is typed
	Lives                     // its agent has not ended
	Tells                     // its agent can be told something
	Many                      // there are several tabs
	Works                     // the agent works
	Waits                     // it waits for work that it dispatched
	Asks                      // a question is open
	AskAbove                  // a question stands above the box
	Urgent                    // the card of an urgent message shows
	Wide                      // the agents show beside the conversation
	Mail                      // mail is ready to be taken
	Noted                     // there are memory documents
	rare                      // only the manual lists the key
)

// key is a key of the screen: a row of the table for the sheet of keys and the manual.
type key struct {
	keys  string // the first one is the one that works in most terminals
	does  string
	help  string // for the manual; "": as does
	needs Here   // where it works
}

// keys are those outside of boards and questions.
var keys = []key{
	{"Enter", "send", "send. While the agent works, the prompt enters at its next step", Types},
	{"Alt+Enter, Ctrl+J, Shift+Enter", "new line", "new line; so is Enter after a `\\`", Types},
	{"/", "run a command", "complete a command", InBox},
	{"@", "name a file", "complete the path of a file", Types},
	{"#", "name a document", "complete the name of a memory document", Types | Noted},
	{"!", "run a shell command", "run a shell command of your own: `!git status`", InBox},
	{"&", "start a new agent", "`&text`, then Enter: start a new agent with that text, and nothing else that is queued. Type the `&` yourself, first: `&&` and `\\&` begin a plain prompt, and so does a pasted or recalled `&`", InBox},
	{"Ctrl+R", "search history", "search what you typed before", Types},
	{"Ctrl+G", "open your editor", "write in your editor", Types},
	{"Tab", "answer the question", "in an empty box: go to the question above it", InBox | AskAbove},

	{"m", "message the agent", "tell that agent what to do, or resume it if it has ended", InTab | Tells},
	{"/", "run a command as main", "type a command as main", InTab},
	{"1…4, Left/Right", "switch view", "its views: Prompt, Transcript, Output (the answer alone), Info", InTab},
	{"y", "copy what it shows", "copy", InTab},
	{"w", "twice: wrap up", "twice: ask it to finish with what it has", InTab | Lives},

	{"F2", "the Fan: all agents", "the Fan: the last lines of all agents at once", 0},
	{"F3", "inbox", "the inbox, on the whole screen", 0},
	{"F4", "queue", "the queue, on the whole screen", 0},
	{"F6", "schedules", "the schedules, on the whole screen", 0},
	{"Alt+1…9, Ctrl+PgUp/PgDn", "go to a tab", "go to a tab; to the next one", Many},
	{"Alt+Tab, Ctrl+Tab", "go to the last tab", "go to the agent you used last; press again quickly to go further back", Many},
	{"Ctrl+Space", "find an agent", "go to an agent by name", Many},
	{"Alt+R", "hide or show agents", "hide the agents beside the conversation, or show them again; they show from 140 columns. The choice is remembered", Wide},
	{"Alt+A", "answer a question", "go to the question above the box, or to the oldest one of any agent; if more than one question is open, all of them on one sheet", Asks},
	{"F5", "answer the oldest question", "go to the question above the box, or to the oldest one of any agent", rare},
	{"Alt+C", "collect the mail", "collect all mail that is ready, as `/check` does; without Alt, `c` in F2 or F3", Mail},
	{"Alt+U", "handle urgent mail", "while the card of an urgent message shows: handle it in its tab", Urgent},
	{"Alt+X", "put it off", "while that card shows: put it off", Urgent},
	{"Esc", "stop the agent", "stop the agent of this tab, and nothing else. What is queued for it comes back into the box", Works},
	{"Ctrl+B", "stop waiting", "let the agent go on: the work it waits for runs in the background (in tmux press it twice)", Waits},
	{"Shift+Tab", "permission mode", "next [permission mode](permissions.md#modes). What it allows is allowed after a second without another press", 0},
	{"PgUp/PgDn, wheel, Home/End", "scroll", "scroll. New output never moves a view that you scrolled up", 0},
	{"Ctrl+O", "unfold or fold", "unfold all in sight, or fold it", 0},
	{"Ctrl+Up", "select a block", "select a block; then `y` copies it, Enter or `o` opens the message it is or names, or unfolds a memory document", 0},
	{"Alt+M", "leave the mouse", "leave the mouse to the terminal, for its own selection", rare},
	{"Ctrl+Z", "suspend", "give the terminal to the shell; `fg` brings the screen back", rare},
	{"Ctrl+L", "redraw", "draw the screen again", rare},
	{"Ctrl+C", "clear; twice: leave", "clear the box; twice: leave, the agents work on", 0},
	{"?", "these keys", "in an empty box: the keys that work here. On a board: its keys", 0},
}

// Sheet returns the keys of the day that work here.
func Sheet(here Here) (rows []dialog.Row) {
	for _, k := range keys {
		if k.needs&^here == 0 {
			first, _, _ := strings.Cut(k.keys, ", ")
			if first[0] != 'F' { // F2 stays
				first = strings.ToLower(first)
			}
			rows = append(rows, dialog.Row{Left: first, Right: k.does})
		}
	}
	return rows
}

// KeyTable returns the keys of a place as a Markdown table for the manual: those of a prompt box, those of an agent's
// tab, or with 0 the others.
func KeyTable(place Here) string {
	var b strings.Builder
	b.WriteString("| key | does |\n|---|---|\n")
	for _, k := range keys {
		of := k.needs & (Types | InBox | InTab)
		if of == place || of == Types && place == InBox {
			fmt.Fprintf(&b, "| %s | %s |\n", k.keys, k.inFull())
		}
	}
	return b.String()
}

func (k key) inFull() string {
	if k.help == "" {
		return k.does
	}
	return k.help
}
