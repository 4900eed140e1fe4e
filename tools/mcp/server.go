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

// Server is how a server is reached: a program that it starts, or an address. Which of both is said by Command and URL: one
// of them is empty.
type Server struct {
	Name  string // as it is configured
	Clean string `json:",omitempty"` // that stands for it in the names of its tools; "": its name
	Place string // where that is said, for people: ".mcp.json:3:5"
	Own   bool   // by the user's own configuration, and not by what the workspace brings

	Command string
	Args    []string
	Env     map[string]string // beside what commands get

	URL     string // of a streamable HTTP server
	Headers map[string]string
	Client  string // the OAuth client that was registered for us; "": none was
	Secret  string // that client's

	Timeout time.Duration // of one call; 0: as long as usual
	Honest  bool          // the user trusts it to say which of its tools only read

	Sampling bool `json:",omitempty"` // it may ask the model of an agent, each time with the user's yes
	Port     int  `json:",omitempty"` // of this machine, at which its logins end; 0: any that is free
}

// Program is the file that the server's command names, found as a shell would that stands in the workspace root and has
// environ, with the server's own variables over it.
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

// isExecutable reports whether a file may be run by somebody.
func isExecutable(i fs.FileInfo) bool { return i.Mode().IsRegular() && i.Mode()&0o111 != 0 }
