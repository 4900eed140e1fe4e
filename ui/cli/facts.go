package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/prompts"
	"fantail/ui/cli/place"
)

// Briefing is what tells an agent who and where it is. The facts are read once, when
// somebody first asks: a prompt that changed in the middle of a conversation would
// make every model read all of it anew.
type Briefing struct {
	root  string
	facts func() prompts.Facts
}

// NewBriefing returns the briefing of the agents in that place.
func NewBriefing(p place.Place, now func() time.Time) *Briefing {
	facts := sync.OnceValue(func() prompts.Facts {
		f := prompts.Facts{
			Dir: p.Root, Platform: runtime.GOOS + "/" + runtime.GOARCH,
			Date: now().Format("2006-01-02"), Branch: Branch(p.Root),
		}
		var err error
		if f.From, f.Memory, err = prompts.Memory(p.Root, p.Dir); err != nil {
			f.Memory = "They can't be read: " + err.Error()
		}
		return f
	})
	return &Briefing{p.Root, facts}
}

// System is an agent's system prompt.
func (b *Briefing) System(a event.Info) string {
	f := b.facts()
	f.Name, f.Sub, f.Fork, f.Observer = a.Name, a.Kind.Tasked(), a.Kind.Handles(), a.Kind.Observes()
	text, err := prompts.System(f)
	if err != nil {
		panic(err) // the texts are embedded and the facts are set
	}
	return text
}

// Instructions is the file of the project's that main's prompt carries, as seen from
// the workspace's root; "" if there is none.
func (b *Briefing) Instructions() string {
	rel, err := filepath.Rel(b.root, b.facts().From)
	if b.facts().From == "" || err != nil {
		return ""
	}
	return rel
}

// Branch is the branch the workspace is on, read from git's own file: git itself
// could run what a repository's configuration says. A detached head is its short
// revision; "" if root is no git root.
func Branch(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := readHead(dir); err == nil {
		// A worktree or a submodule: a file that names the directory.
		to, found := strings.CutPrefix(strings.TrimSpace(link), "gitdir:")
		if !found {
			return ""
		}
		if dir = strings.TrimSpace(to); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	head, err := readHead(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	line := strings.TrimSpace(head)
	if ref, found := strings.CutPrefix(line, "ref:"); found {
		return strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/")
	}
	if len(line) < 12 || strings.Trim(line, "0123456789abcdef") != "" {
		return ""
	}
	return line[:12]
}

// readHead reads one of git's one-line files.
func readHead(path string) (string, error) {
	// Opening anything else might wait for its other end.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	return string(text), err
}
