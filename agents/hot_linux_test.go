package agents_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/tools"
)

// opens watches directories, and returns what lists the files that were opened in them since it was last asked.
func opens(t *testing.T, dirs ...string) func() []string {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	check(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	at := map[int32]string{}
	for _, dir := range dirs {
		wd, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN)
		check(t, err)
		at[int32(wd)] = dir
	}
	return func() (names []string) {
		buf := make([]byte, 64<<10)
		for {
			n, err := syscall.Read(fd, buf)
			if err != nil || n <= 0 {
				return names
			}
			for off := 0; off < n; {
				wd := int32(binary.NativeEndian.Uint32(buf[off:]))
				size := int(binary.NativeEndian.Uint32(buf[off+12:]))
				name := string(bytes.TrimRight(buf[off+syscall.SizeofInotifyEvent:off+syscall.SizeofInotifyEvent+size], "\x00"))
				names = append(names, filepath.Join(at[wd], name))
				off += syscall.SizeofInotifyEvent + size
			}
		}
	}
}

// TestHotPath: requests, calls and turns open no file that brings instructions, skills or agents; a directory that a tool touches
// is looked at once.
func TestHotPath(t *testing.T) {
	dir, room := written(t, map[string]string{
		"AGENTS.md": "root words", "web/AGENTS.md": "web words", "web/src/a.ts": "a", ".claude/rules/ts.md": "---\npaths: \"**/*.ts\"\n---\nts words",
		".claude/skills/ts/SKILL.md":     "---\ndescription: Types\npaths: web/**/*.ts\n---\nMind the types.",
		".claude/skills/deploy/SKILL.md": "---\ndescription: Deploys\n---\nDeploy.",
		".claude/agents/reviewer.md":     reviewer,
	})
	m := &model{Reply: remembers}
	w := open(t, m, setting{Dir: dir, Briefs: room, Skills: writeSkills(t, dir, nil)})
	var dirs []string
	for _, d := range []string{"", "web", ".claude", ".claude/rules", ".claude/skills", ".claude/skills/ts", ".claude/skills/deploy", ".claude/agents"} {
		dirs = append(dirs, filepath.Join(dir, d))
	}
	opened := opens(t, dirs...)
	turns := func() {
		t.Helper()
		for range 3 {
			w.Prompt(`use read_file {"path":"web/src/a.ts"}`)
			w.Settle()
		}
		_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Prompt: "hello"})
		check(t, err)
		w.Run(0)
		w.Settle()
	}
	files := func() (names []string) {
		for _, n := range opened() {
			if strings.HasSuffix(n, ".md") {
				names = append(names, n)
			}
		}
		return names
	}
	turns()
	if got, want := fmt.Sprint(files()), fmt.Sprint([]string{filepath.Join(dir, "web/AGENTS.md")}); got != want {
		t.Errorf("the first turns open %s; want %s", got, want)
	}
	turns()
	if got := files(); got != nil {
		t.Errorf("later turns open %q", got)
	}
	if got := parts(of(t, m, "main")); !strings.Contains(got, "web words") || !strings.Contains(got, "The skill ts is") {
		t.Error(got)
	}
	_, err := os.ReadFile(filepath.Join(dir, ".claude/skills/ts/SKILL.md"))
	if check(t, err); len(files()) != 1 {
		t.Error("nobody hears of files that are opened")
	}
}
