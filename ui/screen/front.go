package screen

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"fantail/ui/screen/tty"
	"fantail/ui/screen/watchdog"
)

// front is what the terminal shows until a host shows something there: an empty prompt box, while a host starts. What
// is typed stays in the terminal for the host, and Ctrl+C still ends the process.
type front struct {
	was      tty.Modes // as they were found
	open     bool
	met      bool              // a host has shown a screen
	signals  chan os.Signal    // that end it; nil: it is not open
	left     func(code int)    // ends the process
	watchdog watchdog.Watchdog // restores the terminal if this process can't
}

// found returns the front of the terminal in its present modes.
func found() *front {
	was, _ := tty.Get(0) // without an error: [tty0and1]
	return &front{was: was, left: os.Exit}
}

// show draws the box, unless another process has the terminal or it is too small.
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
	signal.Notify(f.signals, syscall.SIGTSTP) // a stop would leave the terminal in these modes
	go func(signals <-chan os.Signal) {
		for sig := range signals {
			if n, ok := sig.(syscall.Signal); ok && n != syscall.SIGTSTP {
				if n == syscall.SIGINT || n == syscall.SIGQUIT { // a key: no shell gets what was typed before it
					_ = tty.Forget(0)
				}
				f.undo()
				f.watchdog.Leave()
				f.left(128 + int(n))
			}
		}
	}(f.signals)
	raw := f.was.Raw().Signalled()
	if raw.Set(0) == nil {
		_ = tty.Say(1, enters+box(w, h), goodbye)
		protect(&f.watchdog, os.Getpid(), f.was, raw)
	}
}

// The smallest terminal in which a box is drawn.
const narrowest, lowest = 24, 6

// box returns an empty prompt box where the program draws its own: a rule above it, the status line below.
func box(w, h int) string {
	rule, prompt := "─", "›"
	if ascii() {
		rule, prompt = "-", ">"
	}
	return fmt.Sprintf("\x1b[H\x1b[2J\x1b[%d;1H\x1b[2m%s\x1b[m\x1b[%d;1H%s ", h-2, strings.Repeat(rule, w), h-1, prompt)
}

// ascii reports whether the terminal shows only ASCII, judged by the environment.
func ascii() bool {
	locale := ""
	for _, name := range []string{"LANG", "LC_CTYPE", "LC_ALL"} {
		if s := os.Getenv(name); s != "" {
			locale = s
		}
	}
	return os.Getenv("TERM") == "dumb" || locale == "C" || locale == "POSIX"
}

// hand hands the terminal over to a relay. The relay handles signals by now, and restores the terminal at once if it
// can't use it. hand reports whether the terminal shows the front's full screen.
func (f *front) hand() bool {
	was := f.open
	f.deafen()
	return was
}

// close restores the terminal: there is something to say.
func (f *front) close() {
	if f.open {
		f.undo()
		f.watchdog.Leave()
		f.deafen()
	}
}

func (f *front) undo() {
	_ = tty.Say(1, leaves, goodbye)
	_ = f.was.Set(0)
	f.watchdog.Restored()
}

func (f *front) deafen() {
	if f.open {
		signal.Stop(f.signals)
		close(f.signals)
		f.open = false
	}
}
