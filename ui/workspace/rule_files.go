package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/approval"
	"fantail/agents/hooks"
	"fantail/store/config"
	"fantail/store/paths"
	"fantail/tools/permission"
)

// RuleFiles reads the files for one workspace.
type RuleFiles struct {
	root, home, user string // user: the directory of our configuration; "": there is none
	last             map[string]config.RuleFile
}

// NewRuleFiles returns the rule files of the workspace with that root, absolute and without links.
func NewRuleFiles(root string, env func(string) string) *RuleFiles {
	b := &RuleFiles{root: resolvedRules(root), last: map[string]config.RuleFile{}}
	if home := env("HOME"); filepath.IsAbs(home) {
		b.home = resolvedRules(home)
	}
	if dir, err := paths.Dir(env); err == nil {
		b.user = dir
	}
	return b
}

func resolvedRules(path string) string {
	if is, err := filepath.EvalSymlinks(path); err == nil {
		return is
	}
	return filepath.Clean(path)
}

// source is one file.
type source struct {
	name    string // as people read it
	root    string // the workspace, for one of its files; "": the file is the user's
	path    string // from root, or absolute
	base    string // what /x counts from
	project bool
	strict  bool // the configuration reads it too, and reports what is wrong with its other keys
}

func (b *RuleFiles) sources() (all []source) {
	if b.user != "" {
		p := filepath.Join(b.user, "config.toml")
		all = append(all, source{name: b.short(p), path: p, base: b.root, strict: true})
	}
	if b.home != "" {
		p := filepath.Join(b.home, ".claude/settings.json")
		all = append(all, source{name: b.short(p), path: p, base: b.root})
	}
	for _, p := range []string{".fantail/config.toml", ".claude/settings.json", ".claude/settings.local.json"} {
		if b.root == b.home && p == ".claude/settings.json" {
			continue // it is the user's
		}
		all = append(all, source{name: p, root: b.root, path: p, base: b.root, project: true})
	}
	return all
}

// short returns a path as people read it.
func (b *RuleFiles) short(p string) string {
	if rel, err := filepath.Rel(b.home, p); b.home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + rel
	}
	return p
}

// Read reads all files. If a file became unreadable, its last denials and asks stay in force.
func (b *RuleFiles) Read() (r approval.RuleReading) {
	for _, s := range b.sources() {
		var f config.RuleFile
		var err error
		if s.root != "" {
			f, err = config.OpenRules(s.root, s.path)
		} else {
			f, err = config.ReadRules(s.path)
		}
		if err != nil {
			r.Faults = append(r.Faults, s.name+": "+err.Error())
			r.Unread = append(r.Unread, s.name+": "+err.Error())
		}
		if err != nil || len(f.Faults) > 0 {
			for _, l := range b.last[s.name].Lines {
				if l.List != string(permission.AllowList) && !slices.ContainsFunc(f.Lines, func(o config.RuleLine) bool { return o.List == l.List && o.Text == l.Text }) {
					f.Lines = append(f.Lines, l)
				}
			}
		}
		b.last[s.name] = f
		b.add(&r, s, f)
	}
	r.Unread = append(r.Unread, b.hooks()...)
	return r
}

// hooks returns the hook files that can't be read and may keep a call from running.
func (b *RuleFiles) hooks() (unread []string) {
	all := hooks.Sources(hooks.Settings{Root: b.root, Home: b.home})
	if b.user != "" {
		p := filepath.Join(b.user, "config.toml")
		all = append(all, hooks.Source{Name: b.short(p), Path: p, Own: true})
	}
	for _, s := range all {
		for _, f := range hooks.ReadFile(b.root, s).Faults {
			if f.Guards {
				unread = append(unread, f.String())
			}
		}
	}
	return unread
}

func (b *RuleFiles) add(r *approval.RuleReading, s source, f config.RuleFile) {
	place := func(line, column int) string { return fmt.Sprintf("%s:%d:%d", s.name, line, column) }
	at := permission.Places{Root: b.root, Base: s.base, Home: b.home}
	for _, l := range f.Lines {
		rule, err := permission.ParseToolRule(l.Text, at)
		if err != nil {
			r.Faults = append(r.Faults, place(l.Line, l.Column)+": "+err.Error())
			if l.List != string(permission.AllowList) {
				r.Unread = append(r.Unread, place(l.Line, l.Column)+": "+err.Error())
			}
			continue
		}
		r.Lines = append(r.Lines, approval.RuleLine{
			ToolRule: rule, List: permission.List(l.List), File: s.name, From: place(l.Line, l.Column), Project: s.project,
		})
	}
	for _, l := range f.Faults {
		r.Faults = append(r.Faults, place(l.Line, l.Column)+": "+l.Text)
		if l.Guards {
			r.Unread = append(r.Unread, place(l.Line, l.Column)+": "+l.Text)
		}
	}
	seen := ""
	for _, l := range f.Others {
		if why := unheeded(s, l.Text); why != "" && l.Text != seen {
			r.Ignored = append(r.Ignored, place(l.Line, l.Column)+": "+clip(l.Text)+": "+why)
			seen = l.Text
		}
	}
}

// clip returns a key of a file in few letters.
func clip(key string) string {
	if runes := []rune(key); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return key
}

// unheeded says why a key of a file has no effect; "" if that need not be said, or the key belongs to another reader.
func unheeded(s source, key string) string {
	toml, theirs := strings.HasSuffix(s.path, ".toml"), config.UsersSetting(key)
	if root, _, dotted := strings.Cut(key, "."); toml && dotted && theirs == "" {
		theirs = config.UsersSetting(root)
	}
	switch {
	case s.strict:
		return ""
	case toml && (key == "hooks" || strings.HasPrefix(key, "hooks.")):
		return "" // agents/hooks reads them
	case toml && theirs != "":
		return "a workspace's file does not set it: " + theirs
	case toml:
		return "a workspace's file only has [permissions] and [[hooks.EVENT]]: all else is the user's to set"
	case key == "permissions.defaultMode":
		return "the mode is chosen here (/mode, permission_mode in ~/.config/fantail/config.toml)"
	case key == "permissions.additionalDirectories":
		return "paths outside the workspace ask, unless a rule of yours allows them"
	case s.project && theirs != "":
		return "a workspace's file does not set it: " + theirs
	case strings.HasPrefix(key, "permissions."):
		return "it is not known here"
	}
	return ""
}

// Watch calls tell after each change in the directories of the files. The error names those that can't be watched.
func (b *RuleFiles) Watch(start func(name string, f func()), tell func()) (end func(), err error) {
	var all []*Watch
	dirs := []string{filepath.Join(b.root, ".fantail"), filepath.Join(b.root, ".claude")}
	if b.user != "" {
		dirs = append(dirs, b.user)
	}
	if b.home != "" && b.home != b.root {
		dirs = append(dirs, filepath.Join(b.home, ".claude"))
	}
	for _, d := range dirs {
		if i, e := os.Stat(filepath.Dir(d)); e != nil || !i.IsDir() {
			continue // nor can there be such a file
		}
		w, e := NewWatch(filepath.Dir(d), filepath.Base(d))
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		w.Serve(start, tell)
		all = append(all, w)
	}
	return func() {
		for _, w := range all {
			_ = w.Close()
		}
	}, err
}
