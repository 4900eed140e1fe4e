package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store/config"
	"fantail/tools"
	"fantail/tools/permission"
)

// room returns the hooks of a workspace with those settings, and the workspace.
func runner(t *testing.T, settings string, own map[string][]config.HookGroup) (*Runner, string) {
	t.Helper()
	root := t.TempDir()
	if settings != "" {
		check(t, os.Mkdir(filepath.Join(root, ".claude"), 0o700))
		check(t, os.WriteFile(filepath.Join(root, ".claude", "settings.json"), []byte(settings), 0o600))
	}
	brought, err := OpenTrust(root, t.TempDir())
	check(t, err)
	r := New(Settings{Root: root, Trust: brought, Config: func() map[string][]config.HookGroup { return own }})
	r.Begin(Options{Now: time.Now, Ground: ProgramOptions{Root: r.o.Root, Environ: os.Environ(), Go: func(_ string, f func()) { go f() }}})
	return r, root
}

// one returns the configuration of one hook.
func one(e Event, command string) map[string][]config.HookGroup {
	return map[string][]config.HookGroup{string(e): {{Hooks: []config.HookRow{{Command: command}}}}}
}

var me = Who{Info: event.Info{ID: 3, Name: "main", Kind: event.Main}, Turn: 5}

var bashCall = history.Call{ID: "c1", Name: "bash", Args: json.RawMessage(`{"command":"rm x"}`)}

func verdict(d permission.Decision) permission.Verdict { return permission.Verdict{Decision: d} }

// A hook reads the event, in Claude Code's format.
func TestFire_input(t *testing.T) {
	r, root := runner(t, "", one(PreToolUse, `cat > "$CLAUDE_PROJECT_DIR/in.json"; pwd > where; test "$FANTAIL_PROJECT_DIR" = "$CLAUDE_PROJECT_DIR"`))
	c := history.Call{ID: "c", Name: "edit_file", Args: json.RawMessage(`{"path":"a.go","edits":[{"old":"x","new":"y"}]}`)}
	if v := r.Before(t.Context(), me, c, permission.Action{}, verdict(permission.AskHuman), nil); v.Decision != permission.AskHuman {
		t.Errorf("%+v", v)
	}
	data, err := os.ReadFile(filepath.Join(root, "in.json"))
	check(t, err)
	var in struct {
		Event string `json:"hook_event_name"`
		ID    string `json:"session_id"`
		Cwd   string `json:"cwd"`
		Tool  string `json:"tool_name"`
		Input struct {
			Path string `json:"file_path"`
			Old  string `json:"old_string"`
			New  string `json:"new_string"`
		} `json:"tool_input"`
	}
	check(t, json.Unmarshal(data, &in))
	if in.Event != "PreToolUse" || in.ID != "3" || in.Cwd != root || in.Tool != "Edit" || in.Input.Path != filepath.Join(root, "a.go") || in.Input.Old != "x" || in.Input.New != "y" {
		t.Errorf("%s", data)
	}
	lines, _, _ := r.List()
	if len(lines) != 1 || lines[0].Last.Exit != 0 || lines[0].Last.At.IsZero() {
		t.Errorf("%+v", lines)
	}
}

// The answers of hooks make a call's verdict stricter; only a user's own hook can allow what would merely ask.
func TestBefore(t *testing.T) {
	for _, c := range []struct {
		command string
		was     permission.Decision
		act     permission.Action
		want    permission.Decision
		reason  string
	}{
		{"exit 0", permission.Allow, permission.Action{}, permission.Allow, ""},
		{"exit 0", permission.AskHuman, permission.Action{}, permission.AskHuman, ""},
		{"echo no rm >&2; exit 2", permission.Allow, permission.Action{}, permission.Deny, "no rm"},
		{"exit 1", permission.Allow, permission.Action{}, permission.Allow, ""},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"because"}}'`, permission.Allow, permission.Action{}, permission.Deny, "because"},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'`, permission.Allow, permission.Action{}, permission.AskHuman, "sure?"},
		{`echo '{"decision":"block","reason":"old form"}'`, permission.Allow, permission.Action{}, permission.Deny, "old form"},
		{`echo '{"continue":false,"stopReason":"enough"}'`, permission.Allow, permission.Action{}, permission.Deny, "enough"},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, permission.AskHuman, permission.Action{}, permission.Allow, ""},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, permission.Deny, permission.Action{}, permission.Deny, ""},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, permission.AskHuman, permission.Action{Guarded: true}, permission.AskHuman, ""},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, permission.AskHuman, permission.Action{Strict: true}, permission.AskHuman, ""},
		{`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, permission.AskHuman, permission.Action{Sensitive: "keys"}, permission.AskHuman, ""},
		{`echo '{broken'`, permission.Allow, permission.Action{}, permission.Allow, ""},
	} {
		r, _ := runner(t, "", one(PreToolUse, c.command))
		v := r.Before(t.Context(), me, bashCall, c.act, verdict(c.was), nil)
		if v.Decision != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s on %s: %+v", c.command, c.was, v)
		}
	}
}

// A repository's hook never allows anything, and does not run before the user agrees, nor after it or its script
// changed.
func TestTrust(t *testing.T) {
	allows := `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./h.sh"}]}]}}`
	r, root := runner(t, allows, nil)
	script := func(text string) {
		check(t, os.WriteFile(filepath.Join(root, "h.sh"), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	before := func(was permission.Decision) permission.Decision {
		return r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(was), nil).Decision
	}
	agree := func() {
		t.Helper()
		for _, v := range r.o.Trust.Review() {
			check(t, r.o.Trust.Agree(v.TrustSnapshot))
		}
	}
	script("touch ran; exit 2")
	if d := before(permission.Allow); d != permission.Allow {
		t.Errorf("untrusted, it decides: %s", d)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("untrusted, it ran")
	}
	if lines, _, _ := r.List(); lines[0].Standing != NewTrust || !lines[0].Last.Withheld {
		t.Errorf("%+v", lines[0])
	}
	agree()
	if d := before(permission.Allow); d != permission.Deny {
		t.Errorf("trusted: %s", d)
	}
	script(`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`)
	check(t, os.Remove(filepath.Join(root, "ran")))
	if d := before(permission.AskHuman); d != permission.AskHuman {
		t.Errorf("changed, it decides: %s", d)
	}
	if lines, _, _ := r.List(); lines[0].Standing != Changed || !lines[0].Last.Withheld {
		t.Errorf("%+v", lines[0])
	}
	agree()
	if d := before(permission.AskHuman); d != permission.AskHuman {
		t.Errorf("a repository's hook allows: %s", d)
	}
	if lines, _, _ := r.List(); lines[0].Last.Withheld || lines[0].Last.Exit != 0 {
		t.Errorf("it did not run: %+v", lines[0])
	}
	// Another branch has other settings: their present state counts, and asks.
	check(t, os.WriteFile(filepath.Join(root, ".claude", "settings.json"), []byte(strings.Replace(allows, "./h.sh", "touch ran2; ./h.sh", 1)), 0o600))
	before(permission.Allow)
	if _, err := os.Stat(filepath.Join(root, "ran2")); err == nil {
		t.Error("a changed command ran")
	}
	if all := r.o.Trust.Review(); len(all) != 1 || all[0].Standing != Changed || !strings.Contains(all[0].Diff, "ran2") {
		t.Errorf("%+v", all)
	}
	check(t, os.WriteFile(filepath.Join(root, ".claude", "settings.json"), []byte(allows+" "), 0o600))
	if all := r.o.Trust.Review(); all[0].Standing != Agreed {
		t.Errorf("back on the branch: %v", all[0].Standing)
	}
}

// A hook that never ends is ended after its time, with all that it started, and decides nothing; so is one whose call
// is stopped.
func TestRun_neverEnds(t *testing.T) {
	own := one(PreToolUse, `trap "" TERM; sleep 1000 & echo $! > pid; wait`)
	own["PreToolUse"][0].Hooks[0].Timeout = 0.3
	r, root := runner(t, "", own)
	if v := r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.Allow), nil); v.Decision != permission.Allow {
		t.Errorf("%+v", v)
	}
	lines, _, _ := r.List()
	if !lines[0].Last.TimedOut || !strings.Contains(lines[0].Last.failed(lines[0].Hook), "did not end within 300ms") {
		t.Errorf("%+v", lines[0].Last)
	}
	gone(t, filepath.Join(root, "pid"))

	own["PreToolUse"][0].Hooks[0] = config.HookRow{Command: "echo $$ > pid2; exec sleep 1000"}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if b, err := os.ReadFile(filepath.Join(root, "pid2")); err == nil && len(b) > 0 {
				cancel()
			}
		}
	}()
	r.Before(ctx, me, bashCall, permission.Action{}, verdict(permission.Allow), nil)
	gone(t, filepath.Join(root, "pid2"))
}

// gone checks that the process whose number a file holds has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	check(t, err)
	var pid int
	check(t, json.Unmarshal([]byte(strings.TrimSpace(string(b))), &pid))
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		if stat, e := os.ReadFile("/proc/" + strings.TrimSpace(string(b)) + "/stat"); e == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("process %d lives: %v", pid, err)
		}
	}
}

// A hook that writes without end, or does not read its input, does no harm.
func TestRun_floods(t *testing.T) {
	own := one(PostToolUse, `head -c 20000000 /dev/zero | tr '\0' x; head -c 20000000 /dev/zero | tr '\0' y >&2; exit 2`)
	r, _ := runner(t, "", own)
	res := r.After(t.Context(), me, bashCall, tools.Result{Text: "out\n" + strings.Repeat("z", 1<<20)})
	if n := len(res.Text); n > 1<<20+maxSaid+1000 || !strings.Contains(res.Text, "yyy") {
		t.Errorf("%d bytes", n)
	}
	own["PostToolUse"][0].Hooks[0].Command = "exec <&-; sleep 0.1; echo '{\"hookSpecificOutput\":{\"additionalContext\":\"mind this\"}}'"
	res = r.After(t.Context(), me, bashCall, tools.Result{Text: strings.Repeat("z", 1<<20)})
	if !strings.HasSuffix(res.Text, "[mind this]") {
		t.Errorf("%.200s", res.Text[len(res.Text)-200:])
	}
	own["PostToolUse"][0].Hooks[0].Command = "sleep 1000 & echo $! > left; exit 0" // it leaves a process running
	r.After(t.Context(), me, bashCall, tools.Result{})
	gone(t, filepath.Join(r.o.Root, "left"))
}

// A hook's text before a call reaches the model with the call's result.
func TestAfter_contextOfBefore(t *testing.T) {
	r, _ := runner(t, "", one(PreToolUse, `echo '{"hookSpecificOutput":{"additionalContext":"first this"}}'`))
	r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.Allow), nil)
	if res := r.After(t.Context(), me, bashCall, tools.Result{Text: "out"}); res.Text != "out\n[first this]" {
		t.Errorf("%q", res.Text)
	}
	if res := r.After(t.Context(), me, bashCall, tools.Result{Text: "out"}); res.Text != "out" {
		t.Errorf("twice: %q", res.Text)
	}
}

// Hooks stop a turn from ending at most three times, counted for each turn.
func TestHolds(t *testing.T) {
	r, root := runner(t, "", one(Stop, "cat >> in; echo >> in; echo not yet >&2; exit 2"))
	for n := range MaxForced + 2 {
		if holds := r.Holds(t.Context(), me); holds != (n < MaxForced) {
			t.Errorf("at %d: %v", n, holds)
		}
	}
	next := me
	next.Turn++
	if !r.Holds(t.Context(), next) {
		t.Error("the next turn is not held")
	}
	data, err := os.ReadFile(filepath.Join(root, "in"))
	check(t, err)
	lines := strings.Split(string(data), "\n")
	if !strings.Contains(lines[0], `"stop_hook_active":false`) || !strings.Contains(lines[1], `"stop_hook_active":true`) {
		t.Errorf("%s", data)
	}
	sub := me
	sub.Kind = event.Sub
	if r.Holds(t.Context(), sub) {
		t.Error("a hook for Stop holds a sub-agent")
	}
	vendors := next
	vendors.Turn, vendors.Model = 99, tools.VendorModel("claude")
	if r.Holds(t.Context(), vendors) {
		t.Error("a vendor's turn is held")
	}
}

// Without hooks, and with a nil Runner, nothing happens.
func TestNothing(t *testing.T) {
	var none *Runner
	empty, _ := runner(t, "", nil)
	for _, r := range []*Runner{none, empty, New(Settings{Root: t.TempDir()})} {
		v := r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.AskHuman), nil)
		res := r.After(t.Context(), me, bashCall, tools.Result{Text: "x"})
		if v != verdict(permission.AskHuman) || res.Text != "x" || r.Holds(t.Context(), me) || r.Screen(t.Context(), me) != nil || r.Compacts(t.Context(), me, Auto, "") != nil {
			t.Errorf("%+v %+v", v, res)
		}
		r.TaskEnded(1)
	}
}

// The user's own settings switch all hooks off, and are read again only when they change.
func TestRoom_homesSettings(t *testing.T) {
	home := t.TempDir()
	check(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	file := filepath.Join(home, ".claude", "settings.json")
	check(t, os.WriteFile(file, []byte(`{"env":{"A":"b"},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"exit 2"}]}]}}`), 0o600))
	r := New(Settings{Root: t.TempDir(), Home: home})
	r.Begin(Options{Now: time.Now, Ground: ProgramOptions{Root: r.o.Root, Environ: os.Environ(), Go: func(_ string, f func()) { go f() }}})
	if v := r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.Allow), nil); v.Decision != permission.Deny {
		t.Errorf("%+v", v)
	}
	if v := r.Before(t.Context(), me, history.Call{Name: "read_file", Args: []byte("{}")}, permission.Action{}, verdict(permission.Allow), nil); v.Decision != permission.Allow {
		t.Errorf("another tool: %+v", v)
	}
	lines, faults, ignored := r.List()
	if len(lines) != 1 || !lines[0].Source.Own || len(faults)+len(ignored) != 0 {
		t.Errorf("%+v %v %v", lines, faults, ignored)
	}
	check(t, os.WriteFile(file, []byte(`{"disableAllHooks":true}`), 0o600))
	if v := r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.Allow), nil); v.Decision != permission.Allow {
		t.Errorf("switched off: %+v", v)
	}
}

// BenchmarkNothing is the cost of each seam without hooks.
func BenchmarkNothing(b *testing.B) {
	r := New(Settings{Root: b.TempDir(), Home: b.TempDir()})
	r.Begin(Options{Now: time.Now})
	for b.Loop() {
		r.Before(b.Context(), me, bashCall, permission.Action{}, verdict(permission.Allow), nil)
	}
}

// BenchmarkTrusted is the cost of finding out whether a hook may run.
func BenchmarkTrusted(b *testing.B) {
	root := b.TempDir()
	_ = os.Mkdir(filepath.Join(root, ".claude"), 0o700)
	_ = os.WriteFile(filepath.Join(root, "h.sh"), []byte(strings.Repeat("# a line\n", 1000)), 0o700)
	_ = os.WriteFile(filepath.Join(root, ".claude", "settings.json"), []byte(`{"hooks":{"PreToolUse":[{"hooks":[{"command":"./h.sh"}]}]}}`), 0o600)
	brought, err := OpenTrust(root, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := New(Settings{Root: root, Trust: brought})
	for _, v := range brought.Review() {
		if err := r.o.Trust.Agree(v.TrustSnapshot); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if len(r.wanted(me, PreToolUse, "Bash")) != 1 {
			b.Fatal("it may not run")
		}
	}
}

// Arguments that a hook changed are judged as if the model had sent them, and the model is told.
func TestBefore_updatedInput(t *testing.T) {
	r, root := runner(t, "", one(PreToolUse, `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls"}}}'`))
	for _, c := range []struct {
		judged permission.Verdict
		err    error
		want   permission.Decision
	}{
		{verdict(permission.Deny), nil, permission.Deny},
		{verdict(permission.AskHuman), nil, permission.Allow}, // the user's own hook says so
		{permission.Verdict{Decision: permission.AskHuman, Guarded: true}, nil, permission.AskHuman},
		{permission.Verdict{Decision: permission.AskHuman, Asked: true}, nil, permission.AskHuman},
		{permission.Verdict{}, errors.New("no such argument"), permission.Deny},
	} {
		said := ""
		v := r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.Allow), func(args json.RawMessage) (permission.Action, permission.Verdict, error) {
			said = string(args)
			return permission.Action{}, c.judged, c.err
		})
		if said != `{"command":"ls"}` || v.Decision != c.want {
			t.Errorf("%+v: judged %s, and it is %+v", c, said, v)
		}
		res := r.After(t.Context(), me, bashCall, tools.Result{Text: "x"})
		if told := strings.Contains(res.Text, `carried out with {"command":"ls"}`); told != (c.want != permission.Deny) {
			t.Errorf("%+v: the model is told %q", c, res.Text)
		}
	}
	for tool, args := range map[string]string{
		"bash": `{"command":"ls","timeout":3}`, "write_file": `{"content":"x","path":"` + root + `/a"}`, "glob": `{"path":"` + root + `/a","pattern":"*"}`,
		"edit_file": `{"edits":[{"new":"y","old":"x","replace_all":false},{"new":"z","old":"y","replace_all":true}],"path":"` + root + `/a"}`,
	} {
		in, err := json.Marshal(toolInput(root, tool, json.RawMessage(args)))
		check(t, err)
		if back, err := ourArgs(tool, in); err != nil || string(back) != args {
			t.Errorf("%s: %s became %s (%v)", args, in, back, err)
		}
	}
	if back, err := ourArgs("edit_file", []byte(`{"file_path":"/a","old_string":"x","new_string":"new"}`)); err != nil || string(back) != `{"edits":[{"new":"new","old":"x","replace_all":false}],"path":"/a"}` {
		t.Errorf("%s %v", back, err)
	}
	if _, err := ourArgs("edit_file", []byte(`{"edits":[7]}`)); err != nil {
		t.Error(err)
	}
}

// TestBefore_whatRuns: an allow counts only for the arguments that its hook saw, a denial for the final ones, and a
// repository's hook changes nothing.
func TestBefore_whatRuns(t *testing.T) {
	const (
		says    = `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`
		toLs    = `echo '{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}'`
		toLsYes = `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls"}}}'`
		toRm    = `echo '{"hookSpecificOutput":{"updatedInput":{"command":"rm -r y"}}}'`
		noLs    = `if grep -q '"command":"ls"'; then echo never ls >&2; exit 2; fi`
		onlyRm  = `if grep -q '"command":"rm x"'; then ` + says + `; fi`
	)
	for name, c := range map[string]struct {
		own, repository []string
		want            permission.Decision
		runs            string
	}{
		"allowed, then changed":           {[]string{onlyRm, toLs}, nil, permission.AskHuman, "ls"},
		"allowed both":                    {[]string{says, toLs}, nil, permission.Allow, "ls"},
		"allowed what it wrote":           {[]string{toLsYes}, nil, permission.Allow, "ls"},
		"allowed what another changed":    {[]string{toLsYes, toRm}, nil, permission.AskHuman, "rm -r y"},
		"changed, then allowed":           {[]string{toLs, says}, nil, permission.Allow, "ls"},
		"changed, then refused":           {[]string{toLs, noLs}, nil, permission.Deny, ""},
		"would be refused as it will run": {[]string{noLs, toLs}, nil, permission.Deny, ""},
		"changed by the repository":       {[]string{says}, []string{toRm}, permission.Allow, "rm x"},
		"allowed by the repository":       {nil, []string{toLsYes}, permission.AskHuman, "rm x"},
		"the repository refuses":          {[]string{toLsYes}, []string{noLs}, permission.Deny, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups := func(commands []string) (all []config.HookGroup) {
				for _, text := range commands {
					all = append(all, config.HookGroup{Hooks: []config.HookRow{{Type: "command", Command: text}}})
				}
				return all
			}
			settings := ""
			if c.repository != nil {
				type hook struct {
					Type    string `json:"type"`
					Command string `json:"command"`
				}
				var all []map[string][]hook
				for _, text := range c.repository {
					all = append(all, map[string][]hook{"hooks": {{"command", text}}})
				}
				data, err := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": all}})
				check(t, err)
				settings = string(data)
			}
			r, _ := runner(t, settings, map[string][]config.HookGroup{string(PreToolUse): groups(c.own)})
			for _, v := range r.o.Trust.Review() {
				check(t, r.o.Trust.Agree(v.TrustSnapshot))
			}
			runs := "rm x"
			v := r.Before(t.Context(), me, bashCall, permission.Action{}, verdict(permission.AskHuman), func(args json.RawMessage) (permission.Action, permission.Verdict, error) {
				var in struct{ Command string }
				check(t, json.Unmarshal(args, &in))
				runs = in.Command
				return permission.Action{}, verdict(permission.AskHuman), nil
			})
			if v.Decision != c.want || c.want != permission.Deny && runs != c.runs {
				t.Errorf("%+v, and %q would run", v, runs)
			}
		})
	}
}

// A hook that says to stop stops the turn that it runs in, once; one at the turn's end lets it end.
func TestHalted(t *testing.T) {
	stop := `echo '{"continue":false,"stopReason":"enough"}'`
	r, _ := runner(t, "", one(PostToolUse, stop))
	r.After(t.Context(), me, bashCall, tools.Result{Text: "x"})
	other := me
	other.ID++
	if why := r.Halted(other); why != "" {
		t.Errorf("another agent is stopped: %s", why)
	}
	if why := r.Halted(me); !strings.Contains(why, "enough") || r.Halted(me) != "" {
		t.Errorf("%q, and then %q", why, r.Halted(me))
	}
	r.After(t.Context(), me, bashCall, tools.Result{Text: "x"})
	later := me
	later.Turn++
	if why := r.Halted(later); why != "" {
		t.Errorf("a later turn is stopped: %s", why)
	}
	r, _ = runner(t, "", one(Stop, stop))
	if r.Holds(t.Context(), me) || r.Halted(me) != "" {
		t.Error("a turn that may end is held, or stopped")
	}
}

// After /new a new session begins.
func TestBegins_cleared(t *testing.T) {
	r, root := runner(t, "", one(SessionStart, `cat | grep -o '"source":"[a-z]*"' >> said`))
	who := me
	r.Begins(t.Context(), who)
	who.Steps, who.Turn = 3, who.Turn+1
	r.Begins(t.Context(), who)
	r.Cleared(who.ID)
	who.Turn++
	r.Begins(t.Context(), who)
	r.Begins(t.Context(), who)
	who.Turn++
	r.Begins(t.Context(), who)
	if said, _ := os.ReadFile(filepath.Join(root, "said")); string(said) != "\"source\":\"startup\"\n\"source\":\"clear\"\n" {
		t.Errorf("%s", said)
	}
}

// Hooks are told once of an agent the human talks to that awaits input for a minute; not of one that works meanwhile,
// nor of one in the background.
func TestRested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, root := runner(t, "", one(Notification, `cat | grep -o '"agent":"[a-z]*"' >> said; cat`))
		f := follower{Runner: r, known: map[int64]event.Info{}, rests: map[int64]time.Time{}}
		goes := func(name string, kind event.Kind, id int64, to event.State) {
			is := event.Info{ID: id, Name: name, Kind: kind, State: to}
			was := f.known[id]
			f.known[id] = is
			f.changed(t.Context(), was, is)
		}
		for n, name := range []string{"main", "helper"} {
			goes(name, event.Helper, int64(n), event.Running)
			goes(name, event.Helper, int64(n), event.Idle)
		}
		goes("sub", event.Sub, 7, event.Running)
		goes("sub", event.Sub, 7, event.Idle)
		goes("helper", event.Helper, 1, event.Running)
		began := time.Now()
		late, stop := f.nextRest()
		<-late
		stop()
		f.rested(t.Context())
		if took := time.Since(began); took < restful || took > restful+time.Second {
			t.Errorf("told after %v", took)
		}
		if late, _ := f.nextRest(); late != nil {
			t.Error("it is told again")
		}
		if said, _ := os.ReadFile(filepath.Join(root, "said")); string(said) != "\"agent\":\"main\"\n" {
			t.Errorf("%s", said)
		}
	})
}

// A hook that refuses a server's tool matches any spelling of it; what it allows counts only for the tool of that
// exact name.
func TestBefore_spellings(t *testing.T) {
	call := history.Call{ID: "c", Name: "mcp__my_server-1234abcd__get_it", Args: json.RawMessage(`{}`)}
	act := permission.Action{Tool: call.Name, Server: "my  server", Calls: "get.it", Kind: permission.Foreign}
	for matcher, hears := range map[string]bool{
		"mcp__my_server-1234abcd__get_it": true, "mcp__my_server-.*": true, "mcp__my  server__get[.]it": true, "mcp__my__server__get_it": true, "mcp__my__server__.*": true,
		"mcp__my_server__get_it": false, "mcp__other__.*": false, "": true,
	} {
		for command, want := range map[string]permission.Decision{
			"echo no >&2; exit 2": permission.Deny, `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`: permission.Allow,
		} {
			rows := one(PreToolUse, command)
			rows[string(PreToolUse)][0].Matcher = matcher
			r, _ := runner(t, "", rows)
			if !hears || want == permission.Allow && !strings.Contains(matcher, "1234abcd") && !strings.Contains(matcher, "my_server-") && matcher != "" {
				want = permission.AskHuman
			}
			if v := r.Before(t.Context(), me, call, act, verdict(permission.AskHuman), nil); v.Decision != want {
				t.Errorf("%q, %s: %v, want %v", matcher, command, v.Decision, want)
			}
		}
	}
}
