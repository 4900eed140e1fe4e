// Package shelf sets up what files bring for agents in a workspace: skills, commands, and agents that files describe.
//
// Does: say where they are looked for, and what of the program their names must not take; read how the mail of agents in
// files is handled, beside what the files of policies say.
//
// Does not: read a skill or a command, watch for changes.
//
// Imports: agents/skills, inbox/policy, inbox/rules, store/config, store/config/paths, tools, ui/cli/place, ui/slash.
package shelf

import (
	"path/filepath"
	"strings"

	"fantail/agents/skills"
	"fantail/inbox/policy"
	"fantail/inbox/rules"
	"fantail/store/config"
	"fantail/store/config/paths"
	"fantail/tools"
	"fantail/ui/cli/place"
	"fantail/ui/slash"
)

// Options are where files are looked for in that place, and what they are held against.
func Options(at place.Place, env func(string) string, conf config.Config, set *tools.Set) skills.Options {
	o := skills.Options{
		Root: at.Root, Dir: at.Dir, Home: env("HOME"), Private: at.Private, Words: slash.Words(), Vendors: conf.AgentNames(),
	}
	if !filepath.IsAbs(o.Home) {
		o.Home = ""
	}
	if dir, err := paths.Dir(env); err == nil {
		o.Config = dir
	}
	for _, s := range set.Specs() {
		o.Tools = append(o.Tools, s.Name)
	}
	return o
}

// Policies are how the mail of agents is handled, by name: as the files of policies say, else as the files say that
// describe agents. broken is as for [rules.Read].
func Policies(root string, s *skills.Shelf) (good map[string]policy.Rules, broken map[string]error) {
	good, broken = rules.Read(root)
	for _, i := range s.Now().Items {
		if i.Kind != skills.Agent || i.Out != "" || i.Role.Policy == "" || broken[i.Name] != nil {
			continue
		}
		if _, said := good[i.Name]; said {
			continue
		}
		r, err := rules.Parse(i.Source, []byte(strings.Repeat("\n", i.Role.Line-1)+i.Role.Policy))
		if err != nil {
			broken[i.Name] = rules.At(i.Source, err)
			continue
		}
		good[i.Name] = r
	}
	return good, broken
}
