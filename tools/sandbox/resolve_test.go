package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A link that a command may have made redirects no later command: not as a cache, a grant, a git directory or a word of
// a command line. One that the user made does.
func TestView_links(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    []string // of caches; a value that begins with / is relative to the base
		links  [][2]string
		leave  Leave
		git    []string
		before func(t *testing.T, at func(string) string) // after a box was made
		grants []string                                   // besides the workspace and the scratch directory
	}{
		{name: "a cache in the workspace", env: []string{"GOCACHE=/home/w/.cache/go-build"}},
		{name: "it is a link", env: []string{"GOCACHE=/home/w/.cache"}, links: [][2]string{{"home/w/.cache", "home/.ssh"}}},
		{name: "a directory above it is", env: []string{"PIP_CACHE_DIR=/home/w/.c/pip"}, links: [][2]string{{"home/w/.c", "outside"}}},
		{name: "it leads to the home directory", env: []string{"GOCACHE=/home/w/.cache"}, links: [][2]string{{"home/w/.cache", "home"}}},
		{name: "by two links", env: []string{"CARGO_HOME=/home/w/a"}, links: [][2]string{{"home/w/a", "home/w/b"}, {"home/w/b", "outside"}}},
		{name: "out of the workspace and in again", env: []string{"GOCACHE=/home/l/x"}, links: [][2]string{{"home/l", "home/w"}, {"home/w/x", "outside"}}},
		{name: "below another cache", env: []string{"GOPATH=/home/gopath", "GOMODCACHE=/home/gopath/pkg/mod"}, links: [][2]string{{"home/gopath/pkg/mod", "outside"}}, grants: []string{"home/gopath/pkg"}},
		{name: "the user's own link", env: []string{"GOCACHE=/home/gc"}, links: [][2]string{{"home/gc", "outside"}}, grants: []string{"outside"}},
		{name: "the user's link to all of the home directory", env: []string{"GOCACHE=/outside/gc"}, links: [][2]string{{"outside/gc", "home"}}},
		{name: "the user's link to keys", env: []string{"GOCACHE=/outside/gc"}, links: [][2]string{{"outside/gc", "home/.ssh"}}},
		{name: "a grant", leave: Leave{Write: []string{"home/data"}}, links: [][2]string{{"home/data", "outside"}}, grants: []string{"outside"}},
		{name: "a grant through the workspace", leave: Leave{Write: []string{"home/w/data"}}, links: [][2]string{{"home/w/data", "outside"}}},
		{name: "a grant through another", leave: Leave{Write: []string{"outside", "outside/sub/data"}}, links: [][2]string{{"outside/sub", "home/.ssh"}}, grants: []string{"outside"}},
		{name: "a directory that is made for a grant", leave: Leave{Write: []string{"home/w/up/new/"}}, links: [][2]string{{"home/w/up", "outside"}}},
		{name: "git's directory in another", git: []string{"common", "common/worktrees/w"}, links: [][2]string{{"common/worktrees/w", "home/.ssh"}}, grants: []string{"common"}},
		{name: "made by a command that was granted what lies above", env: []string{"GOCACHE=/outside/c/gc"}, before: func(t *testing.T, at func(string) string) {
			t.Helper()
			check(t, os.Rename(at("outside/c"), at("outside/d")))
			check(t, os.Mkdir(at("outside/c"), 0o700))
			check(t, os.Symlink(at("bin"), at("outside/c/gc")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			check(t, err)
			at := func(rel string) string { return filepath.Join(base, rel) }
			for _, d := range []string{"home/w", "home/.ssh", "home/gopath/pkg", "outside/c/gc", "scratch", "common/worktrees", "bin"} {
				check(t, os.MkdirAll(at(d), 0o700))
			}
			for _, l := range c.links {
				check(t, os.Symlink(at(l[1]), at(l[0])))
			}
			g := Workspace{Root: at("home/w"), Home: at("home"), Scratch: at("scratch"), Secret: func(p string) string { return map[string]string{".ssh": "SSH keys"}[p] }}
			for _, e := range c.env {
				name, value := e[:slices.Index([]byte(e), '=')], e[slices.Index([]byte(e), '=')+1:]
				g.Environ = append(g.Environ, name+"="+at(value))
			}
			for _, d := range c.git {
				g.Git = append(g.Git, at(d))
			}
			for i, w := range c.leave.Write {
				c.leave.Write[i] = at(w)
				if w[len(w)-1] == '/' {
					c.leave.Write[i] += "/"
				}
			}
			w := &Backend{}
			v, err := g.view(Command, c.leave, w)
			check(t, err)
			if c.before != nil {
				c.before(t, at)
				v, err = g.view(Command, c.leave, w)
				check(t, err)
			}
			want := []string{at("scratch"), at("home/w")}
			for _, d := range c.grants {
				want = append(want, at(d))
			}
			slices.Sort(want)
			if slices.Sort(v.write); !slices.Equal(slices.Compact(v.write), want) {
				t.Errorf("a command may write %q, want %q", v.write, want)
			}
			if _, err := os.Lstat(at("outside/new")); err == nil {
				t.Error("a directory was made where a command's link leads")
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
