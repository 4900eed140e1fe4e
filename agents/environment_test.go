package agents_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// at is what is done at a screen whose shell has X=x and that umask.
func at(ctx context.Context, x string, umask int, more ...string) context.Context {
	vars := append([]string{"PATH=" + os.Getenv("PATH"), "X=" + x}, more...)
	return fleet.Within(ctx, &fleet.Environment{Vars: vars, Umask: proc.UmaskOf(umask)})
}

// hosted is a pool whose own environment has X=host.
func hosted(t *testing.T, m llm.Provider, s setting) *world {
	t.Helper()
	s.env = append(s.env, "PATH="+os.Getenv("PATH"), "X=host")
	w := open(t, m, s)
	w.main()
	return w
}

// saw lists what the agent's commands printed, in order.
func (w *world) saw(name string) (all []string) {
	w.t.Helper()
	i := slices.IndexFunc(w.pool.Infos(), func(i event.Info) bool { return i.Name == name })
	if i < 0 {
		w.t.Fatalf("there is no %s", name)
	}
	for _, e := range w.entries(name) {
		switch {
		case e.Result != nil && e.Result.Name == "bash":
			all = append(all, strings.TrimSpace(e.Result.Text))
		case e.Shell != nil:
			all = append(all, strings.TrimSpace(e.Shell.Output))
		}
	}
	return all
}

// sees is the last of it, once nothing is under way.
func (w *world) sees(name, want string) {
	w.t.Helper()
	w.settle()
	if all := w.saw(name); len(all) == 0 || all[len(all)-1] != want {
		w.t.Errorf("the commands of %s printed %q, want %q at the end", name, all, want)
	}
}

const sayX = "run echo $X"

func TestEnvironment_ofThePromptThatEnteredLast(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	a, b := at(t.Context(), "a", 0o027), at(t.Context(), "b", 0o002)
	for i, c := range []struct {
		ctx    context.Context
		prompt string
		want   string
	}{
		{t.Context(), sayX, "host"}, // as after a restart: nobody's environment is known
		{a, sayX + " $(umask)", "a 0027"},
		{b, sayX + " $(umask)", "b 0002"},
		{t.Context(), sayX, "b"},
		{a, sayX, "a"},
	} {
		check(t, w.pool.Prompt(c.ctx, w.main(), c.prompt))
		w.settle()
		if got := w.saw("main"); len(got) != i+1 || got[i] != c.want {
			t.Errorf("prompt %d: %q, want %q", i+1, got, c.want)
		}
	}
}

// A prompt that enters a turn moves what the turn does from then on; one that is taken back moves nothing.
func TestEnvironment_withinATurn(t *testing.T) {
	var step int
	begun, goes := make(chan struct{}), make(chan struct{})
	m := &model{}
	m.reply = func(context.Context, *llm.Request) ([]llm.Part, error) {
		step++
		switch step {
		case 1:
			return call("c1", "bash", `{"command":"echo $X"}`), nil
		case 2:
			close(begun)
			<-goes
			return call("c2", "bash", `{"command":"echo $X"}`), nil
		case 3:
			return call("c3", "bash", `{"command":"echo $X"}`), nil
		}
		return text("done"), nil
	}
	w := hosted(t, m, setting{})
	check(t, w.pool.Prompt(at(t.Context(), "a", -1), w.main(), "go"))
	<-begun
	check(t, w.pool.Prompt(at(t.Context(), "taken back", -1), w.main(), "no"))
	w.until("it is queued", func() bool { return len(w.info("main").Prompts) == 1 })
	_, err := w.pool.Unprompt(t.Context(), w.info("main").Prompts[0].ID)
	check(t, err)
	check(t, w.pool.Prompt(at(t.Context(), "b", -1), w.main(), "and this"))
	close(goes)
	w.settle()
	if got := w.saw("main"); !slices.Equal(got, []string{"a", "a", "b"}) {
		t.Errorf("%q", got)
	}
}

// A task runs where it was asked for, whoever lets it start; what an agent dispatches runs where the agent does.
func TestEnvironment_ofTasks(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	a, b := at(t.Context(), "a", 0o027), at(t.Context(), "b", 0o077)
	push := func(ctx context.Context, name, prompt string) {
		_, err := w.pool.Tasks.Push(ctx, w.main(), tools.Task{Name: name, Prompt: prompt})
		check(t, err)
	}
	push(t.Context(), "early", sayX)
	check(t, w.pool.Prompt(a, w.main(), "delegate grown: delegate young: run echo $X $(umask)\npush later: "+sayX))
	w.settle()
	push(b, "pushed", sayX)
	push(b, "plain", "!echo $X $(umask)")
	push(b, "above", "delegate below: "+sayX)
	_, err := w.pool.Run(a, w.main(), tools.Start{})
	check(t, err)
	for name, want := range map[string]string{
		"young": "a 0027", "later": "a", "pushed": "b", "plain": "b 0077", "below": "b", "early": "host",
	} {
		w.sees(name, want)
	}
	row, _, err := w.pool.Tasks.Retry(a, w.main(), "pushed", "")
	check(t, err)
	w.run(0)
	w.sees(row.Name, "a")
	_, _, err = w.pool.Resume(b, w.main(), "later", "run echo again $X")
	check(t, err)
	w.sees("later", "again b")
	check(t, w.pool.Prompt(t.Context(), w.main(), sayX))
	w.sees("main", "a") // none of this moved main
}

// The command a human types runs at their screen, and moves nobody.
func TestEnvironment_ofAShellCommand(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	check(t, w.pool.Prompt(at(t.Context(), "a", -1), w.main(), sayX))
	w.settle()
	check(t, w.pool.Shell(at(t.Context(), "b", 0o077), w.main(), "echo $X $(umask)"))
	w.sees("main", "b 0077")
	check(t, w.pool.Shell(t.Context(), w.main(), "echo $X"))
	w.sees("main", "host")
	check(t, w.pool.Prompt(t.Context(), w.main(), sayX))
	w.sees("main", "a")
}

// echoing runs `echo $X` once in each turn, whatever began it.
func echoing() *model {
	return &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		last := req.Messages[len(req.Messages)-1]
		for _, p := range last.Parts {
			if _, is := p.(llm.ToolResult); is {
				return text("done"), nil
			}
		}
		return call(fmt.Sprintf("c%d", len(req.Messages)), "bash", `{"command":"echo $X"}`), nil
	}}
}

// Mail moves nothing; a human who starts a turn with it does.
func TestEnvironment_mail(t *testing.T) {
	w := hosted(t, echoing(), setting{})
	a, b := at(t.Context(), "a", -1), at(t.Context(), "b", -1)
	check(t, w.pool.Prompt(a, w.main(), "go"))
	w.sees("main", "a")
	w.drop("main", "one", inbox.Wake)
	w.until("it has woken", func() bool { return len(w.saw("main")) == 2 })
	w.sees("main", "a")
	w.drop("main", "two", inbox.Hold)
	_, _, err := w.pool.Pickup.Next(b, w.main(), 0)
	check(t, err)
	w.sees("main", "b")
	w.drop("main", "three", inbox.Hold)
	_, _, err = w.pool.Pickup.Fire(a, w.main(), "see to it")
	check(t, err)
	w.sees("main", "a")
	w.drop("main", "four", inbox.Hold)
	_, _, err = w.pool.Pickup.Fire(t.Context(), w.main(), "")
	check(t, err)
	w.sees("main", "a")
	if n := len(w.saw("main")); n != 5 {
		t.Errorf("%d turns ran a command, want 5", n)
	}
}

// A helper runs where it was opened, before anybody has typed anything to it.
func TestEnvironment_ofAHelper(t *testing.T) {
	w := hosted(t, echoing(), setting{})
	check(t, w.pool.Prompt(at(t.Context(), "a", -1), w.main(), "go"))
	w.settle()
	_, err := w.pool.NewHelper(at(t.Context(), "b", -1), "mate", "")
	check(t, err)
	w.state("mate", event.Idle)
	w.drop("mate", "hello", inbox.Wake)
	w.until("it has woken", func() bool { return len(w.saw("mate")) == 1 })
	w.sees("mate", "b")
	check(t, w.pool.CloseHelper(t.Context(), "mate", true))
	_, _, err = w.pool.Resume(at(t.Context(), "c", -1), w.main(), "mate", "go on")
	check(t, err)
	w.until("it goes on", func() bool { return len(w.saw("mate")) == 2 })
	w.sees("mate", "c")
}

// Who is not attended, or works for somebody outside, gets no more of a screen's environment than of the program's own.
func TestEnvironment_ofTheUnattended(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	there := at(t.Context(), "a", -1, "LC_ALL=C", "SSH_AUTH_SOCK=/s")
	c := w.unattended(there, agents.Unattended{})
	check(t, c.Prompt(there, "run echo $LC_ALL-$X-$SSH_AUTH_SOCK-"))
	w.sees(c.Info.Name, "C---")

	w = hosted(t, builtin.New(), setting{env: []string{"LC_ALL=POSIX", "SSH_AUTH_SOCK=/s"}})
	if e := w.outside("push", "outer", "run echo $LC_ALL-$X-$SSH_AUTH_SOCK-"); e != "" {
		t.Fatal(e)
	}
	for range 2 { // shown, and started
		_, err := w.pool.Run(at(t.Context(), "a", -1, "LC_ALL=C", "SSH_AUTH_SOCK=/s"), w.main(), tools.Start{})
		check(t, err)
	}
	w.until("it asks", func() bool { return w.info("outer").Question != nil })
	w.answer(w.info("outer").Question.ID, "once")
	w.sees("outer", "POSIX---")
}

// After a restart nobody's environment is known: what was pushed before runs with the program's own.
func TestEnvironment_isForgottenAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	w := hosted(t, builtin.New(), setting{dir: dir})
	_, err := w.pool.Tasks.Push(at(t.Context(), "a", -1), w.main(), tools.Task{Name: "kept", Prompt: sayX})
	check(t, err)
	w.close()
	w = hosted(t, builtin.New(), setting{dir: dir})
	w.consent(0)
	w.sees("kept", "host")
}

// No row, output, event or request holds a screen's environment, nor a key that only a later screen brought, nor does a
// command get that key from a screen that had it by another name before.
func TestEnvironment_isNowhere(t *testing.T) {
	const canary, first, second = "environ-canary-0123456789", "the-first-key-0123456789", "the-second-key-0123456789"
	holds := func(key string) func(string) string {
		return func(string) string { return key }
	}
	keys := secret.New([]string{"WORK_LLM"}, holds(first))
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call(fmt.Sprintf("c%d", len(req.Messages)), "bash", `{"command":"env; cat keys.txt; cat keys.txt | base64 -w 20"}`), nil
		}
		return text("they are " + first + " and " + second), nil
	}}
	w := hosted(t, m, setting{keys: keys, env: []string{"COPY=" + second}})
	check(t, os.WriteFile(filepath.Join(w.dir, "keys.txt"), []byte(first+"\n"+second+"\n"), 0o600))
	feed := w.pool.Subscribe()
	defer feed.Close()
	a := at(t.Context(), "a", 0o027, "COPY="+second, "WORK_LLM="+second, "MY_TOKEN="+canary)
	keys.Add(holds(second))
	check(t, w.pool.Prompt(a, w.main(), "go with "+second))
	w.settle()
	check(t, w.pool.Shell(a, w.main(), "env; cat keys.txt"))
	_, err := w.pool.Tasks.Push(a, w.main(), tools.Task{Name: "kid", Prompt: "go too", Start: true})
	check(t, err)
	w.settle()
	for _, name := range []string{"main", "kid"} {
		for _, got := range w.saw(name) {
			if !strings.Contains(got, "X=a") || strings.Count(got, "[redacted: WORK_LLM]") < 2 || strings.Contains(got, "COPY") ||
				strings.Contains(got, "WORK_LLM=") || strings.Contains(got, "MY_TOKEN") {
				t.Errorf("a command of %s sees %q", name, got)
			}
		}
	}
	for _, e := range feed.Take() {
		if c, ok := e.(event.Changed); ok {
			c.Prompts = nil // the screen withholds there
			e = c
		}
		if s := fmt.Sprintf("%+v", e); strings.Contains(s, canary) || strings.Contains(s, second) || strings.Contains(s, "MY_TOKEN") {
			t.Errorf("an event holds it: %s", s)
		}
	}
	w.close()
	seen := 0
	check(t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "keys.txt" {
			return err
		}
		b, err := os.ReadFile(path)
		seen += bytes.Count(b, []byte("[redacted: WORK_LLM]"))
		for _, s := range []string{canary, first, second, "MY_TOKEN", "COPY="} {
			if bytes.Contains(b, []byte(s)) {
				t.Errorf("%s holds %q", d.Name(), s)
			}
		}
		return err
	}))
	if seen < 8 {
		t.Errorf("only %d marks: what is kept was not looked into", seen)
	}
}
