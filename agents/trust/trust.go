// Package trust knows what of a workspace runs by itself, and whether the user has agreed to exactly that.
//
// Does: join what a repository brings of all kinds (a file's hooks of one event, and whatever else starts programs); take
// a part as it is now, with every file of the workspace that its command lines name; keep in the data directory what the
// user agreed to, and declined; say what has changed since, as a diff; name the files that agents must not change unasked.
//
// Does not: read a configuration, run anything, ask anybody. A file that an agreed one reads in its turn is not looked at.
//
// Imports: tools/content, tools/ownfile, tools/permit/bash.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fantail/tools/content"
	"fantail/tools/ownfile"
)

// Kind is what a part is: a word for people. Who reads a kind of configuration names it.
type Kind string

// Part is what is agreed to as one. Its Kind and Name tell it from others.
type Part struct {
	Kind     Kind
	Name     string   // ".claude/settings.json PreToolUse"
	Path     string   // of the workspace's file that it stands in; "": none, or one that is guarded by its name
	Text     string   // its configuration, as people read it, one line for each thing that it says
	Commands []string // its command lines, as a shell reads them
}

func (p Part) key() string { return string(p.Kind) + " " + p.Name }

// Snapshot is a part as it was when somebody looked.
type Snapshot struct {
	Part
	Files []File
	Sum   string // over all of it
	Fault error  // why nobody can agree to it; nil: one can
}

// File is a file of the workspace that a part's command lines name.
type File struct {
	Path string // from the workspace
	Sum  string
	Text string // what it holds; "" if it is none, or too long to be kept
	Out  bool   // it leads out of the workspace: what is there is not looked at
}

// Standing is how the user stands to a part.
type Standing int

const (
	New      Standing = iota // nobody has been asked
	Changed                  // it is not what was agreed to
	Declined                 // as it is
	Agreed                   // to exactly that
)

func (s Standing) String() string {
	return map[Standing]string{New: "not trusted yet", Changed: "changed since you trusted it", Declined: "declined", Agreed: "trusted"}[s]
}

// row is what is kept of a part.
type row struct {
	Sum      string            `json:"sum,omitempty"`      // agreed to; "": nothing was
	Text     string            `json:"text,omitempty"`     // of that
	Files    map[string]string `json:"files,omitempty"`    // its files, and what they held
	Path     string            `json:"path,omitempty"`     // of the file that it stands in
	Declined string            `json:"declined,omitempty"` // the sum of what was declined last
}

// Book is what the user agreed to in one workspace. It is safe for concurrent use.
type Book struct {
	root, path string

	keeps sync.Mutex // held while rows are changed, so that no answer is written over another

	mu      sync.Mutex
	rows    map[string]row
	guarded map[string]bool // the files of the rows, absolute
}

// most is how much a book holds at most, in bytes.
const most = 16 << 20

// Open reads the book at that path; one that is not there is empty. A book that can't be read is an error, and empty:
// nothing is agreed to.
func Open(root, path string) (*Book, error) {
	b := &Book{root: root, path: path, rows: map[string]row{}}
	data, err := ownfile.Read(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	rows := map[string]row{}
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil {
		return b, fmt.Errorf("read what you trust here (%s), so nothing is trusted: %w", path, err)
	}
	b.rows, b.guarded = rows, b.files(rows)
	return b, nil
}

// Look takes a part as it is now.
func (b *Book) Look(p Part) Snapshot {
	s := Snapshot{Part: p}
	s.Files, s.Fault = look(b.root, p.Commands)
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n", p.Text, p.Commands)
	for _, f := range s.Files {
		fmt.Fprintf(h, "%q %q\n", f.Path, f.Sum)
	}
	s.Sum = hex.EncodeToString(h.Sum(nil))
	return s
}

// Standing is how the user stands to that.
func (b *Book) Standing(s Snapshot) Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, known := b.rows[s.key()]
	switch {
	case s.Fault != nil && r.Sum != "":
		return Changed
	case s.Fault != nil || !known:
		return New
	case r.Sum == s.Sum:
		return Agreed
	case r.Declined == s.Sum:
		return Declined
	case r.Sum != "":
		return Changed
	}
	return New
}

// Agree keeps that the user agrees to exactly these.
func (b *Book) Agree(all ...Snapshot) error {
	for _, s := range all {
		if s.Fault != nil {
			return fmt.Errorf("trust %s: %w", s.Name, s.Fault)
		}
	}
	return b.keep(all, func(_ row, s Snapshot) row {
		r := row{Sum: s.Sum, Text: s.Text, Path: s.Path, Files: map[string]string{}}
		for _, f := range s.Files {
			r.Files[f.Path] = f.Text
		}
		return r
	})
}

// Decline keeps that the user was asked about these, and said no. What was agreed to before stays so, if it comes back.
func (b *Book) Decline(all ...Snapshot) error {
	return b.keep(all, func(r row, s Snapshot) row {
		if r.Declined = s.Sum; r.Sum == s.Sum {
			r.Sum, r.Text, r.Path, r.Files = "", "", "", nil
		}
		return r
	})
}

// keep changes the rows of these, on disk before in memory.
func (b *Book) keep(all []Snapshot, change func(row, Snapshot) row) error {
	b.keeps.Lock()
	defer b.keeps.Unlock()
	b.mu.Lock()
	rows := maps.Clone(b.rows)
	b.mu.Unlock()
	for _, s := range all {
		rows[s.key()] = change(rows[s.key()], s)
	}
	data, err := json.MarshalIndent(rows, "", "\t")
	if err == nil && len(data) > most {
		err = errors.New("it is too much")
	}
	if err == nil {
		err = ownfile.Write(b.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what you trust here: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows, b.guarded = rows, b.files(rows)
	return nil
}

// Diff shows what differs from what was agreed to; "" if nothing was.
func (b *Book) Diff(s Snapshot) string {
	b.mu.Lock()
	r := b.rows[s.key()]
	b.mu.Unlock()
	if r.Sum == "" {
		return ""
	}
	out := strings.Builder{}
	if r.Text != s.Text {
		out.WriteString(content.Diff(s.Name, r.Text, s.Text))
	}
	now := map[string]string{}
	for _, f := range s.Files {
		now[f.Path] = f.Text
	}
	all := slices.Sorted(maps.Keys(r.Files))
	for path := range now {
		if _, was := r.Files[path]; !was {
			all = append(all, path)
		}
	}
	for _, path := range all {
		if was, is := r.Files[path], now[path]; was != is {
			out.WriteString(content.Diff(path, was, is))
		}
	}
	if out.Len() == 0 {
		return "(what changed is no text, or too long to be shown)\n"
	}
	return out.String()
}

// Guarded are the files, absolute, that the user agreed to have run: who changes one changes what runs.
func (b *Book) Guarded() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.guarded))
}

// files are the files of rows, absolute.
func (b *Book) files(rows map[string]row) map[string]bool {
	all := map[string]bool{}
	for _, r := range rows {
		if r.Path != "" {
			all[filepath.Join(b.root, r.Path)] = true
		}
		for path := range r.Files {
			all[filepath.Join(b.root, path)] = true
		}
	}
	return all
}

// Guards says why an agent that writes the file of that path asks in every mode; "" if it does not.
func (b *Book) Guards(abs string) string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.guarded[abs] {
		return ""
	}
	return "what you trust to run by itself (" + filepath.Base(abs) + ")"
}

// Review is how the user stands to a part as it is now.
type Review struct {
	Snapshot
	Standing Standing
	About    string // when parts of its kind run
	Diff     string // from what was agreed to, where that changed
}

// Review looks at parts.
func (b *Book) Review(parts []Part) (all []Review) {
	for _, p := range parts {
		r := Review{Snapshot: b.Look(p)}
		if r.Standing = b.Standing(r.Snapshot); r.Standing == Changed {
			r.Diff = b.Diff(r.Snapshot)
		}
		all = append(all, r)
	}
	return all
}

// Brief says in a sentence what does not run because nobody agreed to it; "" if nothing is like that.
func Brief(all []Review) string {
	fresh, changed := map[Kind]int{}, 0
	for _, r := range all {
		switch r.Standing {
		case New:
			fresh[r.Kind] += max(1, len(r.Commands))
		case Changed:
			changed++
		}
	}
	var brings []string
	for _, k := range slices.Sorted(maps.Keys(fresh)) {
		brings = append(brings, fmt.Sprintf("%s: %d", k, fresh[k]))
	}
	switch {
	case len(brings) > 0:
		return "This repository brings programs that do not run before you agree (" + strings.Join(brings, ", ") + "): /trust shows them"
	case changed > 0:
		return "Programs of this repository that you trusted have changed, and do not run: /trust shows how"
	}
	return ""
}
