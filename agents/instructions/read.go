package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission/shell"
)

// reader reads the files of a place into a set.
type reader struct {
	place Place
	root  *files.RootHold
	away  *files.RootHold // for files outside of it
	plain string          // a path without links, according to the listing of its directory
	set   *Set
	had   map[string]bool // the resolved paths that were read
}

func begin(p Place) *reader {
	r := &reader{
		place: p, set: &Set{}, had: map[string]bool{}, root: files.Root{Dir: p.Root, Bound: true, Resolved: true}.Open(),
		away: files.Root{Dir: string(filepath.Separator), Resolved: true}.Open(),
	}
	if err := r.root.Err(); err != nil {
		r.note(Note{Name: p.Name(p.Root), Why: Broken, Text: reason(err)})
	}
	return r
}

func (r *reader) end() { r.root.Close() }

func (r *reader) note(n Note) {
	if len(r.set.Notes) < maxNotes {
		n.Text = tools.Line(n.Text)
		r.set.Notes = append(r.set.Notes, n)
	}
}

// watched adds a directory in which a change matters.
func (r *reader) watched(dir string) {
	if !slices.Contains(r.set.Dirs, dir) {
		r.set.Dirs = append(r.set.Dirs, dir)
	}
}

// errAbsent says that there is no such file, or none that counts as one.
var errAbsent = errors.New("there is no such file")

// text is the content read from a file.
type text struct {
	path string // resolved
	data []byte
	kind Kind
	cut  bool
}

// open reads the beginning of a regular file. A link in the workspace that leads out of it counts as no file: a
// repository must not make a model read other files of its user.
func (r *reader) open(path string, kind Kind) (t text, err error) {
	if t.path = path; path != r.plain {
		t.path, err = filepath.EvalSymlinks(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return t, errAbsent
	case err != nil:
		return t, err
	}
	within := r.place.Within(t.path)
	if kind == Project && !within && !slices.Contains(r.place.Allowed, t.path) {
		return t, errAbsent
	}
	if t.kind = kind; within {
		t.kind = Project // other users of the workspace may write it, whatever names it
	}
	from, rel := r.away, t.path
	if within {
		if rel, err = filepath.Rel(r.place.Root, t.path); err != nil {
			return t, err
		}
		from = r.root
		from.Near(filepath.Dir(rel))
	}
	t.data, _, err = from.Read(rel, most+1)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrDirectory) || within && r.root.Err() != nil {
		return t, errAbsent
	}
	if t.cut = len(t.data) > most; t.cut {
		t.data = trim(t.data[:most])
	}
	return t, err
}

// trim drops an incomplete character at the end.
func trim(data []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(data)); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return "it can't be read: " + err.Error()
}

// user reads the user's instructions for all workspaces: the first that exists of the program's own file, the one
// shared by all tools, and those of other tools.
func (r *reader) user() {
	type source struct{ file, rules string }
	var from []source
	if c := r.place.Config; c != "" {
		from = append(from, source{file: filepath.Join(c, "fantail", "AGENTS.md")}, source{file: filepath.Join(c, "AGENTS.md")})
	}
	if h := r.place.Home; h != "" {
		from = append(from, source{filepath.Join(h, ".claude", "CLAUDE.md"), filepath.Join(h, ".claude", "rules")},
			source{file: filepath.Join(h, ".codex", "AGENTS.md")})
	}
	by := ""
	for _, s := range from {
		if by != "" {
			if t, err := r.open(s.file, User); err == nil && !r.had[t.path] && len(bytes.TrimSpace(t.data)) > 0 {
				r.note(Note{Name: r.place.Name(s.file), Why: Shadowed, Text: "not used: " + by + " comes first"})
			}
			continue
		}
		r.watched(filepath.Dir(s.file))
		n := len(r.set.Files) + len(r.set.Rules)
		r.named(s.file, User, "")
		if s.rules != "" {
			r.rules(s.rules, r.place.Root, User)
		}
		if len(r.set.Files)+len(r.set.Rules) > n {
			by = r.place.Name(s.file)
		}
	}
}

// directory reads the instructions of a directory of the workspace.
func (r *reader) directory(dir string) {
	r.watched(dir)
	agents := r.named(filepath.Join(dir, "AGENTS.md"), Project, dir)
	if claude := filepath.Join(dir, "CLAUDE.md"); agents == "" {
		r.named(claude, Project, dir)
	} else if t, err := r.open(claude, Project); err == nil && !r.had[t.path] {
		r.note(Note{Name: r.place.Name(claude), Why: Shadowed, Text: "not used: " + agents + " comes first"})
	}
	if info, err := os.Stat(filepath.Join(dir, ".claude")); err == nil && info.IsDir() {
		r.watched(filepath.Join(dir, ".claude"))
		r.named(filepath.Join(dir, ".claude", "CLAUDE.md"), Project, dir)
	}
	r.named(filepath.Join(dir, "CLAUDE.local.md"), Project, dir)
	r.rules(filepath.Join(dir, ".claude", "rules"), dir, Project)
}

// named reads a file of instructions and what it imports. It returns the file's name, "" if it is empty or missing.
func (r *reader) named(path string, kind Kind, dir string) string {
	t, ok := r.take(path, kind)
	if !ok {
		return ""
	}
	f := File{Path: t.path, Name: r.place.Name(path), Kind: t.kind, Dir: dir, Text: words(t.data)}
	r.add(f, t, path, nil)
	return f.Name
}

// take opens a file that is instructions by its name; ok is false if it is empty, refused, or was read before.
func (r *reader) take(path string, kind Kind) (t text, ok bool) {
	t, err := r.open(path, kind)
	switch {
	case errors.Is(err, errAbsent):
		if info, e := os.Lstat(path); e == nil && info.Mode().Type() == fs.ModeSymlink {
			r.note(Note{Name: r.place.Name(path), Why: Refused, Text: "not read: the link leads to no file of the workspace"})
		}
		return t, false
	case err != nil:
		r.note(Note{Name: r.place.Name(path), Why: Broken, Text: reason(err)})
		return t, false
	case r.had[t.path]:
		return t, false
	}
	if t.kind == Project && !strings.EqualFold(filepath.Ext(t.path), ".md") {
		r.note(Note{Name: r.place.Name(path), Why: Refused, Text: "not read: the link leads to no file of Markdown"})
		return t, false
	}
	if why := r.secret(t); why != "" {
		r.note(Note{Name: r.place.Name(path), Why: Refused, Text: "not read: " + why})
		return t, false
	}
	return t, len(bytes.TrimSpace(t.data)) > 0
}

// secret says why a text must not reach a model; "" if it may.
func (r *reader) secret(t text) string {
	named := filepath.ToSlash(t.path)
	if rel, err := filepath.Rel(r.place.Root, t.path); err == nil && filepath.IsLocal(rel) {
		named = filepath.ToSlash(rel)
	}
	if why := shell.SensitiveFile(named); why != "" {
		return "it holds " + why
	}
	head := t.data[:min(len(t.data), 8<<10)]
	if bytes.IndexByte(head, 0) >= 0 {
		return "it is no text"
	}
	if why := shell.HoldsSecrets(named, head); why != "" {
		return "it holds " + why
	}
	return ""
}

// words returns data as valid text.
func words(data []byte) string {
	s := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), "\r\n", "\n")
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD"))
}

// add adds a file and what it imports. path is how it was found, chain the resolved files that import it.
func (r *reader) add(f File, t text, path string, chain []string) {
	if len(r.set.Files) >= maxFiles && !f.Rule {
		r.note(Note{Name: f.Name, Why: Refused, Text: fmt.Sprintf("not read: there are more than %d files", maxFiles)})
		return
	}
	r.had[t.path] = true
	r.watched(filepath.Dir(t.path))
	if t.cut {
		r.note(Note{Name: f.Name, Why: Cut, Text: fmt.Sprintf("cut: only the first %d KB are read", most>>10)})
		f.Text += "\n[cut here: only the first 64 KB are read]"
	}
	f.Hash = hash(f.Text)
	if f.Paths == nil {
		r.set.Files = append(r.set.Files, f)
	} else {
		r.set.Rules = append(r.set.Rules, f)
	}
	r.imports(f, t, path, append(chain, t.path))
}

// rules reads the rules in a directory and below it; they apply to the files of dir.
func (r *reader) rules(at, dir string, kind Kind) {
	if info, err := os.Lstat(at); err != nil || !info.IsDir() {
		return
	}
	if kind == Project && !r.place.Within(resolved(at)) {
		return
	}
	n, entries, plain := 0, 0, resolved(at) == at
	_ = filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > maxEntries {
			r.note(Note{Name: r.place.Name(at), Why: Refused, Text: fmt.Sprintf("not all is read: more than %d files and directories lie below it", maxEntries)})
			return fs.SkipAll
		}
		switch {
		case err != nil:
			r.note(Note{Name: r.place.Name(path), Why: Broken, Text: reason(err)})
			return nil
		case d.IsDir():
			if rel, _ := filepath.Rel(at, path); strings.Count(rel, string(filepath.Separator)) >= 8 {
				return fs.SkipDir
			}
			r.watched(path)
			return nil
		case !strings.EqualFold(filepath.Ext(path), ".md"):
			return nil
		}
		if n++; n > maxRules {
			r.note(Note{Name: r.place.Name(at), Why: Refused, Text: fmt.Sprintf("not all is read: it has more than %d rules", maxRules)})
			return fs.SkipAll
		}
		if r.plain = ""; plain && d.Type().IsRegular() {
			r.plain = path
		}
		r.rule(path, dir, kind)
		return nil
	})
}

func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// rule reads one rule.
func (r *reader) rule(path, dir string, kind Kind) {
	t, ok := r.take(path, kind)
	if !ok {
		return
	}
	name := r.place.Name(path)
	m, err := tools.ReadFrontMatter(t.data)
	if err != nil {
		n := Note{Name: name, Why: Broken, Text: "not used: " + err.Error()}
		if f := (*tools.FrontFault)(nil); errors.As(err, &f) {
			n.Line, n.Column, n.Text = f.Line, f.Column, "not used: "+f.Text
		}
		r.note(n)
		return
	}
	if l := m.Left; l != nil {
		r.note(Note{Name: name, Line: l.Line, Column: l.Column, Why: Broken, Text: l.Text})
	}
	f := File{Path: t.path, Name: name, Kind: t.kind, Rule: true, Dir: dir, Text: words([]byte(m.Body))}
	if f.Text == "" {
		return
	}
	if p := m.Get("paths"); len(p.Words()) > 0 {
		for _, w := range p.Words() {
			glob, ok := Pattern(w)
			if !ok {
				r.note(Note{Name: name, Line: p.Line, Column: 1, Why: Broken, Text: fmt.Sprintf("%q is no pattern of paths", w)})
				continue
			}
			f.Paths = append(f.Paths, glob)
		}
		if f.Paths == nil {
			return
		}
	}
	r.add(f, t, path, nil)
}

// foreign notes the files of other tools, which are not read.
func (r *reader) foreign() {
	for _, name := range []string{"GEMINI.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md"} {
		path := filepath.Join(r.place.Root, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !r.had[resolved(path)] {
			r.note(Note{Name: name, Why: Foreign, Text: "not read: another tool's; a line @" + name + " in AGENTS.md brings it in"})
		}
	}
}
