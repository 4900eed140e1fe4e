package cli

import (
	"os"
	"os/user"
	"slices"

	"fantail/agents/hooks"
	"fantail/agents/skills"
	"fantail/store/config"
	"fantail/store/paths"
	"fantail/tools"
	"fantail/tools/secret"
	"fantail/ui/cells"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// runDoctor runs fantail doctor: it reports what prevents a host from working.
func runDoctor(e *Errand, c *caller) (int, error) {
	ctx, out := c.ctx, c.out
	if len(e.words) > 0 {
		return 0, shell.Misused("doctor: %q is not understood; it takes no arguments", e.words[0])
	}
	at, err := workspace.Find(e.o.dir, os.Getenv)
	if err != nil {
		return 0, err
	}
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	here := DoctorHere(name)
	here.Written = at.Written(os.Getenv)
	here.File, _ = paths.File(os.Getenv) // reading it says what is wrong with its place
	conf, wrong := config.Read(os.Getenv)
	if here.Config = wrong; wrong == nil {
		here.Sandbox, here.Wall = conf.Sandbox, workspace.FindSandbox(ctx, conf.Sandbox)
		here.Skills = skills.New(SkillOptions(at, os.Getenv, conf, tools.New()))
	}
	here.Rules = workspace.NewRuleFiles(at.Root, os.Getenv).Read()
	code := shell.ExitOK
	home, _ := os.UserHomeDir()
	brought, trouble := hooks.OpenTrust(at.Root, at.Data)
	if here.Skills != nil {
		brought.Add(skills.InlineSource(here.Skills))
	}
	brings := hooks.New(hooks.Settings{Root: at.Root, Home: home, Trust: brought, Config: func() map[string][]config.HookGroup { return conf.Hooks }})
	configured := ServersFor(at.Root, brought, secret.New(conf.KeyEnvs(), os.Getenv), func() []config.Server { return conf.Servers() })
	for _, f := range slices.Concat(Diagnose(ctx, at, here), DoctorBrings(brought, brings, here.Rules.Faults, trouble), DoctorServers(configured, at.Root)) {
		mark := "ok  "
		if f.Bad {
			mark, code = "!   ", shell.ExitFailed
		}
		f.Says = cells.CleanLine(f.Says)
		if out.json {
			err = out.line(jFinding{f.What, f.Says, !f.Bad})
		} else {
			err = out.text(mark + f.What + ": " + f.Says)
		}
		if err != nil {
			return code, err
		}
	}
	return code, nil
}

// jFinding is a Finding in JSON.
type jFinding struct {
	What string `json:"what"`
	Says string `json:"says"`
	OK   bool   `json:"ok"`
}
