package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"fantail/tools/sandbox/cell"
)

// devicesKept are the devices that are for a command.
var devicesKept = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// mounted are Landlock's rules in addition to the mounts of the view: they enforce the same a second time.
func (v view) mounted() []cell.Rule {
	rules := []cell.Rule{{Path: "/", Access: cell.Read}, {Path: "/dev/shm", Access: cell.Write}, {Path: "/dev/pts", Access: cell.Device}, {Path: "/dev/ptmx", Access: cell.Device}}
	for _, w := range slices.Concat(v.write, temporary, []string{v.mail}) {
		rules = append(rules, cell.Rule{Path: w, Access: cell.Write})
	}
	return append(rules, own()...)
}

// own are the devices, and the files in which a process writes about itself.
func own() (rules []cell.Rule) {
	for _, d := range devicesKept {
		rules = append(rules, cell.Rule{Path: d, Access: cell.Device})
	}
	return rules
}

// alone are Landlock's rules where there are no mounts. Landlock can only grant: it hides a path by granting everything
// around it.
func (v view) alone() []cell.Rule {
	hidden := slices.Concat(v.hide, temporary, []string{running, "/dev", "/var/run", "/var/spool"})
	rules := around("/", hidden)
	kept := slices.Concat(runningKept, v.shown, []string{"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
	if v.net {
		kept = slices.Concat(kept, resolvers)
	}
	if within(replaced(), v.home) {
		rules = append(rules, around(v.home, v.hide)...)
	}
	for _, b := range v.beside {
		rules = append(rules, around(b, v.hide)...)
	}
	for _, k := range slices.Concat(present(kept), v.read) {
		rules = append(rules, cell.Rule{Path: k, Access: cell.Read})
	}
	for _, w := range slices.Concat(v.write, []string{v.mail}) {
		rules = append(rules, cell.Rule{Path: w, Access: cell.Write})
	}
	return append(rules, own()...)
}

// around grants reading all of tree except hidden paths.
func around(tree string, hidden []string) (rules []cell.Rule) {
	if slices.Contains(hidden, tree) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return in(h, tree) }) {
		return []cell.Rule{{Path: tree, Access: cell.Read}}
	}
	list, err := os.ReadDir(tree)
	if err != nil {
		return nil
	}
	for _, e := range list {
		p := filepath.Join(tree, e.Name())
		if e.Type()&os.ModeSymlink != 0 {
			continue // its target is granted under its own name, or not
		}
		rules = append(rules, around(p, hidden)...)
	}
	return rules
}
