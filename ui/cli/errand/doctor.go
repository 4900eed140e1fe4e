package errand

import (
	"context"
	"os"
	"os/user"
	"slices"

	"fantail/agents/hooks"
	"fantail/agents/inline"
	"fantail/agents/skills"
	"fantail/agents/trust"
	"fantail/store/config"
	"fantail/tools"
	"fantail/tools/secret"
	"fantail/ui/cli/doctor"
	"fantail/ui/cli/mcplist"
	"fantail/ui/cli/place"
	"fantail/ui/cli/rulebook"
	"fantail/ui/cli/shelf"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/wall"
	"fantail/ui/frame"
)

// runDoctor is fantail doctor: what gets in the way of a host.
func runDoctor(ctx context.Context, e *Errand, out *printed) (int, error) {
	if len(e.words) > 0 {
		return 0, shell.Misused("doctor: %q is not understood; it takes no arguments", e.words[0])
	}
	at, err := place.Find(e.o.dir, os.Getenv)
	if err != nil {
		return 0, err
	}
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	here := doctor.Here(name)
	here.Written = at.Written(os.Getenv)
	conf, wrong := config.Read(os.Getenv)
	if here.Config = wrong; wrong == nil {
		here.Sandbox, here.Wall = conf.Sandbox, wall.Find(ctx, conf.Sandbox)
		here.Shelf = skills.New(shelf.Options(at, os.Getenv, conf, tools.New()))
	}
	here.Rules = rulebook.New(at.Root, os.Getenv).Read()
	code := shell.OK
	home, _ := os.UserHomeDir()
	brought, trouble := trust.In(at.Root, at.Data)
	if here.Shelf != nil {
		brought.Add(inline.Source(here.Shelf))
	}
	brings := hooks.New(hooks.Settings{Root: at.Root, Home: home, Trust: brought, Config: func() map[string][]config.HookGroup { return conf.Hooks }})
	configured := mcplist.Room(at.Root, brought, secret.New(conf.KeyEnvs(), os.Getenv), func() []config.Server { return conf.Servers() })
	for _, f := range slices.Concat(doctor.Look(ctx, at, here), doctor.Brings(brought, brings, here.Rules.Faults, trouble), mcplist.Doctor(configured, at.Root)) {
		mark := "ok  "
		if f.Bad {
			mark, code = "!   ", shell.Failed
		}
		f.Says = frame.CleanLine(f.Says)
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

// jFinding is one thing the doctor looked at as JSON.
type jFinding struct {
	What string `json:"what"`
	Says string `json:"says"`
	OK   bool   `json:"ok"`
}
