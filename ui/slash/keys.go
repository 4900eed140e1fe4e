package slash

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/cells"
	"fantail/ui/dialog"
)

// Here is where a key is asked for and what there is, as a set of these.
type Here int

const (
	Types    Here = 1 << iota // text can be typed
	Typed                     // some is
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
	help  string          // for the manual; "": as does
	needs Here            // where it works
	press tea.KeyPressMsg // what the palette presses; zero: the palette does not have it
	runs  string          // the command that does the same; "": none
	line  string          // the word for it in the line of keys; "": not there
}

// keys are those outside of boards and questions.
var keys = []key{
	{keys: "Enter", does: "send", help: "send. While the agent works, the prompt enters at its next step", needs: Types, line: "send"},
	{keys: "Alt+Enter, Ctrl+J, Shift+Enter", does: "new line", help: "new line; so is Enter after a `\\`", needs: Types, line: "new line"},
	{keys: "/", does: "run a command", help: "complete a command", needs: InBox},
	{keys: "@", does: "name a file", help: "complete the path of a file", needs: Types, line: "file"},
	{keys: "#", does: "name a document", help: "complete the name of a memory document", needs: Types | Noted},
	{keys: "!", does: "run a shell command", help: "run a shell command of your own: `!git status`", needs: InBox},
	{keys: "&", does: "start a new agent", help: "`&text`, then Enter: start a new agent with that text, and nothing else that is queued. Type the `&` yourself, first: `&&` and `\\&` begin a plain prompt, and so does a pasted or recalled `&`", needs: InBox},
	{keys: "Ctrl+R", does: "search history", help: "search what you typed before", needs: Types, press: tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}},
	{keys: "Ctrl+G", does: "open your editor", help: "write in your editor", needs: Types, press: tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl}, line: "editor"},
	{keys: "Tab", does: "answer the question", help: "in an empty box: go to the question above it", needs: InBox | AskAbove},
	{keys: "Left", does: "watch all agents", help: "in an empty box: the Fan, as F2 does", needs: InBox | rare},

	{keys: "m", does: "message the agent", help: "tell that agent what to do, or resume it if it has ended", needs: InTab | Tells},
	{keys: "/", does: "run a command as main", help: "type a command as main", needs: InTab},
	{keys: "1…4, Left/Right", does: "switch view", help: "its views: Prompt, Transcript, Output (the answer alone), Info", needs: InTab, line: "views"},
	{keys: "y", does: "copy what it shows", help: "copy", needs: InTab, line: "copy"},
	{keys: "w", does: "twice: wrap up", help: "twice: ask it to finish with what it has", needs: InTab | Lives},

	{keys: "F2", does: "watch all agents", help: "the Fan: the last lines of all agents at once", press: tea.KeyPressMsg{Code: tea.KeyF2}, line: "fan"},
	{keys: "F3", does: "inbox", help: "the inbox, on the whole screen", press: tea.KeyPressMsg{Code: tea.KeyF3}, runs: "inbox", line: "inbox"},
	{keys: "F4", does: "queue", help: "the queue, on the whole screen", press: tea.KeyPressMsg{Code: tea.KeyF4}, runs: "queue", line: "queue"},
	{keys: "F6", does: "schedules", help: "the schedules, on the whole screen", press: tea.KeyPressMsg{Code: tea.KeyF6}, runs: "schedule"},
	{keys: "Alt+1…9, Ctrl+PgUp/PgDn", does: "go to a tab", help: "go to a tab; to the next one", needs: Many, line: "tabs"},
	{keys: "Alt+Tab, Ctrl+Tab", does: "go to the last tab", help: "go to the agent you used last; press again quickly to go further back", needs: Many, press: tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModAlt}},
	{keys: "Ctrl+Space", does: "find an agent", help: "go to an agent by name", needs: Many, press: tea.KeyPressMsg{Code: tea.KeySpace, Mod: tea.ModCtrl}},
	{keys: "Alt+R", does: "hide or show agents", help: "hide the agents beside the conversation, or show them again; they show from 140 columns. The choice is remembered", needs: Wide, press: tea.KeyPressMsg{Code: 'r', Mod: tea.ModAlt}},
	{keys: "Alt+A", does: "answer a question", help: "go to the question above the box, or to the oldest one of any agent; if more than one question is open, all of them on one sheet", needs: Asks, press: tea.KeyPressMsg{Code: 'a', Mod: tea.ModAlt}, runs: "answer"},
	{keys: "F5", does: "answer the oldest question", help: "go to the question above the box, or to the oldest one of any agent", needs: rare},
	{keys: "Alt+C", does: "collect the mail", help: "collect all mail that is ready, as `/check` does; without Alt, `c` in F2 or F3", needs: Mail, press: tea.KeyPressMsg{Code: 'c', Mod: tea.ModAlt}, runs: "check", line: "collect"},
	{keys: "Alt+U", does: "handle urgent mail", help: "while the card of an urgent message shows: handle it in its tab", needs: Urgent, press: tea.KeyPressMsg{Code: 'u', Mod: tea.ModAlt}},
	{keys: "Alt+X", does: "put it off", help: "while that card shows: put it off", needs: Urgent, press: tea.KeyPressMsg{Code: 'x', Mod: tea.ModAlt}},
	{keys: "Alt+P", does: "choose a model", help: "choose a model, as `/model` does", press: tea.KeyPressMsg{Code: 'p', Mod: tea.ModAlt}, runs: "model"},
	{keys: "Alt+Y", does: "copy the last answer", help: "copy the last answer of this tab, as `/copy` does", press: tea.KeyPressMsg{Code: 'y', Mod: tea.ModAlt}, runs: "copy"},
	{keys: "Esc", does: "stop the agent", help: "stop the agent of this tab, and nothing else. What is queued for it comes back into the box", needs: Works, press: tea.KeyPressMsg{Code: tea.KeyEscape}},
	{keys: "Ctrl+B", does: "stop waiting", help: "let the agent go on: the work it waits for runs in the background (in tmux press it twice)", needs: Waits, press: tea.KeyPressMsg{Code: 'b', Mod: tea.ModCtrl}},
	{keys: "Shift+Tab", does: "permission mode", help: "next [permission mode](permissions.md#modes). What it allows is allowed after a second without another press", press: tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}, line: "mode"},
	{keys: "PgUp/PgDn, wheel, Home/End", does: "scroll", help: "scroll. New output never moves a view that you scrolled up"},
	{keys: "Ctrl+O", does: "unfold or fold", help: "unfold all in sight, or fold it", press: tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl}},
	{keys: "Ctrl+Up", does: "select a block", help: "select a block; then `y` copies it, Enter or `o` opens the message it is or names, or unfolds a memory document", press: tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModCtrl}},
	{keys: "Alt+M", does: "leave the mouse", help: "leave the mouse to the terminal, for its own selection", needs: rare, press: tea.KeyPressMsg{Code: 'm', Mod: tea.ModAlt}},
	{keys: "Ctrl+Z", does: "suspend", help: "give the terminal to the shell; `fg` brings the screen back", needs: rare, press: tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl}},
	{keys: "Ctrl+L", does: "redraw", help: "draw the screen again", needs: rare, press: tea.KeyPressMsg{Code: 'l', Mod: tea.ModCtrl}},
	{keys: "Ctrl+C", does: "clear; twice: leave", help: "clear the box; twice: leave, the agents work on"},
	{keys: "Ctrl+P", does: "find a command", help: "all commands and keys by name, outside of a list; Enter runs the chosen one, or puts a command that needs more into the box"},
	{keys: "?", does: "these keys", help: "in an empty box: the keys that work here. On a board: its keys", press: tea.KeyPressMsg{Code: '?', Text: "?"}, line: "keys"},
}

// Sheet returns the keys of the day that work here.
func Sheet(here Here) (rows []dialog.Row) {
	for _, k := range keys {
		if k.needs&^here == 0 {
			rows = append(rows, dialog.Row{Left: k.name(), Right: k.does})
		}
	}
	return rows
}

// Line returns, in at most w cells, the keys that matter most here: those of typing while something is typed, else the
// others. The last one stays when there is no room for all.
func Line(here Here, w int) string {
	var parts []string
	for _, k := range keys {
		if k.line != "" && k.needs&^here == 0 && (k.needs&Types != 0) == (here&Typed != 0) {
			parts = append(parts, k.name()+" "+k.line)
		}
	}
	for {
		line, n := strings.Join(parts, "   "), len(parts)
		if n < 2 || cells.Width(line) <= w {
			return cells.Cut(line, w)
		}
		parts = slices.Delete(parts, n-2, n-1)
	}
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

// name returns the first key as hints show it: `ctrl+o`, but `F2`.
func (k key) name() string {
	first, _, _ := strings.Cut(k.keys, ", ")
	if first[0] == 'F' {
		return first
	}
	return strings.ToLower(first)
}

func (k key) inFull() string {
	if k.help == "" {
		return k.does
	}
	return k.help
}
