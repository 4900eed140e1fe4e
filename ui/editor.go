package ui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fantail/ui/term"

	tea "charm.land/bubbletea/v2"
)

// edit runs the external editor on a draft, in a file of that name. It passes the result and the
// file's path to then, which returns whether to keep the file. It runs in a command and returns a
// [returned].
func edit(terminal Terminal, environ []string, name, draft string, then func(text, path string, err error) (m tea.Msg, keep bool)) tea.Msg {
	fail := func(err error) tea.Msg {
		m, _ := then("", "", err)
		return returned{m}
	}
	if terminal == nil {
		return fail(fmt.Errorf("no editor can use this terminal"))
	}
	argv, err := editorOf(environ)
	if err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "fantail-")
	if err != nil {
		return fail(fmt.Errorf("set the draft aside for the editor: %w", err))
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(draft), 0o600); err != nil {
		os.RemoveAll(dir)
		return fail(fmt.Errorf("set the draft aside for the editor: %w", err))
	}
	cmd := exec.Command(argv[0], append(argv[1:], path)...)
	cmd.Env = environ
	return term.Hand(func() error { return terminal.Run(cmd) }, func(err error) tea.Msg {
		text, unread := os.ReadFile(path)
		keep := false
		switch {
		case err == nil:
			err = unread
		case unread == nil && string(text) != draft: // the editor failed after it had saved
			keep, err = true, fmt.Errorf("run the editor %s: %w; what it saved is kept in %s", argv[0], err, path)
		default:
			err = fmt.Errorf("run the editor %s: %w", argv[0], err)
		}
		m, wanted := then(string(text), path, err)
		if !keep && !wanted {
			os.RemoveAll(dir)
		}
		return returned{m}
	})()
}

// returned says that the screen has the terminal again, and carries the result. The human sees
// nothing on the screen before it.
type returned struct{ with tea.Msg }

// editorOf returns the human's editor with its arguments.
func editorOf(environ []string) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok && strings.TrimSpace(v) != "" {
				return strings.Fields(v), nil
			}
		}
	}
	for _, name := range []string{"vi", "vim", "nano"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("no editor was found: set VISUAL or EDITOR")
}
