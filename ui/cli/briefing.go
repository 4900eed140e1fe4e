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

// Briefing gives an agent its system prompt. It reads the facts once, on first use: if the prompt
// changed during a conversation, every model would read the whole conversation again.
type Briefing struct {
	files *instructions.Briefs
	facts func() turn.PromptFacts
}

// NewBriefing returns the Briefing for agents in the place p that follow the instruction files.
func NewBriefing(p workspace.Place, files *instructions.Briefs, now func() time.Time) *Briefing {
	return &Briefing{files, sync.OnceValue(func() turn.PromptFacts {
		return turn.PromptFacts{
			Dir: p.Root, Platform: runtime.GOOS + "/" + runtime.GOARCH,
			Date: now().Format("2006-01-02"), Branch: Branch(p.Root),
		}
	})}
}

// System returns an agent's system prompt.
func (b *Briefing) System(a event.Info) string {
	f := b.facts()
	f.Name, f.Sub, f.Fork, f.Observer = a.Name, a.Kind.Tasked(), a.Kind.Handles(), a.Kind.Observes()
	f.Files = b.files.System(a)
	text, err := turn.SystemPrompt(f)
	if err != nil {
		panic(err) // can't happen: the texts are embedded and the facts are set
	}
	return text
}

// Instructions names the first instruction file that agents follow and how many more there are; ""
// if there is none.
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

// Branch returns the branch of the workspace. It reads git's own file, because git itself could run
// what a repository's configuration says. For a detached head it is the short revision; "" if root
// is no git root.
func Branch(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := readHead(dir); err == nil {
		// In a worktree or a submodule, .git is a file that names the directory.
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
	// Opening a pipe might block until its other end is open.
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
