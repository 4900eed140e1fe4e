package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm/builtin"
	"fantail/agents/mail"
	"fantail/agents/schedule"
	"fantail/agents/skills"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/tools"
)

var commands = map[string]string{
	".claude/commands/fix.md":        "Fix $1 well.",
	".claude/skills/deploy/SKILL.md": "---\ndescription: Deploys\n---\nDeploy $1 with care.",
	".claude/skills/look/SKILL.md":   "---\ndescription: Looks\ncontext: fork\nagent: reviewer\n---\nLook at $ARGUMENTS.",
	".claude/agents/reviewer.md":     reviewer,
}

// TestTyped: whichever door a prompt comes in by, /NAME stands for what its file says where it enters; the row keeps what was
// typed. What is only for people is not for an agent that hands on work.
func TestTyped(t *testing.T) {
	m := &model{Reply: remembers}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir, Skills: writeSkills(t, dir, commands)})
	w.Prompt("/fix 1")
	w.Settle()
	w.Push("pushed", "  /fix 2")
	for name, o := range map[string]mail.OutsideOrder{
		"shelled": {Prompt: "/fix 3"}, "looks": {Prompt: "/look it"}, "reviews": {Prompt: "hello", Model: "acp/reviewer"},
		"lost": {Prompt: "hello", Model: "acp/nobody"},
	} {
		o.Name = name
		_, err := w.Pool.Door.Push(t.Context(), o)
		check(t, err)
	}
	w.Consent(0)
	w.Settle()
	c := w.Unattended(t.Context(), agents.Unattended{})
	check(t, c.Prompt(t.Context(), "/fix 4"))
	check(t, c.Settled(t.Context()))
	for name, prompt := range map[string]string{"manual": "/fix 5", "skilled": "/deploy 6", "path": "/fix/7 is a path"} {
		w.Prompt(fmt.Sprintf(`use delegate {"name":%q,"prompt":%q,"mode":"sync"}`, name, prompt))
		w.Settle()
	}
	for name, want := range map[string]string{
		"main": "/fix 1\n\nWhat /fix stands for (.claude/commands/fix.md):\n\nFix 1 well.", "pushed": "Fix 2 well.", "shelled": "Fix 3 well.",
		"looks": "Look at it.", c.Info.Name: "Fix 4 well.", "manual": "/fix 5", "skilled": "Deploy 6 with care.", "path": "/fix/7 is a path",
	} {
		es := w.Entries(name)
		if len(es) == 0 || es[0].Kind != history.EntryPrompt || !strings.HasSuffix(es[0].Text, want) || !strings.Contains(want, "Fix") && strings.Contains(es[0].Text, "Fix") {
			t.Errorf("%s begins with %+v", name, es)
		}
	}
	if got := w.Info("pushed").Prompt; got != "  /fix 2" {
		t.Errorf("it was pushed as %q", got)
	}
	for _, name := range []string{"looks", "reviews"} {
		if i := w.Info(name); i.Role == nil || i.Role.Name != "reviewer" || i.State != event.Done {
			t.Errorf("%s: %+v", name, i)
		}
	}
	if i := w.Info("lost"); i.State != event.Failed || i.Role != nil {
		t.Errorf("%+v", i)
	}
}

// TestTyped_early: what waits to enter is shown and taken back as it was typed, and a file that can't be read any more costs a
// line.
func TestTyped_early(t *testing.T) {
	m := &model{Reply: remembers}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir, Skills: writeSkills(t, dir, commands)})
	w.Prompt("hang")
	w.Until("it works", func() bool { return w.Info("main").State == event.Running })
	w.Prompt("/fix 1")
	w.Until("it shows as it was typed", func() bool {
		ps := w.Info("main").Prompts
		return len(ps) == 1 && ps[0].Text == "/fix 1"
	})
	texts, err := w.Pool.Withdraw(t.Context(), w.Main())
	if check(t, err); len(texts) != 1 || texts[0] != "/fix 1" {
		t.Errorf("%q", texts)
	}
	w.Pool.Stop(w.Main())
	w.Settle()
	check(t, os.Remove(filepath.Join(dir, ".claude/commands/fix.md")))
	w.Prompt("/fix 1")
	w.Settle()
	if said := w.spoke("main"); !strings.Contains(said, "/fix 1\n\n(What /fix stands for can't be used: .claude/commands/fix.md: no such file or directory.)") {
		t.Error(said)
	}
}

// TestTyped_due: a schedule that the human made may begin with a command; one of an agent's does what models may.
func TestTyped_due(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := open(t, builtin.New(), setting{Dir: dir, Skills: writeSkills(t, dir, map[string]string{
			".claude/commands/hail.md":      "say hail $ARGUMENTS",
			".claude/skills/greet/SKILL.md": "---\ndescription: Greets\n---\nsay greet $ARGUMENTS",
		})})
		defer w.Close()
		w.plan(schedule.Order{Kind: schedule.Task, Name: "human", CancelWhen: "it is done"}, "every 10m /hail you")
		for _, name := range []string{"hail", "greet"} {
			s := schedule.Order{Kind: schedule.Task, Name: name, Text: "/" + name + " you", Owner: w.Main(), Origin: schedule.Agent}
			s.When = w.plan(schedule.Order{Kind: schedule.Reminder}, "10m x").When
			_, err := w.Pool.Schedule.Add(t.Context(), s)
			check(t, err)
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		w.Settle()
		ms, err := w.Pool.Letters.Peek(t.Context(), w.Main(), inbox.Query{})
		check(t, err)
		all := map[string]string{}
		for _, m := range ms {
			all[m.Subject] += m.Body + m.Error
		}
		said := fmt.Sprint(all)
		for _, want := range []string{"hail you", "greet you", "/hail you` is not one of the instructions"} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in %s", want, said)
			}
		}
	})
}

// TestRole_named: an agent of a file's may have another model than its file names, hears that there is none of a name, and its
// mail is handled as its file says, whatever it is called.
func TestRole_named(t *testing.T) {
	m := &model{Reply: remembers}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir, Skills: writeSkills(t, dir, map[string]string{
		".claude/agents/reviewer.md": reviewer,
		".claude/agents/slow.md":     "---\nname: slow\ndescription: Slow\nbackground: true\n---\nTake your time.\n",
	})})
	task := tools.Task{Name: "kid", Prompt: "hello", Model: "test/one"}
	task.To("reviewer")
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), task)
	check(t, err)
	w.Run(0)
	w.Settle()
	w.State("kid", event.Done)
	if i := w.Info("kid"); i.Role == nil || i.Role.Name != "reviewer" || i.Model != "test/one" {
		t.Errorf("%+v", i)
	}
	task = tools.Task{Prompt: "hello"}
	task.To("reviewr")
	_, err = w.Pool.Tasks.Push(t.Context(), w.Main(), task)
	refused(t, err, `there is no agent of the name "reviewr"; did you mean "reviewer"? there are reviewer, slow, claude`)
	for args, want := range map[string]string{
		`"agent":"nobody"`:                                 `there is no agent of the name "nobody"; there are reviewer, slow, claude`,
		`"agent":"claude","model":"test/x"`:                "another vendor's agent has its own models",
		`"agent":"reviewer","model":"acp/claude"`:          "give agent or model",
		`"agent":"slow"`:                                   "It runs in the background",
		`"agent":"slow","mode":"sync","model":"test/one"`:  "heard: ",
		`"agent":"reviewer","model":"test/one","name":"b"`: "heard: ",
	} {
		c := w.Unattended(t.Context(), agents.Unattended{})
		check(t, c.Prompt(t.Context(), `use delegate {"prompt":"hello",`+args+`}`))
		check(t, c.Settled(t.Context()))
		if rs := results(of(t, m, c.Info.Name)); len(rs) != 1 || !strings.Contains(rs[0].Text, want) {
			t.Errorf("%s: %+v", args, rs)
		}
	}
	w.Pool.Mail.Rules(t.Context(), map[string]policy.Rules{"reviewer": {Default: policy.Queue, File: "x"}}, nil)
	i, err := w.Pool.NewHelper(t.Context(), "study", "acp/reviewer")
	check(t, err)
	if p, err := w.Pool.Mail.Policy(i.ID); err != nil || p.Rules.Default != policy.Queue {
		t.Errorf("%+v %v", p, err)
	}
	w.Pool.Mail.Rules(t.Context(), map[string]policy.Rules{"reviewer": {Default: policy.Queue}, "study": {Default: policy.Interrupt}}, nil)
	if p, err := w.Pool.Mail.Policy(i.ID); err != nil || p.Rules.Default != policy.Interrupt {
		t.Errorf("%+v %v", p, err)
	}
}

// TestFitting: a skill for certain files is no part of the system prompt; its line enters once a tool, or a command's words, touch
// such a file, and behind all that was sent before. Who can't load a skill hears of none.
func TestFitting(t *testing.T) {
	dir, room := written(t, map[string]string{
		"web/a.ts": "a", "web/AGENTS.md": "web words", "x/y.go": "y",
		".claude/skills/ts/SKILL.md":   "---\ndescription: Types\npaths: web/**/*.ts\n---\nMind the types.",
		".claude/skills/hide/SKILL.md": "---\ndescription: Hides\npaths: web/**\ndisable-model-invocation: true\n---\nHidden.",
		".claude/agents/plain.md":      "---\nname: plain\ndescription: Plain\ntools: Read\n---\nx",
	})
	m := &model{Reply: remembers}
	w := open(t, m, setting{Dir: dir, Briefs: room, Skills: writeSkills(t, dir, nil)})
	ask := func(prompt string) string {
		t.Helper()
		w.Prompt(prompt)
		w.Settle()
		return parts(of(t, m, "main"))
	}
	if got := ask(`use read_file {"path":"x/y.go"}`); strings.Contains(of(t, m, "main").System+got, "Types") {
		t.Error("it is told before any tool was there")
	}
	before := of(t, m, "main").System
	got := ask(`use bash {"command":"cat web/a.ts"}`)
	if strings.Count(got, "The skill ts is for files like these: Types\nLoad it with the tool `skill`") != 1 || !strings.Contains(got, "web words") || strings.Contains(got, "Hides") {
		t.Error(got)
	}
	if of(t, m, "main").System != before {
		t.Error("the system prompt changed")
	}
	if got := ask(`use read_file {"path":"web/a.ts"}`); strings.Count(got, "The skill ts is") != 1 {
		t.Error(got)
	}
	p, err := w.Pool.Instructions().Report(t.Context(), w.Info("main"))
	if check(t, err); !strings.Contains(fmt.Sprint(p.Lines), ".claude/skills/ts/SKILL.md touched") {
		t.Errorf("%+v", p.Lines)
	}
	if rs := results(of(t, m, "main")); len(rs) != 1 || rs[0].Error {
		t.Errorf("%+v", rs)
	}
	_, err = w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "plain", Prompt: `use read_file {"path":"web/a.ts"}`, Model: "acp/plain"})
	check(t, err)
	w.Run(0)
	w.Settle()
	if got := parts(of(t, m, "plain")); strings.Contains(got, "Types") || !strings.Contains(got, "web words") {
		t.Error(got)
	}
}

// TestContext_sums: what /context lists sums up to what a request carries, with each list that files bring in a line of its own.
func TestContext_sums(t *testing.T) {
	m := &model{Reply: mute}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir, Skills: writeSkills(t, dir, commands)})
	w.Prompt("hello")
	w.Settle()
	req := *m.Last()
	req.Messages = nil
	c, err := w.Pool.Records.Context(t.Context(), w.Main())
	check(t, err)
	sum, lines := 0, map[string]int{}
	for _, p := range c.Parts {
		switch lines[p.What] = p.Tokens; p.What {
		case "system prompt", "tools", "list of skills", "list of agents":
			sum += p.Tokens
		}
	}
	if want := history.Estimate(&req); sum != want {
		t.Errorf("the lines sum up to %d, the request has %d: %v", sum, want, lines)
	}
	_, list, _ := strings.Cut(req.System, "# Skills\n")
	list, listed, _ := strings.Cut(list, "\n\n# Agents that")
	for what, text := range map[string]string{"list of skills": "# Skills\n" + list, "list of agents": "# Agents that" + listed} {
		if n := lines[what] - history.Tokens(text); n < -1 || n > 1 || lines[what] == 0 {
			t.Errorf("%s: %d tokens, it has %d", what, lines[what], history.Tokens(text))
		}
	}
}

// TestTyped_closing: a prompt whose command lines are cut short because the program closes still waits at the next start, as
// it was typed.
func TestTyped_closing(t *testing.T) {
	m := &model{Reply: remembers}
	dir := t.TempDir()
	files := map[string]string{".claude/commands/fix.md": "Fix !`slow` well."}
	s := setting{Dir: dir, Skills: writeSkills(t, dir, files)}
	w := open(t, m, s)
	runs := make(chan struct{})
	s.Skills.Begin(func(ctx context.Context, _ skills.Wanted) (string, error) {
		close(runs)
		<-ctx.Done()
		return "", ctx.Err()
	})
	w.Prompt("/fix 1")
	<-runs
	w.Close()
	s.Skills = writeSkills(t, dir, files)
	w = open(t, m, s)
	w.Until("it waits", func() bool { return len(w.Info("main").Prompts) == 1 })
	if p := w.Info("main").Prompts[0]; p.Text != "/fix 1" || len(w.Entries("main")) > 0 {
		t.Errorf("%q waits, and %v entered", p.Text, w.Entries("main"))
	}
}

// TestRole_slowLines: command lines of a skill with which a task from outside begins keep no other task waiting, however long
// they run.
func TestRole_slowLines(t *testing.T) {
	m := &model{Reply: remembers}
	dir := t.TempDir()
	s := setting{Dir: dir, Skills: writeSkills(t, dir, map[string]string{
		".claude/agents/worker.md":    "---\nname: worker\ndescription: x\nskills: now\n---\nWork.",
		".claude/skills/now/SKILL.md": "---\ndescription: x\n---\nIt is !`slow`.",
	})}
	w := open(t, m, s)
	runs, ends := make(chan struct{}), make(chan struct{})
	s.Skills.Begin(func(ctx context.Context, _ skills.Wanted) (string, error) {
		close(runs)
		<-ends
		return "noon", nil
	})
	_, err := w.Pool.Door.Push(t.Context(), mail.OutsideOrder{Name: "slow", Prompt: "hello", Model: "acp/worker"})
	check(t, err)
	w.Push("quick", "hello")
	w.Consent(0)
	<-runs
	w.State("quick", event.Done)
	close(ends)
	w.State("slow", event.Done)
	w.Settle()
	if system := of(t, m, "slow").System; !strings.Contains(system, "It is <output>noon</output>.") {
		t.Errorf("it began with %s", system)
	}
}
