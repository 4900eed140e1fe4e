// Package rulebook collects permission rules from the files of the user and of the workspace.
//
// Does: read [permissions] of config.toml and of the workspace's .fantail/config.toml, and permissions of Claude Code's
// settings in the home directory and the workspace; name the place of each rule and of what is wrong; tell when one of
// the files changed.
//
// Does not: let a workspace's file loosen anything or set anything else, write a file, read any other of a vendor's.
//
// Imports: agents/permissions, store/config/paths, store/config/rulefile, store/config/settings, tools/permit/toolrule,
// ui/cli/watch.
package rulebook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/permissions"
	"fantail/store/config/paths"
	"fantail/store/config/rulefile"
	"fantail/store/config/settings"
	"fantail/tools/permit/toolrule"
	"fantail/ui/cli/watch"
)

// Book reads the files for one workspace.
type Book struct {
	root, home, user string // user: the directory of our configuration; "": there is none
	last             map[string]rulefile.File
}

// New returns the book of the workspace with that root, absolute and without links.
func New(root string, env func(string) string) *Book {
	b := &Book{root: resolved(root), last: map[string]rulefile.File{}}
	if home := env("HOME"); filepath.IsAbs(home) {
		b.home = resolved(home)
	}
	if dir, err := paths.Dir(env); err == nil {
		b.user = dir
	}
	return b
}

func resolved(path string) string {
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
	strict  bool // the configuration reads it too, and says what is wrong with its other keys
}

func (b *Book) sources() (all []source) {
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

// short is a path as people read it.
func (b *Book) short(p string) string {
	if rel, err := filepath.Rel(b.home, p); b.home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + rel
	}
	return p
}

// Read reads all files. What denies and asks in a file that became unreadable holds on, as it was read last.
func (b *Book) Read() (r permissions.Reading) {
	for _, s := range b.sources() {
		var f rulefile.File
		var err error
		if s.root != "" {
			f, err = rulefile.Open(s.root, s.path)
		} else {
			f, err = rulefile.Read(s.path)
		}
		if err != nil {
			r.Faults = append(r.Faults, s.name+": "+err.Error())
		}
		if err != nil || len(f.Faults) > 0 {
			for _, l := range b.last[s.name].Lines {
				if l.List != string(toolrule.Allow) && !slices.ContainsFunc(f.Lines, func(o rulefile.Line) bool { return o.List == l.List && o.Text == l.Text }) {
					f.Lines = append(f.Lines, l)
				}
			}
		}
		b.last[s.name] = f
		b.add(&r, s, f)
	}
	return r
}

func (b *Book) add(r *permissions.Reading, s source, f rulefile.File) {
	place := func(line, column int) string { return fmt.Sprintf("%s:%d:%d", s.name, line, column) }
	at := toolrule.Places{Root: b.root, Base: s.base, Home: b.home}
	for _, l := range f.Lines {
		rule, err := toolrule.Parse(l.Text, at)
		if err != nil {
			r.Faults = append(r.Faults, place(l.Line, l.Column)+": "+err.Error())
			continue
		}
		r.Lines = append(r.Lines, permissions.Line{
			Rule: rule, List: toolrule.List(l.List), File: s.name, From: place(l.Line, l.Column), Project: s.project,
		})
	}
	for _, l := range f.Faults {
		r.Faults = append(r.Faults, place(l.Line, l.Column)+": "+l.Text)
	}
	seen := ""
	for _, l := range f.Others {
		if why := unheeded(s, l.Text); why != "" && l.Text != seen {
			r.Ignored = append(r.Ignored, place(l.Line, l.Column)+": "+clip(l.Text)+": "+why)
			seen = l.Text
		}
	}
}

// clip is a key of a file in few letters.
func clip(key string) string {
	if runes := []rune(key); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return key
}

// unheeded says why a key of a file is not obeyed; "" if it is nothing to speak of, or another's part.
func unheeded(s source, key string) string {
	toml, theirs := strings.HasSuffix(s.path, ".toml"), settings.Users(key)
	if root, _, dotted := strings.Cut(key, "."); toml && dotted && theirs == "" {
		theirs = settings.Users(root)
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
		return "the mode is chosen here (/mode, permission_mode in config.toml)"
	case key == "permissions.additionalDirectories":
		return "what is outside the workspace asks, or is allowed by a rule of yours"
	case s.project && theirs != "":
		return "a workspace's file does not set it: " + theirs
	case strings.HasPrefix(key, "permissions."):
		return "it is not known here"
	}
	return ""
}

// Watch tells of each change in the directories of the files. Of those that can't be watched the error speaks.
func (b *Book) Watch(start func(name string, f func()), tell func()) (end func(), err error) {
	var all []*watch.Watch
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
		w, e := watch.New(filepath.Dir(d), filepath.Base(d))
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
