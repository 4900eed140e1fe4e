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
	s.Env = append(s.Env, "PATH="+os.Getenv("PATH"), "X=host")
	w := open(t, m, s)
	w.Main()
	return w
}

// saw lists what the agent's commands printed, in order.
func (w *world) saw(name string) (all []string) {
	w.T.Helper()
	i := slices.IndexFunc(w.Pool.Infos(), func(i event.Info) bool { return i.Name == name })
	if i < 0 {
		w.T.Fatalf("there is no %s", name)
	}
	for _, e := range w.Entries(name) {
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
	w.T.Helper()
	w.Settle()
	if all := w.saw(name); len(all) == 0 || all[len(all)-1] != want {
		w.T.Errorf("the commands of %s printed %q, want %q at the end", name, all, want)
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
		check(t, w.Pool.Prompt(c.ctx, w.Main(), c.prompt))
		w.Settle()
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
	m.Reply = func(context.Context, *llm.Request) ([]llm.Part, error) {
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
	check(t, w.Pool.Prompt(at(t.Context(), "a", -1), w.Main(), "go"))
	<-begun
	check(t, w.Pool.Prompt(at(t.Context(), "taken back", -1), w.Main(), "no"))
	w.Until("it is queued", func() bool { return len(w.Info("main").Prompts) == 1 })
	_, err := w.Pool.Unprompt(t.Context(), w.Info("main").Prompts[0].ID)
	check(t, err)
	check(t, w.Pool.Prompt(at(t.Context(), "b", -1), w.Main(), "and this"))
	close(goes)
	w.Settle()
	if got := w.saw("main"); !slices.Equal(got, []string{"a", "a", "b"}) {
		t.Errorf("%q", got)
	}
}

// A task runs where it was asked for, whoever lets it start; what an agent dispatches runs where the agent does.
func TestEnvironment_ofTasks(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	a, b := at(t.Context(), "a", 0o027), at(t.Context(), "b", 0o077)
	push := func(ctx context.Context, name, prompt string) {
		_, err := w.Pool.Tasks.Push(ctx, w.Main(), tools.Task{Name: name, Prompt: prompt})
		check(t, err)
	}
	push(t.Context(), "early", sayX)
	check(t, w.Pool.Prompt(a, w.Main(), "delegate grown: delegate young: run echo $X $(umask)\npush later: "+sayX))
	w.Settle()
	push(b, "pushed", sayX)
	push(b, "plain", "!echo $X $(umask)")
	push(b, "above", "delegate below: "+sayX)
	_, err := w.Pool.Run(a, w.Main(), tools.Start{})
	check(t, err)
	for name, want := range map[string]string{
		"young": "a 0027", "later": "a", "pushed": "b", "plain": "b 0077", "below": "b", "early": "host",
	} {
		w.sees(name, want)
	}
	row, _, err := w.Pool.Tasks.Retry(a, w.Main(), "pushed", "")
	check(t, err)
	w.Run(0)
	w.sees(row.Name, "a")
	_, _, err = w.Pool.Resume(b, w.Main(), "later", "run echo again $X")
	check(t, err)
	w.sees("later", "again b")
	check(t, w.Pool.Prompt(t.Context(), w.Main(), sayX))
	w.sees("main", "a") // none of this moved main
}

// The command a human types runs at their screen, and moves nobody.
func TestEnvironment_ofAShellCommand(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	check(t, w.Pool.Prompt(at(t.Context(), "a", -1), w.Main(), sayX))
	w.Settle()
	check(t, w.Pool.Shell(at(t.Context(), "b", 0o077), w.Main(), "echo $X $(umask)"))
	w.sees("main", "b 0077")
	check(t, w.Pool.Shell(t.Context(), w.Main(), "echo $X"))
	w.sees("main", "host")
	check(t, w.Pool.Prompt(t.Context(), w.Main(), sayX))
	w.sees("main", "a")
}

// echoing runs `echo $X` once in each turn, whatever began it.
func echoing() *model {
	return &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
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
	t.Parallel()
	w := hosted(t, echoing(), setting{})
	a, b := at(t.Context(), "a", -1), at(t.Context(), "b", -1)
	check(t, w.Pool.Prompt(a, w.Main(), "go"))
	w.sees("main", "a")
	w.drop("main", "one", inbox.Wake)
	w.Until("it has woken", func() bool { return len(w.saw("main")) == 2 })
	w.sees("main", "a")
	w.drop("main", "two", inbox.Hold)
	_, _, err := w.Pool.Pickup.Next(b, w.Main(), 0)
	check(t, err)
	w.sees("main", "b")
	w.drop("main", "three", inbox.Hold)
	_, _, err = w.Pool.Pickup.Fire(a, w.Main(), "see to it")
	check(t, err)
	w.sees("main", "a")
	w.drop("main", "four", inbox.Hold)
	_, _, err = w.Pool.Pickup.Fire(t.Context(), w.Main(), "")
	check(t, err)
	w.sees("main", "a")
	if n := len(w.saw("main")); n != 5 {
		t.Errorf("%d turns ran a command, want 5", n)
	}
}

// A helper runs where it was opened, before anybody has typed anything to it.
func TestEnvironment_ofAHelper(t *testing.T) {
	t.Parallel()
	w := hosted(t, echoing(), setting{})
	check(t, w.Pool.Prompt(at(t.Context(), "a", -1), w.Main(), "go"))
	w.Settle()
	_, err := w.Pool.NewHelper(at(t.Context(), "b", -1), "mate", "")
	check(t, err)
	w.State("mate", event.Idle)
	w.drop("mate", "hello", inbox.Wake)
	w.Until("it has woken", func() bool { return len(w.saw("mate")) == 1 })
	w.sees("mate", "b")
	check(t, w.Pool.CloseHelper(t.Context(), "mate", true))
	_, _, err = w.Pool.Resume(at(t.Context(), "c", -1), w.Main(), "mate", "go on")
	check(t, err)
	w.Until("it goes on", func() bool { return len(w.saw("mate")) == 2 })
	w.sees("mate", "c")
}

// Who is not attended, or works for somebody outside, gets no more of a screen's environment than of the program's own.
func TestEnvironment_ofTheUnattended(t *testing.T) {
	w := hosted(t, builtin.New(), setting{})
	there := at(t.Context(), "a", -1, "LC_ALL=C", "SSH_AUTH_SOCK=/s")
	c := w.Unattended(there, agents.Unattended{})
	check(t, c.Prompt(there, "run echo $LC_ALL-$X-$SSH_AUTH_SOCK-"))
	w.sees(c.Info.Name, "C---")

	w = hosted(t, builtin.New(), setting{Env: []string{"LC_ALL=POSIX", "SSH_AUTH_SOCK=/s"}})
	if e := w.outside("push", "outer", "run echo $LC_ALL-$X-$SSH_AUTH_SOCK-"); e != "" {
		t.Fatal(e)
	}
	for range 2 { // shown, and started
		_, err := w.Pool.Run(at(t.Context(), "a", -1, "LC_ALL=C", "SSH_AUTH_SOCK=/s"), w.Main(), tools.Start{})
		check(t, err)
	}
	w.Until("it asks", func() bool { return w.Info("outer").Question != nil })
	w.Answer(w.Info("outer").Question.ID, "once")
	w.sees("outer", "POSIX---")
}

// After a restart nobody's environment is known: what was pushed before runs with the program's own.
func TestEnvironment_isForgottenAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	w := hosted(t, builtin.New(), setting{Dir: dir})
	_, err := w.Pool.Tasks.Push(at(t.Context(), "a", -1), w.Main(), tools.Task{Name: "kept", Prompt: sayX})
	check(t, err)
	w.Close()
	w = hosted(t, builtin.New(), setting{Dir: dir})
	w.Consent(0)
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
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call(fmt.Sprintf("c%d", len(req.Messages)), "bash", `{"command":"env; cat keys.txt; cat keys.txt | base64 -w 20"}`), nil
		}
		return text("they are " + first + " and " + second), nil
	}}
	w := hosted(t, m, setting{Keys: keys, Env: []string{"COPY=" + second}})
	check(t, os.WriteFile(filepath.Join(w.Dir, "keys.txt"), []byte(first+"\n"+second+"\n"), 0o600))
	feed, _ := w.Pool.Subscribe()
	defer feed.Close()
	a := at(t.Context(), "a", 0o027, "COPY="+second, "WORK_LLM="+second, "MY_TOKEN="+canary)
	keys.Add(holds(second))
	check(t, w.Pool.Prompt(a, w.Main(), "go with "+second))
	w.Settle()
	check(t, w.Pool.Shell(a, w.Main(), "env; cat keys.txt"))
	_, err := w.Pool.Tasks.Push(a, w.Main(), tools.Task{Name: "kid", Prompt: "go too", Start: true})
	check(t, err)
	w.Settle()
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
	w.Close()
	seen := 0
	check(t, filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
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
