package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/git"
	"fantail/tools/permission/shell"
)

const (
	maxInside   = 1000 // entries of a directory and below that are searched for links
	deepestLink = 4    // directories below it
)

// Protected are the absolute paths at the top of the workspace at root, and of git's files for it, that programs obey
// by themselves, and the paths to which links among them lead. Some do not exist yet. outside are the directories
// elsewhere that git writes for root, and home is the user's.
func Protected(root string, outside []string, home string) []string {
	all := named(root)
	all = append(all, git.Obeyed(root, outside, home)...)
	return led(root, all)
}

// WhyProtected says why programs or agents obey the file at a path of the workspace, or a file above it; "" if they do
// not.
func WhyProtected(root string, outside []string, home, path string) string {
	for _, p := range Protected(root, outside, home) {
		if path != p && !strings.HasPrefix(path, p+"/") {
			continue
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			rel = p
		}
		return "what programs obey by themselves (" + rel + ")"
	}
	return ""
}

// named are the paths at the top of a workspace whose names are obeyed.
func named(root string) (all []string) {
	var look func(rel string)
	look = func(rel string) {
		for _, e := range git.Entries(filepath.Join(root, rel)) {
			at := filepath.Join(rel, e.Name())
			if shell.ProtectedDir(rel, e.Name()) || !e.IsDir() && shell.ProtectedFile(rel, e.Name()) {
				all = append(all, filepath.Join(root, at))
			} else if e.IsDir() && strings.Count(at, "/") < 2 && shell.LeadsToProtected(e.Name()) {
				look(at)
			}
		}
	}
	look("")
	return all
}

// led returns the paths, with the workspace's links on the way to them or in them, and the places in the workspace to
// which those lead. It adds no path outside of the workspace.
func led(root string, paths []string) []string {
	all, queue := slices.Clone(paths), slices.Clone(paths)
	add := func(p string) bool {
		if p == root || !strings.HasPrefix(p, root+"/") || slices.Contains(all, p) {
			return false
		}
		all = append(all, p)
		return true
	}
	plain := map[string]bool{}                                    // paths that are no links
	for n := 0; n < len(queue) && n < len(paths)+maxInside; n++ { // it grows
		links, real := follow(queue[n], plain)
		for _, l := range links {
			add(l)
		}
		if len(links) > 0 {
			add(real)
		}
		for _, l := range linksIn(real) {
			if add(l) {
				queue = append(queue, l)
			}
		}
	}
	return all
}

// follow returns the links on the way to a path, without links themselves, and where the path leads. plain are paths
// known to be no links.
func follow(path string, plain map[string]bool) (links []string, real string) {
	real = "/"
	parts := strings.Split(path, "/")
	for len(parts) > 0 && len(links) < maxLinks {
		name := parts[0]
		parts = parts[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		if plain[next] {
			real = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			real = next
			plain[next] = true
			continue
		}
		links = append(links, next)
		if filepath.IsAbs(to) {
			real = "/"
		}
		parts = append(strings.Split(to, "/"), parts...)
	}
	return links, real
}

// linksIn are the links in a directory and below.
func linksIn(dir string) (all []string) {
	left := maxInside
	var look func(d string, depth int)
	look = func(d string, depth int) {
		for _, e := range git.Entries(d) {
			if left--; left < 0 {
				return
			}
			switch at := filepath.Join(d, e.Name()); {
			case e.Type()&os.ModeSymlink != 0:
				all = append(all, at)
			case e.IsDir() && depth > 0:
				look(at, depth-1)
			}
		}
	}
	look(dir, deepestLink)
	return all
}
