package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/store/paths"
	"fantail/ui/attach"
	"fantail/ui/format"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// endsWithin limits how long a host may take to end.
const endsWithin = 10 * time.Second

// runHost runs fantail host, which is about the process that has the workspace's agents.
func runHost(e *Errand, c *caller) (int, error) {
	ctx, out := c.ctx, c.out
	at := workspace.Place{Screens: c.host}
	if c.hands == nil {
		var err error
		if at, err = workspace.Find(e.o.dir, c.env); err != nil {
			return 0, err
		}
	}
	what := "status"
	if len(e.words) > 0 {
		what = e.words[0]
	}
	known := []string{"status", "stop", "log", "install", "uninstall", "run"}
	switch {
	case len(e.words) > 1:
		return 0, shell.Misused("host: %q is not understood", e.words[1])
	case what != "stop" && e.o.wait:
		return 0, shell.Misused("host %s: --wait goes with stop", what)
	case e.o.now && !slices.Contains([]string{"stop", "install", "uninstall"}, what):
		return 0, shell.Misused("host %s: --now goes with stop, install and uninstall", what)
	case e.o.wait && e.o.now:
		return 0, shell.Misused("host stop: --wait and --now contradict each other: give one")
	}
	if c.hands != nil && what != "status" {
		return 0, ErrElsewhere
	}
	switch what {
	case "status":
		s, err := attach.Ask(ctx, at.Screens, attach.Tell)
		switch {
		case err != nil && c.hands != nil:
			return 0, ErrElsewhere
		case err != nil:
			return noHost(out, at, err)
		}
		return out.status(s)
	case "stop":
		return stopHost(ctx, e, out, at)
	case "log":
		return logOf(out, at)
	case "install":
		return install(ctx, e, out, at)
	case "uninstall":
		return uninstall(ctx, e, out, at)
	}
	return 0, shell.Misused("host: %q is not understood%s; there are: %s", what, shell.Meant(what, known), strings.Join(known, ", "))
}

// noHost reports that no host runs, or which process has the workspace instead.
func noHost(out *printed, at workspace.Place, err error) (int, error) {
	if !errors.Is(err, attach.ErrNoHost) {
		return 0, err
	}
	if held := workspace.Holder(at.Data); held != nil {
		return 0, fmt.Errorf("%w, and it does not answer", held)
	}
	return shell.ExitNothing, out.text("no host runs in " + at.Root + "; fantail starts one")
}

// stopHost ends the host and waits until it is gone.
func stopHost(ctx context.Context, e *Errand, out *printed, at workspace.Place) (int, error) {
	s, err := attach.Ask(ctx, at.Screens, attach.Tell)
	if e.o.now && unheard(err) && workspace.Holder(at.Data) != nil {
		return killHost(ctx, out, at)
	}
	if err != nil {
		return noHost(out, at, err)
	}
	if busy := s.Busy(); len(busy) > 0 && !e.o.wait && !e.o.now {
		return 0, fmt.Errorf("%s: --wait ends the host once they are done, --now ends them with it", strings.Join(busy, ", ")+" still at work")
	}
	end := attach.EndNow
	if e.o.wait {
		end = attach.EndAtRest
	}
	s, err = attach.Ask(ctx, at.Screens, end)
	if e.o.now && unheard(err) {
		return killHost(ctx, out, at)
	}
	if err != nil {
		return 0, err
	}
	if err := workspace.Await(ctx, at.Data, endsWithin); err != nil {
		if e.o.now {
			return killHost(ctx, out, at)
		}
		return 0, fmt.Errorf("process %d was told to end: %w", s.PID, err)
	}
	return hasEnded(out, at, "the host of "+at.Root+" has ended")
}

// unheard reports whether an error means that the host can't be told to end.
func unheard(err error) bool {
	hung := (*attach.HungError)(nil)
	return errors.As(err, &hung) || errors.Is(err, attach.ErrNoHost)
}

// killHost ends the process that has the workspace and does not answer.
func killHost(ctx context.Context, out *printed, at workspace.Place) (int, error) {
	did, err := workspace.Kill(ctx, at.Data)
	if err != nil {
		return 0, err
	}
	return hasEnded(out, at, did)
}

// hasEnded prints that the host has ended, and how to keep its unit from starting another.
func hasEnded(out *printed, at workspace.Place, says string) (int, error) {
	if u, err := unitOf(at, ""); err == nil && u.There() {
		says += "; its unit may start the next one: " + CommandLine(u.Stop) + " stops that"
	}
	return shell.ExitOK, out.text(says)
}

// logOf prints what the host logged while nothing was attached to read it.
func logOf(out *printed, at workspace.Place) (int, error) {
	some := false
	for _, name := range []string{paths.HostLog + ".1", paths.HostLog} {
		text, err := os.ReadFile(filepath.Join(at.Data, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("read the host's log: %w", err)
		}
		if len(text) == 0 {
			continue
		}
		some = true
		if err := out.text(strings.TrimSuffix(string(text), "\n")); err != nil {
			return 0, err
		}
	}
	if !some {
		return shell.ExitNothing, nil
	}
	return shell.ExitOK, nil
}

// runLs runs fantail ls: it lists all workspaces that have a host.
func runLs(e *Errand, c *caller) (int, error) {
	if len(e.words) > 0 {
		return 0, shell.Misused("ls: %q is not understood; it takes no arguments", e.words[0])
	}
	datas, err := paths.Workspaces(c.env)
	if err != nil {
		return 0, err
	}
	var all []attach.Status
	for _, data := range datas {
		short, cancel := context.WithTimeout(c.ctx, 2*time.Second)
		s, err := attach.Ask(short, paths.Screens(c.env, os.Geteuid(), data), attach.Tell)
		cancel()
		switch {
		case err == nil:
			all = append(all, s)
		case !errors.Is(err, attach.ErrNoHost):
			shell.Warn(c.errs, "the host of %s: %v", data, err)
		}
	}
	if len(all) == 0 {
		return shell.ExitNothing, nil
	}
	slices.SortFunc(all, func(a, b attach.Status) int { return strings.Compare(a.Root, b.Root) })
	for _, s := range all {
		if _, err := c.out.status(s); err != nil {
			return 0, err
		}
	}
	return shell.ExitOK, nil
}

// jHost is a host in JSON.
type jHost struct {
	Dir     string    `json:"dir"`
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	Screens int       `json:"screens"`
	Files   int       `json:"files,omitempty"`
	Pending int       `json:"pending"`
	Agents  []jAgent  `json:"agents"`
}

type jAgent struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// status prints the status of a host.
func (p *printed) status(s attach.Status) (int, error) {
	if p.json {
		j := jHost{Dir: s.Root, PID: s.PID, Version: s.Version, Since: s.Since, Screens: s.Screens, Files: s.Files, Pending: s.Mail, Agents: []jAgent{}}
		for _, a := range s.Agents {
			state, name, _ := strings.Cut(a, " ")
			j.Agents = append(j.Agents, jAgent{name, state})
		}
		return shell.ExitOK, p.line(j)
	}
	agents := s.ByState()
	if agents == "" {
		agents = "no agents yet"
	}
	line := fmt.Sprintf("%s  %s · %s", s.Root, agents, format.Count(s.Screens, "screen"))
	if waits := format.Waits(s.Mail, 0); waits != "" { // the states tell who asks
		line += " · " + waits
	}
	return shell.ExitOK, p.text(line + fmt.Sprintf(" · process %d since %s", s.PID, s.Since.Local().Format("2006-01-02 15:04")))
}
