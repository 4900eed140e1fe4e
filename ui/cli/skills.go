package cli

import (
	"path/filepath"
	"strings"

	"fantail/agents/skills"
	"fantail/inbox/policy"
	"fantail/store/config"
	"fantail/store/paths"
	"fantail/tools"
	"fantail/ui/slash"
	"fantail/ui/workspace"
)

// SkillOptions returns where to search for skills, commands and agents, and what their names and
// tools are checked against.
func SkillOptions(at workspace.Place, env func(string) string, conf config.Config, set *tools.Set) skills.Options {
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

// Policies returns the mail rules of agents by name: those in policy files, else those in the files
// that describe agents. broken is as for [policy.ReadRules].
func Policies(root string, s *skills.Catalog) (good map[string]policy.Rules, broken map[string]error) {
	good, broken = policy.ReadRules(root)
	for _, i := range s.Now().Items {
		if i.Kind != skills.Agent || i.Out != "" || i.Role.Policy == "" || broken[i.Name] != nil {
			continue
		}
		if _, said := good[i.Name]; said {
			continue
		}
		r, err := policy.ParseRules(i.Source, []byte(strings.Repeat("\n", i.Role.Line-1)+i.Role.Policy))
		if err != nil {
			broken[i.Name] = policy.RuleError(i.Source, err)
			continue
		}
		good[i.Name] = r
	}
	return good, broken
}
