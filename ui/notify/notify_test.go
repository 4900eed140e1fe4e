package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/inbox"
)

// TestBellOf: the way to tell is the terminal's own, as far as it is known.
func TestBellOf(t *testing.T) {
	for _, c := range []struct {
		how, environ string
		want         bell
	}{
		{"", "TERM=xterm-256color", bell{how: "bell"}},
		{"auto", "TERM=xterm-kitty KITTY_WINDOW_ID=3", bell{how: "osc99"}},
		{"auto", "TERM=xterm-256color TERM_PROGRAM=iTerm.app", bell{how: "osc9"}},
		{"auto", "TERM=xterm-256color LC_TERMINAL=iTerm2", bell{how: "osc9"}},
		{"auto", "TERM=xterm-ghostty TERM_PROGRAM=ghostty", bell{how: "osc777"}},
		{"auto", "TERM=xterm-256color TERM_PROGRAM=WezTerm", bell{how: "osc777"}},
		{"auto", "TERM=foot", bell{how: "osc777"}},
		{"auto", "TERM=xterm-256color TERM_PROGRAM=vscode KITTY_WINDOW_ID=3", bell{how: "bell"}},
		{"auto", "TERM=tmux-256color TERM_PROGRAM=tmux TMUX=/tmp/t,1,0 KITTY_WINDOW_ID=3", bell{how: "osc99", tmux: true, also: true}},
		{"auto", "TERM=tmux-256color TERM_PROGRAM=tmux TMUX=/tmp/t,1,0", bell{how: "bell", tmux: true}},
		{"auto", "TERM=screen KITTY_WINDOW_ID=3", bell{how: "bell"}},
		{"auto", "TERM=dumb", bell{how: "bell"}},
		{"osc9", "TERM=xterm TMUX=/tmp/t,1,0", bell{how: "osc9", tmux: true}},
		{"off", "TERM=xterm-kitty", bell{how: "off"}},
		{"desktop", "TERM=xterm-kitty", bell{how: "desktop"}},
	} {
		if got := bellOf(c.how, environment(c.environ)); got != c.want {
			t.Errorf("%q with %s: %+v, want %+v", c.how, c.environ, got, c.want)
		}
	}
}

// TestSequence: whatever the texts hold, the terminal reads one notification of
// that form and nothing else.
func TestSequence(t *testing.T) {
	for _, c := range []struct {
		b    bell
		want string
	}{
		{bell{how: "osc9"}, "\x1b]9;fan: lint; failed\x1b\\"},
		{bell{how: "osc777"}, "\x1b]777;notify;fan;lint, failed\x1b\\"},
		{bell{how: "osc99"}, "\x1b]99;i=fantail:d=0;fan\x1b\\\x1b]99;i=fantail:d=1:p=body;lint; failed\x1b\\"},
		{bell{how: "osc9", tmux: true}, "\x1bPtmux;\x1b\x1b]9;fan: lint; failed\x1b\x1b\\\x1b\\"},
		{bell{how: "osc9", tmux: true, also: true}, "\x1bPtmux;\x1b\x1b]9;fan: lint; failed\x1b\x1b\\\x1b\\\a"},
		{bell{how: "bell", tmux: true}, "\a"},
		{bell{how: "off"}, ""},
		{bell{how: "desktop"}, ""},
	} {
		if got := c.b.sequence("fan", "lint; failed"); got != c.want {
			t.Errorf("%+v: %q, want %q", c.b, got, c.want)
		}
		evil := "a\x1b\\b\ac\x9cd\u009ce\x00f\ng\x7fh\u202ei\xffj" + strings.Repeat("é", 5000)
		got := c.b.sequence(evil, evil)
		for _, seq := range []string{"\x1b", "\a"} {
			if strings.Count(got, seq) != strings.Count(c.want, seq) {
				t.Errorf("%+v: the text adds to the sequence: %q", c.b, got)
			}
		}
		if strings.ContainsAny(got, "\u009c\x00\n\x7f\u202e") || len(got) > 1000 {
			t.Errorf("%+v: %q", c.b, got)
		}
	}
}

// TestCallText: one call says what, several are counted; what somebody outside
// wrote is not told.
func TestCallText(t *testing.T) {
	outside := urgentCall(inbox.Message{From: "ci", Kind: inbox.Mail, Subject: "token", Body: "hunter2", Priority: inbox.Urgent})
	if strings.Contains(outside.text, "hunter2") || strings.Contains(outside.text, "token") || !strings.Contains(outside.text, "from ci") {
		t.Errorf("it tells %q", outside.text)
	}
	for _, c := range []struct {
		all  []call
		want string
	}{
		{[]call{{callFailed, "lint", "lint failed: no"}}, "lint failed: no"},
		{[]call{{callFailed, "vet", ""}, {callFailed, "lint", ""}, {callNeeds, "db", ""}}, "1 needs you, 2 failed: db, lint, vet"},
		{[]call{{callMail, "reminder-1", "reminder: tea"}}, "reminder: tea"},
		{[]call{{callMail, "reminder-1", ""}, {callFailed, "lint", ""}, {callMail, "docs", ""}}, "1 failed, 2 messages: lint, docs, reminder-1"},
		{[]call{{callNeeds, "a", ""}, {callNeeds, "a", ""}, {callUrgent, "a", ""}}, "1 urgent, 2 need you: a"},
	} {
		if got := callText(c.all); got != c.want {
			t.Errorf("%v: %q, want %q", c.all, got, c.want)
		}
	}
}

// TestDesktop: notify-send gets an argument vector in which no text is an option or
// a command; where there is none, the error says so.
func TestDesktop(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := desktop("fan", "text", nil); err == nil || !strings.Contains(err.Error(), "needs notify-send") {
		t.Errorf("without it: %v", err)
	}
	out := filepath.Join(dir, "out")
	script := "#!/bin/sh\nprintf '%s|' \"$@\" > " + out + "\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := desktop("--icon=x", "$(touch x); `y`\nz", nil); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if want := "--app-name=fantail|--|--icon=x|$(touch x); `y` z|"; err != nil || string(got) != want {
		t.Errorf("%v, it was given %q, want %q", err, got, want)
	}
}

func environment(fields string) map[string]string {
	env := map[string]string{}
	for _, kv := range strings.Fields(fields) {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return env
}
