// Package screen is the process in the terminal: it shows the workspace's host there, and starts
// one if none runs.
//
// Does: act before anything else of the program exists ([init] is the start gate: the packages of
// the program's libraries are initialised after this one), if the program was started to show
// itself on a terminal, for an errand that a living host can carry out, or as the first process of a
// command's sandbox; hand the errand over and print what comes of it; set the terminal's modes, send
// the host its keys and sizes, write what comes back, give the terminal to an editor, and give it
// back whatever happens to the host.
//
// Does not: know an agent, an errand's arguments or a colour; import anything but the standard
// library's small packages, for each of them is waited for before the first picture.
//
// Imports: store/config/paths, tools/sandbox/cell, ui/screen/tty, ui/screen/wire.
package screen

import (
	"os"
	"strings"

	"fantail/tools/sandbox/cell"
)

// The start gate. Where it acts, the process never reaches main.
func init() {
	cell.Act(os.Args)
	if strings.HasSuffix(os.Args[0], ".test") {
		return
	}
	if code, done := hand(os.Args[1:]); done {
		os.Exit(code)
	}
	if !tty0and1() {
		return
	}
	if code, shown := Start(os.Args[1:]); shown {
		os.Exit(code)
	}
}

// dirOf reads the arguments of a start on a terminal: the directory of --cwd, "" if there is
// none. It is false for all arguments that ask for anything else, or that it does not know.
func dirOf(args []string) (dir string, shows bool) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch name {
		case "--yolo", "--keep":
			if given {
				return "", false
			}
		case "--model", "--permission-mode", "--cwd":
			if !given {
				if i++; i == len(args) {
					return "", false
				}
				value = args[i]
			}
			if name == "--cwd" {
				dir = value
			}
		default:
			return "", false
		}
	}
	return dir, true
}
