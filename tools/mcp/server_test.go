package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program is found where a shell would find it that stands in the workspace, with the server's own PATH.
func TestServer_Program(t *testing.T) {
	dir, bin, root := t.TempDir(), t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{filepath.Join(dir, "prog"): 0o755, filepath.Join(bin, "std"): 0o755, filepath.Join(root, "here"): 0o755, filepath.Join(root, "text"): 0o644, filepath.Join(dir, "text"): 0o644} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	own := map[string]string{"PATH": "rel:" + dir}
	for _, c := range []struct {
		server      Server
		want, fault string
	}{
		{Server{Command: "std"}, filepath.Join(bin, "std"), ""},
		{Server{Command: "./here"}, filepath.Join(root, "here"), ""},
		{Server{Command: filepath.Join(dir, "prog")}, filepath.Join(dir, "prog"), ""},
		{Server{Command: "prog", Env: own}, filepath.Join(dir, "prog"), ""},
		{Server{Command: "./text"}, "", "./text is no program, or may not be run"},
		{Server{Command: "./prog"}, "", "there is no program ./prog"},
		{Server{Command: "prog"}, "", "there is no program prog in any directory of PATH"},
		{Server{Command: "here"}, "", "there is no program here in any directory of PATH"}, // . is in no PATH
		{Server{Command: "text", Env: own}, "", "in any directory of the PATH that it is given"},
		{Server{Command: "std", Env: own}, "", "in any directory of the PATH that it is given"},
	} {
		path, err := c.server.Program(root, []string{"PATH=/none", "PATH=.:" + bin})
		if path != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v: %s, %v, want %s%q", c.server, path, err, c.want, c.fault)
		}
	}
}
