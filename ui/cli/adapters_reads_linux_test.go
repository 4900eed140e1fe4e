package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/ui/uitest/adapters"
)

// deeds are what the model does in both programs, in order: the calls of Claude Code's tools, and of ours, where they were
// started in the workspace's root, DIR.
var deeds = []struct{ what, there, here string }{
	{"reads in nested", `Read {"file_path":"DIR/app/nested/notes.txt"}`, `read_file {"path":"app/nested/notes.txt"}`},
	{"reads in only", `Read {"file_path":"DIR/app/only/notes.txt"}`, `read_file {"path":"app/only/notes.txt"}`},
	{"reads a .go file", `Read {"file_path":"DIR/app/main.go"}`, `read_file {"path":"app/main.go"}`},
	{"uses a skill", `Skill {"skill":"deploy"}`, `skill {"name":"deploy"}`},
	{"uses a skill that is denied", `Skill {"skill":"when"}`, `skill {"name":"when"}`},
	{what: `git push origin main`},
	{what: `git -C . push`},
	{what: `timeout 5 git push`},
	{what: `sh -c 'git push'`},
	{what: `/usr/bin/git push`},
	{what: `true && git push`},
	{what: `echo $(git push)`},
	{what: `curl http://127.0.0.1:1/`},
	{what: `wc app/main.go`},
	{what: `touch made.txt`},
	{what: `ls`},
	{"reads secret/key.txt", `Read {"file_path":"DIR/secret/key.txt"}`, `read_file {"path":"secret/key.txt"}`},
	{what: `cat secret/key.txt`},
	{what: `grep -r the-secret .`},
	{"reads ./hidden.txt", `Read {"file_path":"DIR/hidden.txt"}`, `read_file {"path":"hidden.txt"}`},
	{"reads app/hidden.txt", `Read {"file_path":"DIR/app/hidden.txt"}`, `read_file {"path":"app/hidden.txt"}`},
	{"writes gen/new.txt", `Write {"file_path":"DIR/gen/new.txt","content":"x"}`, `write_file {"path":"gen/new.txt","content":"x"}`},
	{what: `echo x > gen/new.txt`},
	{what: `cp hidden.txt gen/new.txt`},
	{
		"gives work to an agent that is denied", `Agent {"subagent_type":"forbidden","prompt":"say nothing","description":"to try","run_in_background":false}`,
		`delegate {"agent":"forbidden","prompt":"say nothing","mode":"sync"}`,
	},
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
func (y *trial) sees(play string) seen {
	s := seen{map[string]string{}, nil, map[string]string{}}
	for _, r := range y.server.Requests() {
		if titles(r) || !bytes.Contains(r.Body, []byte("play "+play)) {
			continue
		}
		var results []llm.ToolResult
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if one, is := p.(llm.ToolResult); is {
					results = append(results, one)
				}
			}
		}
		when := "start"
		if n := len(results); n > 0 && n <= len(deeds) {
			when = deeds[n-1].what
			s.ends[when] = results[n-1].Text
		}
		for _, m := range mark.FindAllString(string(r.Body), -1) {
			if s.marks[m] != "" {
				continue
			}
			if s.marks[m] = when; when == "start" {
				s.order = append(s.order, m)
			}
		}
	}
	return s
}

// ended says in a word what became of a call, by what its model was told.
func ended(result string) string {
	for _, c := range [][2]string{
		{"has asked each time", "asks"},
		{"nobody is here to be asked", "asks"},
		{"denies this", "denied"},
		{"requires approval", "asks"},
		{"needs approval", "asks"},
		{"haven't granted it", "asks"},
		{"can't be checked before it runs", "asks"},
		{"Approve only if", "asks"},
		{"has been denied", "denied"},
		{"is denied by", "denied"},
		{"denied by your permission settings", "denied"},
		{"blocked by", "denied"},
	} {
		if strings.Contains(result, c[0]) {
			return c[1]
		}
	}
	return "runs"
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
	var here, there []string
	for _, d := range deeds {
		if d.here == "" {
			d.here, d.there = fmt.Sprintf(`bash {"command":%q}`, d.what), fmt.Sprintf(`Bash {"command":%q,"description":"to try"}`, d.what)
		}
		here, there = append(here, "call "+d.here), append(there, "call "+strings.ReplaceAll(d.there, "DIR", y.dir))
	}
	y.write("here", append(here, "say done")...)
	y.write("there", append(there, "say done")...)
	y.write("below-here", "say done")
	y.write("below-there", "say done")
	program := filepath.Join(adapters.Path(t), "..", "@anthropic-ai", "claude-agent-sdk-linux-x64", "claude")
	for play, dir := range map[string]string{"here": y.dir, "below-here": filepath.Join(y.dir, "app"), "there": y.dir, "below-there": filepath.Join(y.dir, "app")} {
		c := y.command("-p", "play "+play)
		if strings.HasSuffix(play, "there") {
			c = exec.CommandContext(t.Context(), program, "-p", "play "+play)
		}
		c.Dir, c.Env, c.WaitDelay = dir, y.env, time.Second
		if said, err := c.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("done")) {
			t.Fatalf("play %s: %q: %v", play, said, err)
		}
	}

	for play, list := range differences {
		ours, theirs := y.sees(play+"here"), y.sees(play+"there")
		for _, s := range []seen{ours, theirs} { // skills that a touched file brings Claude Code lists when it gets round to it
			for m, when := range s.marks {
				if strings.Contains(m, "skill") && when != "start" {
					s.marks[m] = "later"
				}
			}
		}
		compare(t, play+"reads", marks(string(tree)), ours.marks, theirs.marks, list)
		// Of what says how to work the order counts. A CLAUDE.local.md stands before the rules here, and after them there.
		orders := [2][]string{}
		for i, s := range []seen{ours, theirs} {
			for _, m := range s.order {
				if ours.marks[m] == theirs.marks[m] && !sorted.MatchString(m) {
					orders[i] = append(orders[i], m)
				}
			}
		}
		if !slices.Equal(orders[0], orders[1]) || len(orders[0]) < 7 {
			t.Errorf("%s: in the order %v here, %v there", play, orders[0], orders[1])
		}
	}
	ours, theirs, names := map[string]string{}, map[string]string{}, []string(nil)
	here1, there1 := y.sees("here"), y.sees("there")
	for _, d := range deeds {
		names = append(names, d.what)
		ours[d.what], theirs[d.what] = ended(here1.ends[d.what]), ended(there1.ends[d.what])
		t.Logf("%s\n   here  %.200q\n   there %.200q", d.what, here1.ends[d.what], there1.ends[d.what])
	}
	compare(t, "does", names, ours, theirs, deedDifferences)
}

// sorted are marks of what is listed, and that of the one file whose place differs.
var sorted = regexp.MustCompile(`skill|agent|command|root-local`)

// marks are the marks in a text, each once.
func marks(text string) []string {
	all := mark.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// difference is what enters or ends in one way here and in another there.
type difference struct{ what, here, there, why string }

// compare holds what is so here and there against the list of differences.
func compare(t *testing.T, about string, names []string, here, there map[string]string, list []difference) {
	t.Helper()
	for _, n := range names {
		i := slices.IndexFunc(list, func(d difference) bool { return d.what == n })
		switch {
		case i < 0 && here[n] != there[n]:
			t.Errorf("%s: %s: here %q, there %q: a difference that is not listed", about, n, here[n], there[n])
		case i >= 0 && (list[i].here != here[n] || list[i].there != there[n]):
			t.Errorf("%s: %s: here %q, there %q; it is listed as %q and %q", about, n, here[n], there[n], list[i].here, list[i].there)
		}
	}
	for _, d := range list {
		if !slices.Contains(names, d.what) || d.here == d.there || d.why == "" {
			t.Errorf("%s: %s is no difference", about, d.what)
		}
	}
}

// Why things differ.
const (
	whyAbove    = "what lies above the workspace is not of it"
	whyAgents   = "AGENTS.md is read too, and wins over a CLAUDE.md beside it"
	whyTyped    = "a command of a file is for the human to type; a model has skills"
	whyStandard = "the directory of agentskills.io is read too"
	whyDenied   = "of a skill that a rule denies models are not told"
	whyNameless = "an agent's file without a name has that of the file"
)

// differences are what enters requests when the programs were started in the workspace's root, and in a directory below.
var differences = map[string][]difference{
	"": {
		{"mark-above", "", "start", whyAbove},
		{"mark-agent-nameless", "start", "", whyNameless},
		{"mark-app-agents", "reads in nested", "", whyAgents},
		{"mark-command", "", "start", whyTyped},
		{"mark-command-first-line", "", "start", whyTyped},
		{"mark-user-command", "", "start", whyTyped},
		{"mark-nested", "", "reads in nested", whyAgents},
		{"mark-nested-import", "", "reads in nested", whyAgents},
		{"mark-nested-agents", "reads in nested", "", whyAgents},
		{"mark-only-agents", "reads in only", "", whyAgents},
		{"mark-skill-agents-directory", "start", "", whyStandard},
		{"mark-skill-described", "", "start", whyDenied},
		{"mark-skill-when", "", "start", whyDenied},
	},
	"below-": {
		{"mark-above", "", "start", whyAbove},
		{"mark-agent-denied", "", "start", "the rules of the repository's root hold in a directory below, too"},
		{"mark-agent-nameless", "start", "", whyNameless},
		{"mark-app-agents", "start", "", whyAgents},
		{"mark-command", "", "start", whyTyped},
		{"mark-command-first-line", "", "start", whyTyped},
		{"mark-user-command", "", "start", whyTyped},
		{"mark-import", "start", "", "what a file of the workspace imports from it needs no question, wherever it was started"},
		{"mark-import-deep", "start", "", "the same"},
		{"mark-import-loop", "start", "", "the same"},
		{"mark-skill-agents-directory", "start", "", whyStandard},
		{"mark-skill-described", "", "start", whyDenied},
		{"mark-skill-when", "", "start", whyDenied},
	},
}

// deedDifferences are calls that end in another way.
var deedDifferences = []difference{
	{"git -C . push", "denied", "asks", "a rule that denies is found behind options"},
	{"sh -c 'git push'", "denied", "asks", "and in what a shell is given"},
	{"grep -r the-secret .", "asks", "runs", "a command that looks through a directory would read what a rule denies"},
}
