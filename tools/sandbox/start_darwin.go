package sandbox

import (
	"os/exec"

	"fantail/tools/sandbox/cell"
)

// seatbelts is the path of the program on macOS.
const seatbelts = "/usr/bin/sandbox-exec"

// Inside is a command to start, or started, in its box.
type Inside struct{}

// Enclose makes c a command in the box; it changes how c starts.
func (b *Box) Enclose(c *exec.Cmd) (*Inside, error) {
	c.Args = append([]string{seatbelts, "-p", b.view.seatbelt(), c.Path}, c.Args[1:]...)
	c.Path = seatbelts
	c.Env = b.view.environment(c.Env, b.view.scratch)
	return &Inside{}, nil
}

// Mark returns "" here: a command is confined as it starts.
func (b *Box) Mark() string { return "" }

// Start starts the command.
func (in *Inside) Start(c *exec.Cmd) (spent bool, err error) { return false, c.Start() }

// Quit does nothing here.
func (in *Inside) Quit(int) bool { return false }

// Unmade does nothing here: no socket is covered.
func (in *Inside) Unmade(string) bool { return false }

// Ended does nothing here: no verdict is kept.
func (in *Inside) Ended(int, string) {}

// WithoutSockets is the box.
func (b *Box) WithoutSockets() *Box { return b }

// End returns nothing here.
func (in *Inside) End() cell.Report { return cell.Report{} }
