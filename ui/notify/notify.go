// Package notify tells the user what happened: bell, card, digest, and who is present.
package notify

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// The ways to notify a human who looks elsewhere.
const (
	notifyAuto    = "auto"
	notifyOSC9    = "osc9"   // iTerm2 and relatives of Windows Terminal
	notifyOSC777  = "osc777" // Ghostty, WezTerm, foot, urxvt
	notifyOSC99   = "osc99"  // kitty
	notifyBell    = "bell"
	notifyDesktop = "desktop" // notify-send
	notifyOff     = "off"
)

// bell notifies a human who looks elsewhere, through their terminal.
type bell struct {
	how  string
	tmux bool // tmux runs between the program and the terminal
	also bool // ring the plain bell too, because tmux drops what it may not pass on
}

// bellOf returns the configured bell. auto is the bell that the terminal is known to support, else
// the plain one.
func bellOf(how string, env map[string]string) bell {
	b := bell{how: how, tmux: env["TMUX"] != ""}
	if how != "" && how != notifyAuto {
		return b
	}
	switch b.how = terminalBell(env); {
	case strings.HasPrefix(env["TERM"], "screen") && !b.tmux:
		b.how = notifyBell
	case b.tmux && b.how != notifyBell:
		b.also = true
	}
	return b
}

// terminalBell returns the bell that the terminal supports, according to its environment. The name
// of the terminal program takes precedence over variables that may be inherited from another
// terminal. Inside tmux that name is tmux's.
func terminalBell(env map[string]string) string {
	switch env["TERM_PROGRAM"] {
	case "", "tmux":
	case "iTerm.app", "WarpTerminal":
		return notifyOSC9
	case "ghostty", "WezTerm":
		return notifyOSC777
	case "kitty":
		return notifyOSC99
	default:
		return notifyBell
	}
	term := env["TERM"]
	switch {
	case env["KITTY_WINDOW_ID"] != "" || strings.Contains(term, "kitty"):
		return notifyOSC99
	case env["GHOSTTY_RESOURCES_DIR"] != "" || env["WEZTERM_PANE"] != "" || strings.Contains(term, "ghostty") ||
		strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt"):
		return notifyOSC777
	case env["LC_TERMINAL"] == "iTerm2":
		return notifyOSC9
	}
	return notifyBell
}

// send notifies. title and text may contain anything.
func (b bell) send(title, text string, environ []string) intent.Intent {
	if b.how == notifyDesktop {
		return intent.Run{F: func(context.Context) intent.Intent {
			if err := desktop(title, text, environ); err != nil {
				return intent.Say{Text: format.Sentence(err)}
			}
			return nil
		}}
	}
	if s := b.sequence(title, text); s != "" {
		return intent.Terminal{Sequence: s}
	}
	return nil
}

// fitLine makes a text fit for a notification outside the screen.
func fitLine(s string) string { return cells.CleanLine(inbox.Label(s)) }

// sequence returns what is sent to the terminal. No text can end the sequence or add to it: of
// each, one line of at most 100 characters remains, without control characters and separators.
func (b bell) sequence(title, text string) string {
	title, text = fitLine(title), fitLine(text)
	const end = "\x1b\\"
	s := ""
	switch b.how {
	case notifyOSC9:
		s = "\x1b]9;" + title + ": " + text + end
	case notifyOSC777:
		s = "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + strings.ReplaceAll(text, ";", ",") + end
	case notifyOSC99:
		s = "\x1b]99;i=fantail:d=0;" + title + end + "\x1b]99;i=fantail:d=1:p=body;" + text + end
	case notifyBell:
		return "\a"
	default:
		return ""
	}
	if b.tmux {
		s = "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + end
	}
	if b.also {
		s += "\a"
	}
	return s
}

// desktopTime limits notify-send, which waits for a desktop even if there is none.
const desktopTime = 5 * time.Second

// desktop notifies with notify-send.
func desktop(title, text string, environ []string) error {
	path, err := exec.LookPath("notify-send")
	if err != nil {
		return fmt.Errorf(`notify = "desktop" needs notify-send: %w`, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), desktopTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--app-name=fantail", "--", fitLine(title), fitLine(text))
	cmd.Env, cmd.WaitDelay = environ, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run notify-send: %w", err)
	}
	return nil
}
