package sandbox

import (
	"os/exec"

	"fantail/tools/sandbox/cell"
)

// seatbelts is where macOS has it.
const seatbelts = "/usr/bin/sandbox-exec"

// Inside is a command that will start, or has started, in its box.
type Inside struct{}

// Enclose makes c a command in the box; it changes how c starts.
func (b *Box) Enclose(c *exec.Cmd) (*Inside, error) {
	c.Args = append([]string{seatbelts, "-p", b.view.seatbelt(), c.Path}, c.Args[1:]...)
	c.Path = seatbelts
	c.Env = b.view.environment(c.Env, b.view.scratch)
	return &Inside{}, nil
}

// Start starts the command.
func (in *Inside) Start(c *exec.Cmd) (spent bool, err error) { return false, c.Start() }

// Quit tells nobody here.
func (in *Inside) Quit(int) bool { return false }

// End tells nothing here.
func (in *Inside) End() cell.Report { return cell.Report{} }
