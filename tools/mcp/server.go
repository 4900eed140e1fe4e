package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Server says how to reach a server: by a program to start, or at an address. Either Command or URL
// is empty.
type Server struct {
	Name  string // as configured
	Clean string `json:",omitempty"` // its word in the names of its tools; "": Name
	Place string // where it is configured, for people: ".mcp.json:3:5"
	Own   bool   // configured by the user, not by the workspace

	Command string
	Args    []string
	Env     map[string]string // in addition to the environment of commands

	URL     string // of a streamable HTTP server
	Headers map[string]string
	Client  string // registered OAuth client; "": none
	Secret  string // secret of Client

	Timeout time.Duration // of one call; 0: the default
	Honest  bool          // the user trusts its read-only hints

	Sampling bool `json:",omitempty"` // it may ask an agent's model, each time with the user's yes
	Port     int  `json:",omitempty"` // of this machine, to which its logins return; 0: any free one
}

// Program returns the file of the server's command. It searches as a shell would in the workspace
// root with environ, which the server's own variables override.
func (s Server) Program(root string, environ []string) (string, error) {
	if strings.Contains(s.Command, "/") {
		path := s.Command
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		switch is, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("there is no program %s", s.Command)
		case err != nil:
			return "", err
		case !isExecutable(is):
			return "", fmt.Errorf("%s is no program, or may not be run", s.Command)
		}
		return path, nil
	}
	path, whose := "", "PATH"
	for _, e := range environ {
		if of, is := strings.CutPrefix(e, "PATH="); is {
			path = of
		}
	}
	if own, says := s.Env["PATH"]; says {
		path, whose = own, "the PATH that it is given"
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, s.Command)
		if is, err := os.Stat(p); err == nil && isExecutable(is) {
			return p, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in any directory of %s", s.Command, whose)
}

// isExecutable reports whether some user may run the file.
func isExecutable(i fs.FileInfo) bool { return i.Mode().IsRegular() && i.Mode()&0o111 != 0 }
