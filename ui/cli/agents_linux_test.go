package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// A shell lists the agents, tells them what to do as a human does, and ends them; an agent's own command only looks.
func TestAgentsFromAShell(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, errs, code := s.run(t, "", "agents"); code != nothing || out != "" {
		t.Errorf("where nobody was: exit code %d, output %q, errors %q", code, out, errs)
	}
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	c.typed(t, "/push name=job run touch begun; sleep 600\r")
	c.until(t, "Queued job")
	c.typed(t, "/push name=ears run touch here; until test -e go; do sleep .05; done\r")
	c.until(t, "Queued ears")
	c.typed(t, "/run\r")
	s.exists(t, "begun")
	s.exists(t, "here")
	out, errs, code := s.run(t, "", "agents", "--json")
	states := map[string]string{}
	for line := range strings.Lines(out) {
		var a struct{ Name, State, Kind string }
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		states[a.Name] = a.Kind + " " + a.State
	}
	if code != ok || states["job"] != "sub running" || states["ears"] != "sub running" || states["main"] != "main idle" {
		t.Errorf("exit code %d, agents %v, errors %q", code, states, errs)
	}
	if out, _, _ := s.run(t, "", "agents"); !strings.Contains(out, "touch begun") || !strings.Contains(out, "running") {
		t.Errorf("they are listed as %q", out)
	}

	followed := s.command("agents", "logs", "ears", "--follow")
	var log strings.Builder
	followed.Stdout = &log
	if err := followed.Start(); err != nil {
		t.Fatal(err)
	}
	out, errs, code = s.run(t, "say from standard input\n", "agents", "tell", "ears")
	if code != ok || !strings.Contains(out, "at its next step") {
		t.Errorf("told: exit code %d, output %q, errors %q", code, out, errs)
	}
	c.typed(t, "!touch go\r")
	c.until(t, "1 pending")
	if out, _, _ := s.run(t, "", "inbox", "--json"); !strings.Contains(out, "from standard input") {
		t.Errorf("its result says nothing of what it was told: %s", out)
	}
	if err := followed.Wait(); err != nil { // it ends with the agent
		t.Error(err)
	}
	if all := log.String(); strings.Count(all, "› run touch here") != 1 || strings.Count(all, "› say from standard input") != 1 ||
		strings.Count(all, "● bash") != 1 || !strings.Contains(all, "\nfrom standard input\n") {
		t.Errorf("its log is %q", all)
	}
	if out, _, code := s.run(t, "", "agents", "logs", "ears", "--json"); code != ok || !strings.Contains(out, `"kind":"prompt"`) || !strings.Contains(out, `"tool":"bash"`) {
		t.Errorf("as JSON, exit code %d: %s", code, out)
	}
	if out, errs, code := s.run(t, "", "agents", "kill", "job"); code != ok {
		t.Errorf("killed: exit code %d, output %q, errors %q", code, out, errs)
	}
	c.until(t, "2 pending")
	for _, e := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"agents", "kill", "job"}, "has ended already", failed},
		{[]string{"agents", "tell", "job", "x"}, "fantail agents respawn job to run its task again, or type /resume job on a screen", failed},
		{[]string{"agents", "tell", "nobody", "x"}, "no such agent", failed},
		{[]string{"agents", "tel", "x"}, "tell", usage},
		{[]string{"agents", "kill"}, "whom", usage},
		{[]string{"agents", "logs"}, "takes one name", usage},
		{[]string{"agents", "logs", "nobody"}, "no such agent", failed},
		{[]string{"agents", "--follow"}, "goes with logs", usage},
	} {
		if _, errs, code := s.run(t, "", e.args...); code != e.code || !strings.Contains(errs, e.want) {
			t.Errorf("%q: exit code %d, errors %q", e.args, code, errs)
		}
	}
	// What an agent's command asks for is seen to come from there.
	c.typed(t, "run "+s.typed()+" agents tell main 'say forged' 2>&1; "+s.typed()+" agents > listed\r")
	s.exists(t, "listed")
	c.until(t, "this is the human")

	// A host that was killed leaves rows that say more than is so.
	c.typed(t, "run touch again; sleep 600\r")
	s.exists(t, "again")
	s.killsHost(t)
	c.exited(t)
	if _, errs, code := s.run(t, "", "agents"); code != ok || !strings.Contains(errs, "no host runs here") {
		t.Errorf("after a kill: exit code %d, errors %q", code, errs)
	}
}

// Without a host nobody can be told anything, and nothing is started to do so.
func TestAgentsWithoutAHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, errs, code := s.run(t, "", "send", "main", "makes the workspace"); code != ok {
		t.Fatal(errs)
	}
	if out, errs, code := s.run(t, "", "agents"); code != ok || !strings.Contains(out, "main") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	if _, errs, code := s.run(t, "", "agents", "tell", "main", "x"); code != failed || !strings.Contains(errs, "no host runs here") {
		t.Errorf("exit code %d, errors %q", code, errs)
	}
	if hosts := s.hosts(); len(hosts) > 0 {
		t.Errorf("hosts %d were started", hosts)
	}
}
