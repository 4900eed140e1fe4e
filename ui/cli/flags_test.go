package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"fantail/tools/permission"
	"fantail/ui/cli"
	"fantail/ui/shell"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want cli.Flags
		err  string // part of the usage error
	}{
		{args: nil, want: cli.Flags{Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"--model", "ollama/qwen3", "--cwd", "/x"}, want: cli.Flags{Format: cli.Text, Mode: permission.Ask, Model: "ollama/qwen3", Dir: "/x"}},
		{args: []string{"-p", "say hi"}, want: cli.Flags{Print: true, Prompt: "say hi", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"--print", "say hi"}, want: cli.Flags{Print: true, Prompt: "say hi", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"--print=say hi"}, want: cli.Flags{Print: true, Prompt: "say hi", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"say hi", "-p"}, want: cli.Flags{Print: true, Prompt: "say hi", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"-p", "--output-format", "json", "say hi"}, want: cli.Flags{Print: true, Prompt: "say hi", Format: cli.JSON, Mode: permission.Ask}},
		{args: []string{"-p", "--output-format=stream-json"}, want: cli.Flags{Print: true, Format: cli.StreamJSON, Mode: permission.Ask}},
		{args: []string{"-p", "--", "-x"}, want: cli.Flags{Print: true, Prompt: "-x", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"-p", "help"}, want: cli.Flags{Print: true, Prompt: "help", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"--yolo"}, want: cli.Flags{Format: cli.Text, Mode: permission.Yolo, Moded: true}},
		{args: []string{"--permission-mode", "plan"}, want: cli.Flags{Format: cli.Text, Mode: permission.Plan, Moded: true}},
		{args: []string{"--permission-mode", "yolo", "--yolo"}, want: cli.Flags{Format: cli.Text, Mode: permission.Yolo, Moded: true}},

		{args: []string{"--permission-mode", "ask", "--yolo"}, err: "contradict"},
		{args: []string{"--permission-mode", "brave"}, err: "accept-edits"},
		{args: []string{"--modle", "x"}, err: "did you mean --model?"},
		{args: []string{"--permision-mode", "x"}, err: "did you mean --permission-mode?"},
		{args: []string{"--output", "json"}, err: "did you mean --output-format?"},
		{args: []string{"--zzzzzz"}, err: "unknown flag: --zzzzzz"},
		{args: []string{"-x"}, err: "unknown shorthand flag"},
		{args: []string{"--model"}, err: "flag needs an argument"},
		{args: []string{"-p", "--output-format", "jsom", "x"}, err: "did you mean json?"},
		{args: []string{"--output-format", "json"}, err: "goes with -p"},
		{args: []string{"-p", "two", "words"}, err: "quotes"},
		{args: []string{"explain this"}, want: cli.Flags{Prompt: "explain this", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"two\nlines", "--yolo"}, want: cli.Flags{Prompt: "two\nlines", Format: cli.Text, Mode: permission.Yolo, Moded: true}},
		{args: []string{"--", "explain", "this"}, want: cli.Flags{Prompt: "explain this", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"--model", "x", "--", "help"}, want: cli.Flags{Prompt: "help", Model: "x", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"--", "-x"}, want: cli.Flags{Prompt: "-x", Format: cli.Text, Mode: permission.Ask}},
		{args: []string{"explain", "this"}, err: `fantail -- explain this, and one without a screen: fantail -p "explain this"`},
		{args: []string{"explain this", "too"}, err: "quotes"},
		{args: []string{"pussh"}, err: "did you mean push?"},
		{args: []string{"explain this", "--continue"}, err: "goes with -p"},
		{args: []string{""}, err: "the prompt is empty"},
		{args: []string{"--", " "}, err: "the prompt is empty"},
		{args: []string{"hlep"}, err: "did you mean help?"},
	} {
		var out bytes.Buffer
		got, err := cli.Parse(c.args, &out)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || shell.ExitCode(err) != usage {
				t.Errorf("%q: error %v (exit code %d), want one with %q", c.args, err, shell.ExitCode(err), c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.args, got, err, c.want)
		}
		if out.Len() > 0 {
			t.Errorf("%q printed %q", c.args, out.String())
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--help"}, []string{"--permission-mode", "--output-format", "--cwd", "--yolo", "-p, --print PROMPT", "Exit codes"}},
		{[]string{"-h"}, []string{"--permission-mode"}},
		{[]string{"help"}, []string{"--permission-mode"}},
		{[]string{"help", "push"}, []string{"fantail push", "after=A,B"}},
		{[]string{"--version"}, []string{"fantail "}},
	} {
		var out bytes.Buffer
		f, err := cli.Parse(c.args, &out)
		if err != nil || !f.Bare {
			t.Errorf("%q: %+v, %v", c.args, f, err)
		}
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%q: no %q in\n%s", c.args, w, out.String())
			}
		}
		if strings.ContainsRune(out.String(), 0) {
			t.Errorf("%q: a NUL in the help", c.args)
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > 101 {
				t.Errorf("%q: a line of %d bytes: %s", c.args, len(line), line)
			}
		}
	}
}
