package hooks

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

	"fantail/tools/files"
)

// TrustKind names the kind of a part, for people. The reader of a kind of configuration defines it.
type TrustKind string

// TrustPart is what the user agrees to as one. Its Kind and Name identify it.
type TrustPart struct {
	Kind     TrustKind
	Name     string   // ".claude/settings.json PreToolUse"
	Path     string   // of the workspace's file that holds it; "": none, or one that is guarded by its name
	Text     string   // its configuration, for people: one line for each statement
	Commands []string // its command lines, as a shell reads them
}

func (p TrustPart) key() string { return string(p.Kind) + " " + p.Name }

// TrustSnapshot is a part as it was at one time.
type TrustSnapshot struct {
	TrustPart
	Files []TrustedFile
	Sum   string // over all of it
	Fault error  // why it can't be agreed to; nil: it can
}

// TrustedFile is a file of the workspace that a part's command lines name.
type TrustedFile struct {
	Path string // from the workspace
	Sum  string
	Text string // its content; "" if it does not exist or is too long to store
	Out  bool   // it leads out of the workspace: the target is not read
}

// TrustState is the user's answer to a part.
type TrustState int

const (
	NewTrust TrustState = iota // the user has not been asked
	Changed                    // it differs from what was agreed to
	Declined                   // as it is
	Agreed                     // to exactly that
)

func (s TrustState) String() string {
	return map[TrustState]string{NewTrust: "not trusted yet", Changed: "changed since you trusted it", Declined: "declined", Agreed: "trusted"}[s]
}

// row is the record of a part.
type row struct {
	Sum      string            `json:"sum,omitempty"`      // agreed to; "": nothing was
	Text     string            `json:"text,omitempty"`     // of that
	Files    map[string]string `json:"files,omitempty"`    // its files, with their content
	Path     string            `json:"path,omitempty"`     // of the file that holds it
	Declined string            `json:"declined,omitempty"` // the sum of what was declined last
}

// TrustFile is the record of what the user agreed to in one workspace. It is safe for concurrent use.
type TrustFile struct {
	root, path string

	keeps sync.Mutex // held while rows are changed, so that no answer overwrites another

	mu      sync.Mutex
	rows    map[string]row
	guarded map[string]bool // the files of the rows, absolute
}

// most is the largest size of a trust file, in bytes.
const most = 16 << 20

// OpenTrustFile reads the trust file at that path; a missing one is empty. If it can't be read, OpenTrustFile returns
// an error and an empty one: nothing is agreed to.
func OpenTrustFile(root, path string) (*TrustFile, error) {
	b := &TrustFile{root: root, path: path, rows: map[string]row{}}
	data, err := files.ReadOwn(path, most)
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
func (b *TrustFile) Look(p TrustPart) TrustSnapshot {
	s := TrustSnapshot{TrustPart: p}
	s.Files, s.Fault = look(b.root, p.Commands)
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n", p.Text, p.Commands)
	for _, f := range s.Files {
		fmt.Fprintf(h, "%q %q\n", f.Path, f.Sum)
	}
	s.Sum = hex.EncodeToString(h.Sum(nil))
	return s
}

// Standing returns the user's answer to s.
func (b *TrustFile) Standing(s TrustSnapshot) TrustState {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, known := b.rows[s.key()]
	switch {
	case s.Fault != nil && r.Sum != "":
		return Changed
	case s.Fault != nil || !known:
		return NewTrust
	case r.Sum == s.Sum:
		return Agreed
	case r.Declined == s.Sum:
		return Declined
	case r.Sum != "":
		return Changed
	}
	return NewTrust
}

// Agree records that the user agrees to exactly these.
func (b *TrustFile) Agree(all ...TrustSnapshot) error {
	for _, s := range all {
		if s.Fault != nil {
			return fmt.Errorf("trust %s: %w", s.Name, s.Fault)
		}
	}
	return b.keep(all, func(_ row, s TrustSnapshot) row {
		r := row{Sum: s.Sum, Text: s.Text, Path: s.Path, Files: map[string]string{}}
		for _, f := range s.Files {
			r.Files[f.Path] = f.Text
		}
		return r
	})
}

// Decline records that the user was asked about these and said no. An earlier agreement to another version of a part
// remains, in case that version comes back.
func (b *TrustFile) Decline(all ...TrustSnapshot) error {
	return b.keep(all, func(r row, s TrustSnapshot) row {
		if r.Declined = s.Sum; r.Sum == s.Sum {
			r.Sum, r.Text, r.Path, r.Files = "", "", "", nil
		}
		return r
	})
}

// keep changes the rows of these, on disk before in memory.
func (b *TrustFile) keep(all []TrustSnapshot, change func(row, TrustSnapshot) row) error {
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
		err = files.WriteOwn(b.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what you trust here: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows, b.guarded = rows, b.files(rows)
	return nil
}

// Diff shows how s differs from what was agreed to; "" if nothing was.
func (b *TrustFile) Diff(s TrustSnapshot) string {
	b.mu.Lock()
	r := b.rows[s.key()]
	b.mu.Unlock()
	if r.Sum == "" {
		return ""
	}
	out := strings.Builder{}
	if r.Text != s.Text {
		out.WriteString(files.Diff(s.Name, r.Text, s.Text))
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
			out.WriteString(files.Diff(path, was, is))
		}
	}
	if out.Len() == 0 {
		return "(what changed is no text, or too long to be shown)\n"
	}
	return out.String()
}

// Guarded returns the files, absolute, that the user agreed to run: changing one changes what runs.
func (b *TrustFile) Guarded() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.guarded))
}

// files returns the files of rows, absolute.
func (b *TrustFile) files(rows map[string]row) map[string]bool {
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

// Guards says why an agent that writes the file of that path must ask in every mode; "" if it need not.
func (b *TrustFile) Guards(abs string) string {
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

// TrustReview is a part as it is now, with the user's answer.
type TrustReview struct {
	TrustSnapshot
	Standing TrustState
	About    string // when parts of its kind run
	Diff     string // from what was agreed to, if that changed
}

// Review looks at parts.
func (b *TrustFile) Review(parts []TrustPart) (all []TrustReview) {
	for _, p := range parts {
		r := TrustReview{TrustSnapshot: b.Look(p)}
		if r.Standing = b.Standing(r.TrustSnapshot); r.Standing == Changed {
			r.Diff = b.Diff(r.TrustSnapshot)
		}
		all = append(all, r)
	}
	return all
}

// BriefReviews says in a sentence what does not run because the user has not agreed to it; "" if there is nothing.
func BriefReviews(all []TrustReview) string {
	fresh, changed := map[TrustKind]int{}, 0
	for _, r := range all {
		switch r.Standing {
		case NewTrust:
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
