package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/ui/uitest/adapters"
)

// deeds are what the model does in both programs, in order: the calls of Claude Code's tools, and of ours. DIR is the
// directory in which the programs were started.
var deeds = []struct{ what, there, here string }{
	{"reads in nested", `Read {"file_path":"DIR/nested/notes.txt"}`, `read_file {"path":"DIR/nested/notes.txt"}`},
	{"reads in only", `Read {"file_path":"DIR/only/notes.txt"}`, `read_file {"path":"DIR/only/notes.txt"}`},
	{"reads a .go file", `Read {"file_path":"DIR/main.go"}`, `read_file {"path":"DIR/main.go"}`},
	{"uses a skill", `Skill {"skill":"deploy"}`, `skill {"name":"deploy"}`},
	{"uses a skill that is denied", `Skill {"skill":"when"}`, `skill {"name":"when"}`},
	{"git push", bashed(`git push origin main`), bashed(`git push origin main`)},
	{"git -C . push", bashed(`git -C . push`), bashed(`git -C . push`)},
	{"timeout 5 git push", bashed(`timeout 5 git push`), bashed(`timeout 5 git push`)},
	{"sh -c 'git push'", bashed(`sh -c 'git push'`), bashed(`sh -c 'git push'`)},
	{"cd .. && git push", bashed(`cd .. && git push`), bashed(`cd .. && git push`)},
	{"echo $(git push)", bashed(`echo $(git push)`), bashed(`echo $(git push)`)},
	{"curl", bashed(`curl http://127.0.0.1:1/`), bashed(`curl http://127.0.0.1:1/`)},
	{"wc", bashed(`wc main.go`), bashed(`wc main.go`)},
	{"touch", bashed(`touch made.txt`), bashed(`touch made.txt`)},
	{"ls", bashed(`ls`), bashed(`ls`)},
	{"reads **/key.txt", `Read {"file_path":"DIR/secret/key.txt"}`, `read_file {"path":"DIR/secret/key.txt"}`},
	{"cat secret/key.txt", bashed(`cat secret/key.txt`), bashed(`cat secret/key.txt`)},
	{"reads ./hidden.txt from app", `Read {"file_path":"DIR/hidden.txt"}`, `read_file {"path":"DIR/hidden.txt"}`},
	{"writes gen/ from app", `Write {"file_path":"DIR/gen/new.txt","content":"x"}`, `write_file {"path":"DIR/gen/new.txt","content":"x"}`},
	{"echo > gen/ from app", bashed(`echo x > gen/new.txt`), bashed(`echo x > gen/new.txt`)},
	{"grep", `Grep {"pattern":"the-secret","path":"DIR","output_mode":"content"}`, `grep {"pattern":"the-secret","path":"DIR"}`},
	{"agent that is denied", `Agent {"subagent_type":"forbidden","prompt":"say nothing","description":"to try","run_in_background":false}`, `delegate {"agent":"forbidden","prompt":"say nothing","mode":"sync"}`},
}

// bashed is a call that runs a command, in both.
func bashed(command string) string {
	return fmt.Sprintf(`{"command":%q,"description":"to try"}`, command)
}

// mark is what says which file a text is from.
var mark = regexp.MustCompile(`mark-[a-z-]+`)

// seen is what a program sent its model.
type seen struct {
	marks map[string]string // each mark -> when it came first
	order []string          // of those at the start, as they stood there
	ends  map[string]string // each deed -> what became of it
}

// sees reads the requests of one play.
func sees(y *trial, play string) (s seen) {
	s = seen{map[string]string{}, nil, map[string]string{}}
	done := 0
	for _, r := range y.server.Requests() {
		if len(r.Tools) == 0 || !bytes.Contains(r.Body, []byte("play "+play)) {
			continue
		}
		when := "start"
		var results []llm.ToolResult
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if one, is := p.(llm.ToolResult); is {
					results = append(results, one)
				}
			}
		}
		if done = len(results); done > 0 && done <= len(deeds) {
			when = deeds[done-1].what
			s.ends[when] = results[done-1].Text
		}
		for _, m := range mark.FindAllString(string(r.Body), -1) {
			if s.marks[m] == "" {
				if s.marks[m] = when; when == "start" {
					s.order = append(s.order, m)
				}
			}
		}
	}
	return s
}

// TestAdapters_reads: a clone that is set up for Claude Code, given to it and to this program: what enters the requests of
// both, and what becomes of the same calls. Each difference stands here, with the reason.
func TestAdapters_reads(t *testing.T) {
	t.Parallel()
	y := newTrial(t, "anthropic/fake", claude())
	tree, err := os.ReadFile("testdata/brought.txt")
	if err != nil {
		t.Fatal(err)
	}
	home := y.getenv("HOME")
	for _, f := range strings.Split("\n"+string(tree), "\n-- ")[1:] {
		name, text, _ := strings.Cut(f, " --\n")
		path := filepath.Join(y.dir, name)
		if below, is := strings.CutPrefix(name, "~/"); is {
			path = filepath.Join(home, below)
		}
		put(t, path, text+"\n")
	}
	dir := filepath.Join(y.dir, "app")
	var here, there []string
	for _, d := range deeds {
		for _, s := range []struct {
			call  string
			lines *[]string
			shell string
		}{{d.here, &here, "bash "}, {d.there, &there, "Bash "}} {
			call := strings.ReplaceAll(s.call, "DIR", dir)
			if strings.HasPrefix(call, "{") {
				call = s.shell + call
			}
			*s.lines = append(*s.lines, "call "+call)
		}
	}
	y.write("here", append(here, "say done here")...)
	y.write("there", append(there, "say done there")...)

	in := *y.site
	in.dir = dir
	out, errs, _ := in.run(t, "", "-p", "play here")
	if !strings.Contains(out, "done here") {
		t.Fatalf("this program said %q, %s", out, errs)
	}
	program := filepath.Join(adapters.Path(t), "..", "@anthropic-ai", "claude-agent-sdk-linux-x64", "claude")
	c := exec.CommandContext(t.Context(), program, "-p", "play there")
	c.Dir, c.Env, c.WaitDelay = dir, y.env, time.Second
	said, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("done there")) {
		t.Fatalf("Claude Code said %q: %v", said, err)
	}
	ours, theirs := sees(y, "here"), sees(y, "there")

	var all []string
	for _, m := range slices.Concat(slices.Collect(maps.Keys(ours.marks)), slices.Collect(maps.Keys(theirs.marks)), mark.FindAllString(string(tree), -1)) {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	slices.Sort(all)
	for _, m := range all {
		t.Logf("%-32s here %-20q there %q", m, ours.marks[m], theirs.marks[m])
	}
	t.Logf("here  %v", ours.order)
	t.Logf("there %v", theirs.order)
	for _, d := range deeds {
		t.Logf("== %s\n   here  %.300q\n   there %.300q", d.what, ours.ends[d.what], theirs.ends[d.what])
	}
	_ = llmtest.Request{}
}
