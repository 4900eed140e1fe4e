package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/approval"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools/permission"
)

// what the database allows of what the human allowed: the rule for good, the check, the rule of a file and the mode.
func (w *world) allowed() (all string) {
	w.T.Helper()
	for _, e := range w.rules() {
		if e.Text == "bash(make kept)" || e.Offer != 0 && e.State == approval.Accepted {
			all += e.Text + " "
		}
	}
	_, err := w.Pool.Observe.Checks().Find(w.T.Context(), "test")
	if err == nil || !strings.Contains(err.Error(), "/confirm") && !strings.Contains(err.Error(), "no check") {
		all += "test " // nothing holds it here, and nothing else is wrong with it
	}
	c, err := agents.RememberedChoices(w.T.Context(), w.DB, tasks.LoadLastingSeal(w.Dir))
	check(w.T, err)
	return all + string(c.Mode)
}

func (w *world) rules() []approval.RuleEntry {
	all, _, _ := w.Pool.Permissions.List()
	return all
}

// TestSealed_allows: a row that another program wrote or changed allows nothing at the next start. A yes on what /confirm shows
// has it hold; a no takes it away.
func TestSealed_allows(t *testing.T) {
	const (
		whole     = "bash(make kept) Bash(make filed) test auto"
		untouched = "nobody wrote"
		lostKey   = "with a key that is lost"
	)
	lines := func() approval.RuleReading {
		r, err := permission.ParseToolRule("Bash(make filed)", permission.Places{Root: "/w"})
		check(t, err)
		return approval.RuleReading{Lines: []approval.RuleLine{{ToolRule: r, List: permission.AllowList, File: "f", From: "f:1:1", Project: true}}}
	}
	started := func(t *testing.T, dir string) *world {
		w := open(t, &model{}, setting{Dir: dir, Mode: permission.Ask})
		check(t, w.Pool.Permissions.Load(t.Context(), lines()))
		return w
	}
	for _, c := range []struct{ name, want, brief string }{
		{untouched, whole, ""},
		{"an older version's", "", "1 rule, 1 check, 1 list of accepted rules"},
		{lostKey, "", "1 rule, 1 check, 1 list of accepted rules"},
		{"another rule under the same seal", "Bash(make filed) test auto", "1 rule"},
		{"a copied rule", whole, "1 rule"},
		{"a rule without a seal", whole, "1 rule"},
		{"a rule that nobody can read", whole, "1 rule"},
		{"a rule of another time", "Bash(make filed) test auto", "1 rule"},
		{"another command", "bash(make kept) Bash(make filed) auto", "1 check"},
		{"a command that is none", "bash(make kept) Bash(make filed) auto", "1 check"},
		{"with the network", "bash(make kept) Bash(make filed) auto", "1 check"},
		{"a check without a seal", "bash(make kept) Bash(make filed) auto", "1 check"},
		{"a copied check", "bash(make kept) Bash(make filed) auto", "1 check"},
		{"other answers", "bash(make kept) test auto", "1 list of accepted rules"},
		{"answers that nobody can read", "bash(make kept) test auto", ""},
		{"answers without a seal", "bash(make kept) test auto", "1 list of accepted rules"},
		{"a mode without a seal", "bash(make kept) Bash(make filed) test ", ""},
		{"the answers' seal at the mode", "bash(make kept) Bash(make filed) test ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := started(t, t.TempDir())
			if is := w.Pool.Rows.Brief(t.Context()); is != "" {
				t.Errorf("a new workspace says %q", is)
			}
			seals := tasks.LoadLastingSeal(w.Dir)
			check(t, w.DB.Write(t.Context(), "test", func(tx *store.Tx) error {
				if err := store.AddGrant(tx, "bash(make kept)"); err != nil {
					return err
				}
				return seals.Seal(tx, store.GrantedRules, "bash(make kept)")
			}))
			_, err := w.Pool.Observe.Checks().Add(t.Context(), store.Check{Name: "test", Argv: []string{"make", "test"}})
			check(t, err)
			_, err = w.Pool.Permissions.Answer(t.Context(), 1, "", approval.Accepted)
			check(t, err)
			check(t, agents.RememberChoice(t.Context(), w.DB, seals, agents.Mode, string(permission.Auto)))
			if !slices.Contains([]string{untouched, lostKey}, c.name) {
				w.forge(c.name)
			}
			dir := w.Dir
			w.Close()
			if c.name == lostKey {
				check(t, os.Remove(filepath.Join(dir, tasks.KeyFile)))
			}
			w = started(t, dir)
			if got := w.allowed(); got != c.want {
				t.Errorf("it allows %q, want %q", got, c.want)
			}
			if got := w.Pool.Rows.Brief(t.Context()); !strings.HasPrefix(got, c.brief) || (got == "") != (c.brief == "") {
				t.Errorf("it says %q, want %q", got, c.brief)
			}
			wait, err := w.Pool.Rows.Waiting(t.Context())
			check(t, err)
			for _, r := range wait {
				answer := w.Pool.Rows.Confirm
				if r.Name == "bash(((" {
					if err := answer(t.Context(), r); err == nil {
						t.Error("a yes to a rule that nobody can read")
					}
					answer = w.Pool.Rows.Drop
				}
				check(t, answer(t.Context(), r))
			}
			if c.want == "" {
				if got := w.allowed(); got != strings.TrimSuffix(whole, "auto") {
					t.Errorf("after the yes it allows %q", got)
				}
			}
			after := w.allowed()
			w.Close()
			w = started(t, dir)
			if got := w.allowed(); got != after || w.Pool.Rows.Brief(t.Context()) != "" {
				t.Errorf("at the next start it allows %q, before %q, and says %q", got, after, w.Pool.Rows.Brief(t.Context()))
			}
		})
	}
}

// TestSealed_dropped: a no takes a rule, a check and answers away for good.
func TestSealed_dropped(t *testing.T) {
	w := open(t, &model{}, setting{Dir: t.TempDir(), Mode: permission.Ask})
	w.forge("a rule, a check and answers")
	wait, err := w.Pool.Rows.Waiting(t.Context())
	check(t, err)
	if len(wait) != 3 || !strings.Contains(wait[2].Says, "Bash(rm *), which f offers") || !strings.Contains(wait[1].Says, "make") {
		t.Fatalf("%+v", wait)
	}
	check(t, w.Pool.Rows.Drop(t.Context(), wait...))
	wait, err = w.Pool.Rows.Waiting(t.Context())
	check(t, err)
	if cs, err := w.Pool.Observe.Checks().List(t.Context()); err != nil || len(cs)+len(wait) != 0 || w.allowed() != "" {
		t.Errorf("%v, %v, %+v, %q", cs, err, wait, w.allowed())
	}
}

// TestSealed_noKey: a workspace opens whose key can't be used; nothing of the database allows anything then, new things are
// refused with the cause, and all is there once the key can be used.
func TestSealed_noKey(t *testing.T) {
	dir := t.TempDir()
	w := open(t, &model{}, setting{Dir: dir, Mode: permission.Ask})
	_, err := w.Pool.Observe.Checks().Add(t.Context(), store.Check{Name: "test", Argv: []string{"make", "test"}})
	check(t, err)
	w.Close()
	key := filepath.Join(dir, tasks.KeyFile)
	check(t, os.Chmod(key, 0o666))
	w = open(t, &model{}, setting{Dir: dir, Mode: permission.Ask})
	for what, err := range map[string]error{
		"run": func() error { _, err := w.Pool.Observe.Checks().Find(t.Context(), "test"); return err }(),
		"add": func() error {
			_, err := w.Pool.Observe.Checks().Add(t.Context(), store.Check{Name: "more", Argv: []string{"make", "test"}})
			return err
		}(),
		"ask": func() error { _, err := w.Pool.Rows.Waiting(t.Context()); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "0666") {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.Close()
	check(t, os.Chmod(key, 0o600))
	w = open(t, &model{}, setting{Dir: dir, Mode: permission.Ask})
	if got := w.allowed(); got != "test " {
		t.Errorf("repaired it allows %q", got)
	}
}
