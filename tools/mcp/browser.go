package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// openScript starts a program with an address and waits up to three seconds for it to fail. A
// program that runs longer goes on, detached.
const openScript = `"$0" "$1" & n=0
while kill -0 $! 2>/dev/null; do
	[ $n = 30 ] && exit 0
	n=$((n + 1)); sleep 0.1
done
wait $!`

// Browse opens an address in the browser that BROWSER in environ names, else in the desktop's. The
// browser belongs to the user and outlives this program.
func Browse(ctx context.Context, address string, environ []string) error {
	var names []string
	path := ""
	for _, v := range environ {
		switch name, is, _ := strings.Cut(v, "="); name {
		case "BROWSER":
			names = strings.Split(is, ":")
		case "PATH":
			path = is
		}
	}
	for _, name := range append(names, "xdg-open", "open") {
		program := findProgram(name, path)
		if program == "" {
			continue
		}
		c := exec.CommandContext(ctx, "/bin/sh", "-c", openScript, program, address)
		c.Env, c.SysProcAttr = environ, &syscall.SysProcAttr{Setsid: true}
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return errors.New("there is no xdg-open, and BROWSER names no program")
}

// findProgram finds a program in the directories of path.
func findProgram(name, path string) string {
	if name == "" || strings.Contains(name, "%") {
		return ""
	}
	dirs := filepath.SplitList(path)
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		p := filepath.Join(dir, name)
		if i, err := os.Stat(p); err == nil && filepath.IsAbs(p) && i.Mode().IsRegular() && i.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}
