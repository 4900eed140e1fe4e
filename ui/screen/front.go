package screen

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"fantail/ui/screen/tty"
)

// front is the terminal until a host shows something there: an empty box, while a host starts. What is typed waits in
// the terminal for it, and Ctrl+C still ends the process.
type front struct {
	was     tty.Modes // as they were found
	open    bool
	signals chan os.Signal // that end it; nil: it is not open
	left    func(code int) // ends the process
}

// found is the terminal as it is.
func found() *front {
	was, _ := tty.Get(0) // without an error: [tty0and1]
	return &front{was: was, left: os.Exit}
}

// show opens it, unless the terminal is somebody else's or has no room.
func (f *front) show() {
	w, h, err := tty.Size(1)
	if f.open || err != nil || w < narrowest || h < lowest || !tty.Foreground(0) {
		return
	}
	f.open, f.signals = true, make(chan os.Signal, 4)
	for _, sig := range leaving {
		if !signal.Ignored(sig) {
			signal.Notify(f.signals, sig)
		}
	}
	signal.Notify(f.signals, syscall.SIGTSTP) // a stop would leave the terminal so
	go func(signals <-chan os.Signal) {
		for sig := range signals {
			if n, ok := sig.(syscall.Signal); ok && n != syscall.SIGTSTP {
				if n == syscall.SIGINT || n == syscall.SIGQUIT { // a key: what was typed before it was for no shell
					_ = tty.Forget(0)
				}
				f.undo()
				f.left(128 + int(n))
			}
		}
	}(f.signals)
	if f.was.Raw().Signalled().Set(0) == nil {
		_ = tty.Say(1, enters+box(w, h), goodbye)
	}
}

// The least room for a box.
const narrowest, lowest = 24, 6

// box is an empty prompt box where the program draws its own: a rule above it, the line of the status below.
func box(w, h int) string {
	rule, prompt := "─", "›"
	if ascii() {
		rule, prompt = "-", ">"
	}
	return fmt.Sprintf("\x1b[H\x1b[2J\x1b[%d;1H\x1b[2m%s\x1b[m\x1b[%d;1H%s ", h-2, strings.Repeat(rule, w), h-1, prompt)
}

// ascii reports whether the terminal shows no more than that, as far as the environment tells.
func ascii() bool {
	locale := ""
	for _, name := range []string{"LANG", "LC_CTYPE", "LC_ALL"} {
		if s := os.Getenv(name); s != "" {
			locale = s
		}
	}
	return os.Getenv("TERM") == "dumb" || locale == "C" || locale == "POSIX"
}

// hand gives it to a relay, which listens to signals by now, or else gives it back at once. It reports whether the terminal
// is a full screen's.
func (f *front) hand() bool {
	was := f.open
	f.deafen()
	return was
}

// close gives the terminal back: there is something to say.
func (f *front) close() {
	if f.open {
		f.undo()
		f.deafen()
	}
}

func (f *front) undo() {
	_ = tty.Say(1, leaves, goodbye)
	_ = f.was.Set(0)
}

func (f *front) deafen() {
	if f.open {
		signal.Stop(f.signals)
		close(f.signals)
		f.open = false
	}
}
