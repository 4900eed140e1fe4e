package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	maxListed = 100_000         // names that a git may list
	maxWait   = 5 * time.Second // and how long it may take
)

// List returns the files that git lists for these words, each name ended by NUL in its output, in the environment that
// Calm makes. program is git's path; "" is an error, and so is a list that is too long.
func List(program, root string, environ, words []string) (names []string, err error) {
	if program == "" {
		return nil, errors.New("no git is installed to list the files with")
	}
	ctx, stop := context.WithTimeout(context.Background(), maxWait)
	defer stop()
	cmd := exec.CommandContext(ctx, program, append([]string{"--no-pager"}, words...)...)
	cmd.Dir, cmd.Env = root, Calm(environ)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start git: %w", err)
	}
	r := bufio.NewReader(out)
	for len(names) <= maxListed {
		name, err := r.ReadString(0)
		if name = strings.Trim(name, "\x00\n"); name != "" {
			names = append(names, name)
		}
		if err != nil {
			break
		}
	}
	if len(names) > maxListed {
		stop()
		err = errors.New("there are too many files to look at")
	}
	switch waited := cmd.Wait(); {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git takes more than %v to list the files", maxWait)
	case waited != nil:
		return nil, fmt.Errorf("git can't list the files: %w", waited)
	}
	return names, nil
}
