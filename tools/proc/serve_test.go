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

// However it ends, all of its group ends, and what it wrote last is kept.
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
			began := time.Now()
			if exit, signal, err := p.End(); exit != c.exit || signal != c.signal || err != nil || p.Said() != c.said {
				t.Errorf("%d %s %v %.100q", exit, signal, err, p.Said())
			}
			if alive(p.Group.PGID) {
				t.Error("some of its group lives")
			}
			if took := time.Since(began); took > killAfter {
				t.Errorf("it took %v", took)
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
