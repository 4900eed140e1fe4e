package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/instructions"
	"fantail/agents/turn"
	"fantail/ui/workspace"
)

// Briefing is what tells an agent who and where it is. The facts are read once, when
// somebody first asks: a prompt that changed in the middle of a conversation would
// make every model read all of it anew.
type Briefing struct {
	files *instructions.Briefs
	facts func() turn.PromptFacts
}

// NewBriefing returns the briefing of the agents in that place, who are told of those files.
func NewBriefing(p workspace.Place, files *instructions.Briefs, now func() time.Time) *Briefing {
	return &Briefing{files, sync.OnceValue(func() turn.PromptFacts {
		return turn.PromptFacts{
			Dir: p.Root, Platform: runtime.GOOS + "/" + runtime.GOARCH,
			Date: now().Format("2006-01-02"), Branch: Branch(p.Root),
		}
	})}
}

// System is an agent's system prompt.
func (b *Briefing) System(a event.Info) string {
	f := b.facts()
	f.Name, f.Sub, f.Fork, f.Observer = a.Name, a.Kind.Tasked(), a.Kind.Handles(), a.Kind.Observes()
	f.Files = b.files.System(a)
	text, err := turn.SystemPrompt(f)
	if err != nil {
		panic(err) // the texts are embedded and the facts are set
	}
	return text
}

// Instructions names the file of the workspace's that agents follow, and how many more there are; "" if there is none.
func (b *Briefing) Instructions() string {
	first, more := b.files.Start()
	if more > 0 {
		first += fmt.Sprintf(" and %d more", more)
	}
	if n := len(b.files.Now().Faults()); n > 0 {
		if first == "" {
			first = "no file"
		}
		first += fmt.Sprintf(" (/memory files has %d to look at)", n)
	}
	return first
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
