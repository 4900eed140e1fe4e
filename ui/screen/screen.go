// Package screen is the process in the terminal: it shows the workspace's host there, and starts one if none runs.
//
// Does: act before anything else of the program exists, since its [init] is the start gate and runs before the
// packages of the program's libraries are initialised. It acts if the program was started to show itself on a
// terminal, for an errand that a living host can carry out, for its version, or as the first process of a command's
// sandbox. It hands the errand over and prints the outcome; sets the terminal's modes, sends the host its keys and sizes and writes what
// comes back; gives the terminal to an editor; and restores the terminal whatever happens to the host, or to both
// processes.
//
// Does not: know an agent, an errand's arguments or a colour; import anything but the standard library's small
// packages, since each import delays the first picture.
package screen

import (
	"os"
	"strings"

	"fantail/tools/sandbox/cell"
)

// init is the start gate. Where it acts, the process never reaches main.
func init() {
	cell.Act(os.Args)
	if strings.HasSuffix(os.Args[0], ".test") {
		return
	}
	if prints(os.Args[1:]) {
		os.Exit(0)
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

// start is what the arguments of a start on a terminal ask for.
type start struct {
	dir    string   // of --cwd, or ""
	args   []string // without its prompt
	prompt bool     // it has one
}

// read parses the arguments of a start on a terminal. It returns false for all arguments that ask for something else, or
// that it does not know.
func read(args []string) (s start, shows bool) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		if args[i] == "--" && i < len(args)-1 && !s.prompt {
			s.prompt = true
			return s, true
		}
		if Prompts(args[i]) && !s.prompt {
			s.prompt = true
			continue
		}
		first := i
		switch name {
		case "--yolo", "--keep":
			if given {
				return s, false
			}
		case "--model", "--permission-mode", "--cwd":
			if !given {
				if i++; i == len(args) {
					return s, false
				}
				value = args[i]
			}
			if name == "--cwd" {
				s.dir = value
			}
		default:
			return s, false
		}
		s.args = append(s.args, args[first:i+1]...)
	}
	return s, true
}

// Prompts reports whether an argument is a prompt for main: it has a blank. A single word may be a misspelt sub-command.
func Prompts(arg string) bool {
	return !strings.HasPrefix(arg, "-") && strings.ContainsAny(strings.TrimSpace(arg), " \t\r\n")
}
