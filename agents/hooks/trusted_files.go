package hooks

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

	"fantail/tools/permission/shell"
)

const (
	maxFiles = 64       // that a part may name
	maxFile  = 16 << 20 // bytes of one
	maxText  = 64 << 10 // stored bytes of one file, to show what changed
	maxKept  = 1 << 20  // stored bytes of all files
	maxTries = 2000     // paths that are tried
)

// here replaces the variables by which a command line names the workspace.
const here = "/.the-workspace"

// variables name the workspace in a command line.
var variables = strings.NewReplacer(
	"${CLAUDE_PROJECT_DIR}", here, "$CLAUDE_PROJECT_DIR", here, "${FANTAIL_PROJECT_DIR}", here, "$FANTAIL_PROJECT_DIR", here,
)

// look finds the workspace's files that command lines name, sorted by path, as they are now. The error says why they
// can't be vouched for.
func look(root string, commands []string) ([]TrustedFile, error) {
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
	slices.SortFunc(l.files, func(a, b TrustedFile) int { return strings.Compare(a.Path, b.Path) })
	return l.files, nil
}

// looking is a search for files that command lines name.
type looking struct {
	dir   *os.Root
	root  string
	seen  map[string]bool
	files []TrustedFile
	kept  int
}

// command finds the files that one command line names. It considers words anywhere in it, also in text for another
// shell, relative to each directory that it names; it skips words that are only targets of output.
func (l *looking) command(c string) error {
	s, err := shell.Parse(variables.Replace(c))
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

// read returns the words of a script, without those that are only targets of output.
func read(s *shell.Script) (words []string) {
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

// readings returns the paths below the workspace that a word may mean. The beginning of an absolute path may be an
// unknown variable.
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

// word adds the file of a path, or the files that a pattern matches, or the files directly in one of the program's own
// directories.
func (l *looking) word(p string) error {
	if l.seen[p] {
		return nil
	}
	if l.seen[p] = true; len(l.seen) > maxTries {
		return errors.New("its command lines name too many paths to be looked at")
	}
	if strings.ContainsAny(p, "*?[") {
		all, _ := fs.Glob(l.dir.FS(), p)
		for _, m := range all[:min(len(all), maxFiles+1)] {
			if err := l.file(m); err != nil {
				return err
			}
		}
		return nil
	}
	if top, _, _ := strings.Cut(p, "/"); top != p && slices.Contains([]string{".claude", ".fantail", ".agents"}, top) {
		if list, err := fs.ReadDir(l.dir.FS(), p); err == nil {
			for _, e := range list[:min(len(list), maxFiles+1)] {
				if err := l.file(path.Join(p, e.Name())); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return l.file(p)
}

// file adds one file; a path without a file adds nothing.
func (l *looking) file(p string) error {
	if slices.ContainsFunc(l.files, func(f TrustedFile) bool { return f.Path == p }) {
		return nil
	}
	f, err := l.dir.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		to, leads := l.dir.Readlink(p)
		if leads == nil { // out of the workspace, or nowhere
			return l.add(TrustedFile{Path: p, Sum: "leads to " + to, Out: true})
		}
		if errors.Is(err, fs.ErrPermission) {
			return l.add(TrustedFile{Path: p, Sum: "can't be read"})
		}
		return nil
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil || !i.Mode().IsRegular() {
		return err
	}
	if i.Size() > maxFile {
		return fmt.Errorf("%s has %d bytes: files that run have at most %d here", p, i.Size(), maxFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return fmt.Errorf("read %s: %w", p, err)
	}
	sum := sha256.Sum256(data)
	is := TrustedFile{Path: p, Sum: hex.EncodeToString(sum[:])}
	if len(data) <= maxText && l.kept+len(data) <= maxKept && utf8.Valid(data) {
		is.Text = string(data)
		l.kept += len(data)
	}
	return l.add(is)
}

func (l *looking) add(f TrustedFile) error {
	if l.files = append(l.files, f); len(l.files) > maxFiles {
		return fmt.Errorf("its command lines name more than %d files", maxFiles)
	}
	return nil
}
