package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"fantail/tools/permit/bash"
)

const (
	mostFiles = 64       // that a part may name
	mostFile  = 16 << 20 // bytes of one
	mostText  = 64 << 10 // bytes of one that are kept, to show what changed
	mostKept  = 1 << 20  // bytes that are kept of all
	mostTries = 2000     // paths that are looked for
)

// here stands for the workspace where a command line names it by a variable.
const here = "/.the-workspace"

// variables name the workspace in a command line.
var variables = strings.NewReplacer(
	"${CLAUDE_PROJECT_DIR}", here, "$CLAUDE_PROJECT_DIR", here, "${FANTAIL_PROJECT_DIR}", here, "$FANTAIL_PROJECT_DIR", here,
)

// look finds the files of the workspace that command lines name, as they are now, by their paths. The error says why
// they can't be vouched for.
func look(root string, commands []string) ([]File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	l := looking{dir: dir, root: root, seen: map[string]bool{}}
	for _, c := range commands {
		if err := l.command(c); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return l.files, nil
}

// looking is a look for what command lines name.
type looking struct {
	dir   *os.Root
	root  string
	seen  map[string]bool
	files []File
	kept  int
}

// command finds what one of them names. Words count that stand anywhere in it, also in what it hands to another shell, and
// from each directory that it names; but not where output goes and nothing else is done.
func (l *looking) command(c string) error {
	s, err := bash.Parse(variables.Replace(c))
	if err != nil {
		return err
	}
	var words []string
	for _, said := range read(s) {
		words = append(words, said)
		words = append(words, strings.FieldsFunc(said, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-~*?@+%,", r)
		})...)
	}
	from := []string{"."}
	for _, w := range words {
		for _, p := range l.readings(w) {
			if i, err := l.dir.Stat(p); err == nil && i.IsDir() && !slices.Contains(from, p) && len(from) < 16 {
				from = append(from, p)
			}
		}
	}
	for _, w := range words {
		for _, base := range from {
			for _, p := range l.readings(w) {
				if err := l.word(path.Join(base, p)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read are the words of a script that are not only where output goes.
func read(s *bash.Script) (words []string) {
	times := map[string]int{}
	for _, w := range s.Said {
		times[w]++
	}
	for _, w := range s.Writes {
		times[w]--
	}
	for _, w := range s.Said {
		if times[w] > 0 {
			words = append(words, w)
		}
	}
	return words
}

// readings are the paths from the workspace that a word may stand for. Of one that is absolute the beginning may be a
// variable that nobody knows yet.
func (l *looking) readings(w string) []string {
	if _, value, assigned := strings.Cut(w, "="); assigned {
		w = value
	}
	if rest, inside := strings.CutPrefix(w, here); inside {
		w = strings.TrimLeft(rest, "/")
	} else if rest, inside := strings.CutPrefix(w, l.root+"/"); inside {
		w = rest
	}
	w = path.Clean(strings.TrimLeft(w, "/"))
	if w == "." || !filepath.IsLocal(w) || strings.ContainsRune(w, 0) || len(w) > 1024 {
		return nil
	}
	return []string{w}
}

// word takes in the file of a path, or those that a pattern matches, or those directly in a directory that holds such
// things.
func (l *looking) word(p string) error {
	if l.seen[p] {
		return nil
	}
	if l.seen[p] = true; len(l.seen) > mostTries {
		return errors.New("its command lines name too many paths to be looked at")
	}
	if strings.ContainsAny(p, "*?[") {
		all, _ := fs.Glob(l.dir.FS(), p)
		for _, m := range all[:min(len(all), mostFiles+1)] {
			if err := l.file(m); err != nil {
				return err
			}
		}
		return nil
	}
	if top, _, _ := strings.Cut(p, "/"); top != p && slices.Contains([]string{".claude", ".fantail", ".agents"}, top) {
		if list, err := fs.ReadDir(l.dir.FS(), p); err == nil {
			for _, e := range list[:min(len(list), mostFiles+1)] {
				if err := l.file(path.Join(p, e.Name())); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return l.file(p)
}

// file takes in one file; what is none is nothing.
func (l *looking) file(p string) error {
	if slices.ContainsFunc(l.files, func(f File) bool { return f.Path == p }) {
		return nil
	}
	f, err := l.dir.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		to, leads := l.dir.Readlink(p)
		if leads == nil { // out of the workspace, or nowhere
			return l.add(File{Path: p, Sum: "leads to " + to, Out: true})
		}
		if errors.Is(err, fs.ErrPermission) {
			return l.add(File{Path: p, Sum: "can't be read"})
		}
		return nil
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil || !i.Mode().IsRegular() {
		return err
	}
	if i.Size() > mostFile {
		return fmt.Errorf("%s has %d bytes: files that run have at most %d here", p, i.Size(), mostFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil {
		return fmt.Errorf("read %s: %w", p, err)
	}
	sum := sha256.Sum256(data)
	is := File{Path: p, Sum: hex.EncodeToString(sum[:])}
	if len(data) <= mostText && l.kept+len(data) <= mostKept && utf8.Valid(data) {
		is.Text = string(data)
		l.kept += len(data)
	}
	return l.add(is)
}

func (l *looking) add(f File) error {
	if l.files = append(l.files, f); len(l.files) > mostFiles {
		return fmt.Errorf("its command lines name more than %d files", mostFiles)
	}
	return nil
}
