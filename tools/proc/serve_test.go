package proc

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"
)

// serve serves a script of sh until the test ends.
func serve(t *testing.T, script string) (*Served, *bufio.Reader) {
	t.Helper()
	p, err := Serve(Spec{Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End() })
	return p, bufio.NewReader(p.Out)
}

func TestServe(t *testing.T) {
	p, out := serve(t, `while read -r line; do echo "heard $line"; echo "note $line" >&2; done; exit 3`)
	for _, word := range []string{"one", "two"} {
		if _, err := p.In.WriteString(word + "\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := out.ReadString('\n'); line != "heard "+word+"\n" {
			t.Fatal(line, err)
		}
	}
	for range 2 {
		if exit, signal, err := p.End(); exit != 3 || signal != "" || err != nil {
			t.Error(exit, signal, err)
		}
	}
	if p.Said() != "note one\nnote two\n" {
		t.Errorf("%q", p.Said())
	}
}

// However it ends, its whole group ends, and its last output is kept.
func TestServe_ends(t *testing.T) {
	for _, c := range []struct {
		name, script string
		exit         int
		signal, said string
	}{
		{"by itself", `echo bye >&2; exit 7`, 7, "", "bye\n"},
		{"with a child that stays", `sleep 1000 & echo ready; read -r line; exit 4`, 4, "", ""},
		{"deaf to its input", `echo ready; exec sleep 1000`, -1, "TERM", ""},
		{"deaf to all", `trap "" TERM; echo ready; sleep 1000; sleep 1000`, -1, "KILL", ""},
		{"with much to say", `yes 1234567 | head -c 100000 >&2; exit 0`, 0, "", strings.Repeat("1234567\n", lastWords/8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, out := serve(t, c.script)
			if strings.Contains(c.script, "ready") {
				if _, err := out.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			} else {
				<-p.Exited()
			}
			if exit, signal, err := p.End(); exit != c.exit || signal != c.signal || err != nil || p.Said() != c.said {
				t.Errorf("%d %s %v %.100q", exit, signal, err, p.Said())
			}
			if alive(p.Group.PGID) {
				t.Error("some of its group lives")
			}
		})
	}
}

func TestServe_cannotStart(t *testing.T) {
	for _, argv := range [][]string{nil, {"/nowhere/at/all"}} {
		if _, err := Serve(Spec{Argv: argv, Dir: t.TempDir()}); err == nil {
			t.Error(argv, "starts")
		}
	}
}

// The error line is known however much the program writes after it, in any pieces.
func TestServe_saysWhy(t *testing.T) {
	for script, want := range map[string]string{
		`printf 'begins\nErr' >&2; printf 'or: it is broken\n' >&2; i=0; while [ $i -lt 2000 ]; do echo "    at call $i" >&2; i=$((i+1)); done`: "Error: it is broken\n…\n",
		`echo 'Error: first' >&2; i=0; while [ $i -lt 2000 ]; do echo "    at call $i" >&2; i=$((i+1)); done; echo 'Error: last' >&2`:           "",
		`i=0; while [ $i -lt 2000 ]; do echo "    at call $i" >&2; i=$((i+1)); done`:                                                            "",
		`echo 'Error: short' >&2`: "Error: short\n",
	} {
		p, err := Serve(Spec{Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Exited():
		case <-time.After(time.Minute):
			t.Error("it does not end")
		}
		if exit, signal, err := p.End(); exit != 0 || signal != "" || err != nil {
			t.Errorf("%d %s %v", exit, signal, err)
		}
		said := p.Said()
		if !strings.HasPrefix(said, want) || want == "" && strings.Contains(said, "…") || len(said) > lastWords+longLine+10 {
			t.Errorf("%s: %.100q", script, said)
		}
	}
}
