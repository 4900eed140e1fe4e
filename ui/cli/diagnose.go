package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/approval"
	"fantail/agents/instructions"
	"fantail/agents/skills"
	"fantail/tools/sandbox"
	"fantail/ui/attach"
	"fantail/ui/slash"
	"fantail/ui/workspace"
)

// Finding is the result of one check.
type Finding struct {
	What string // what was checked
	Says string
	Bad  bool // it prevents something from working
}

// DoctorMachine says where the doctor looks outside the workspace.
type DoctorMachine struct {
	Logind []string // configuration files of systemd-logind; the last one wins
	Group  string   // file that names this process's control group
	Linger string   // file that exists if this user's processes outlive their sessions

	Config  error            // why the configuration can't be read; nil: it can
	File    string           // path of the configuration; "": unknown
	Sandbox string           // the configured sandbox
	Wall    *sandbox.Backend // the sandbox found for it
	Skills  *skills.Catalog  // files for agents; nil: not read
	Keeps   workspace.Machine
	Written instructions.Place   // where instruction files are searched
	Rules   approval.RuleReading // the permission rules in files
}

// DoctorHere returns the DoctorMachine for this machine and the user of that name.
func DoctorHere(user string) DoctorMachine {
	m := DoctorMachine{Group: "/proc/self/cgroup", Linger: filepath.Join("/var/lib/systemd/linger", user), Keeps: workspace.ThisMachine()}
	m.Logind = []string{"/etc/systemd/logind.conf"}
	more, _ := filepath.Glob("/etc/systemd/logind.conf.d/*.conf")
	slices.Sort(more)
	m.Logind = append(m.Logind, more...)
	return m
}

// Diagnose runs all checks.
func Diagnose(ctx context.Context, at workspace.Place, m DoctorMachine) []Finding {
	all := []Finding{{What: "workspace", Says: at.Root}, m.kills(), m.scope(), m.sandbox(), data(at.Data), root(at.Root)}
	if m.File != "" && m.Config == nil {
		says := m.File
		if _, err := os.Stat(m.File); err != nil {
			says += " (there is none)"
		}
		all = append(all, Finding{What: "configuration", Says: says})
	}
	all = append(all, m.instructions(at.Data)...)
	all = append(all, m.brought()...)
	all = append(all, m.rules()...)
	switch s, err := attach.Ask(ctx, at.Screens, attach.Tell); {
	case err == nil:
		return append(all, Finding{What: "host", Says: fmt.Sprintf("process %d, %s", s.PID, s.Version)})
	case !errors.Is(err, attach.ErrNoHost):
		return append(all, Finding{What: "host", Bad: true, Says: err.Error()})
	}
	if held := workspace.Holder(at.Data); held != nil {
		return append(all, Finding{What: "host", Bad: true, Says: held.Error() + ", and it does not answer on " + at.Screens})
	}
	return append(all, Finding{What: "host", Says: "none runs; fantail starts one"})
}

// brought reports the files for agents: those used, not used, and unreadable.
func (m DoctorMachine) brought() (all []Finding) {
	if m.Skills == nil {
		return nil
	}
	l := m.Skills.Now()
	n := map[skills.Kind]int{}
	for _, i := range l.Items {
		if i.Out == "" {
			n[i.Kind]++
		}
	}
	all = append(all, Finding{What: "files for agents", Says: fmt.Sprintf("%d skills, %d commands, %d agents; /skills lists them", n[skills.Skill], n[skills.Command], n[skills.Agent])})
	for _, i := range l.Items {
		switch {
		case i.Out != "":
			all = append(all, Finding{What: "file not used", Says: i.Source + ": " + i.Out})
		case i.Typed != "":
			all = append(all, Finding{What: "file not used", Says: i.Source + ": " + i.Typed})
		}
		for _, note := range i.Notes {
			all = append(all, Finding{What: "file used in part", Says: note})
		}
	}
	for _, line := range l.Broken {
		all = append(all, Finding{What: "file that can't be read", Says: line, Bad: true})
	}
	return all
}

// kills reports whether logging out ends the user's processes.
func (m DoctorMachine) kills() Finding {
	f := Finding{What: "logout", Says: "leaves hosts alive"}
	kills := false
	for _, path := range m.Logind {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.ReplaceAll(strings.TrimSpace(line), " ", ""), "KillUserProcesses="); is {
				kills = slices.Contains([]string{"yes", "true", "1", "on"}, strings.ToLower(value))
			}
		}
	}
	if !kills {
		return f
	}
	if _, err := os.Stat(m.Linger); err == nil {
		f.Says = "leaves hosts alive: lingering is on (KillUserProcesses=yes would end them)"
		return f
	}
	return Finding{What: "logout", Bad: true, Says: "ends every host (KillUserProcesses=yes): loginctl enable-linger keeps them alive"}
}

// scope reports whether this process is in a terminal's scope, whose end ends what runs in it.
func (m DoctorMachine) scope() Finding {
	text, err := os.ReadFile(m.Group)
	if err != nil {
		return Finding{What: "control group", Says: "there is none"}
	}
	for line := range strings.Lines(string(text)) {
		path := strings.TrimSpace(line[strings.LastIndexByte(line, ':')+1:])
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".scope") && !strings.HasPrefix(name, "session-") && !strings.HasPrefix(name, "init") {
			return Finding{What: "control group", Bad: true, Says: "a host started here belongs to " + name +
				", which ends it too: start it with systemd-run --user --scope fantail"}
		}
	}
	return Finding{What: "control group", Says: "no terminal's scope holds what is started here"}
}

// sandbox reports what confines the commands of agents.
func (m DoctorMachine) sandbox() Finding {
	if m.Config != nil {
		return Finding{What: "configuration", Bad: true, Says: m.Config.Error()}
	}
	if err := workspace.SandboxMissing(m.Wall, m.Sandbox, m.Keeps); err != nil {
		return Finding{What: "sandbox", Bad: true, Says: err.Error()}
	}
	lines, holds := workspace.SandboxSummary(m.Wall, m.Keeps)
	if holds { // /sandbox has the rest
		lines = slices.DeleteFunc(lines, func(l string) bool { return l != lines[0] && !strings.HasPrefix(l, "to do: ") })
		lines = append(lines, "/sandbox says what holds")
	}
	return Finding{What: "sandbox", Bad: !holds, Says: strings.Join(lines, "; ")}
}

// rules reports rules in files that are wrong or not obeyed.
func (m DoctorMachine) rules() (all []Finding) {
	for _, f := range m.Rules.Faults {
		all = append(all, Finding{What: "rules", Bad: true, Says: f})
	}
	for _, f := range m.Rules.Ignored {
		all = append(all, Finding{What: "not obeyed", Says: f})
	}
	lists, offered := map[string]int{}, 0
	for _, l := range m.Rules.Lines {
		if l.Project && l.List == "allow" {
			offered++
			continue
		}
		lists[string(l.List)]++
	}
	if len(m.Rules.Lines) > 0 {
		all = append(all, Finding{What: "rules", Says: fmt.Sprintf("%d deny, %d ask, %d allow, %d only offered; /permissions lists them",
			lists["deny"], lists["ask"], lists["allow"], offered)})
	}
	return all
}

// data reports whether file locks are reliable where the workspace's data are.
func data(dir string) Finding {
	if says := workspace.Warning(dir); says != "" {
		return Finding{What: "data", Bad: true, Says: says}
	}
	return there("data", dir)
}

// root reports on the directory of the workspace's own files.
func root(dir string) Finding { return there("workspace's files", dir) }

func there(what, dir string) Finding {
	if _, err := os.Stat(dir); err != nil {
		return Finding{What: what, Bad: true, Says: err.Error()}
	}
	return Finding{What: what, Says: dir}
}

// instructions reports the instruction files that agents follow, and what of them is not used. None
// of it prevents a host from working.
func (m DoctorMachine) instructions(data string) []Finding {
	if m.Written.Root == "" {
		return nil
	}
	m.Written.Allowed = instructions.AllowedFiles(data)
	says, notes := slash.InstructionsFound(instructions.Read(m.Written))
	all := []Finding{{What: "instructions", Says: says}}
	for _, n := range notes {
		all = append(all, Finding{What: "instructions", Says: n})
	}
	return all
}
