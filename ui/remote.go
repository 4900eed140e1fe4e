package ui

import (
	"fmt"
	"os/exec"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/ui/term"
)

// Terminal is what the process in the terminal can do with it. A screen itself only sends and
// receives bytes.
type Terminal interface {
	// Suspend gives the terminal to the shell, and returns once the human is back.
	Suspend() error
	// Run gives the terminal to a program until that ends. It uses Args, Env and Dir of c.
	Run(c *exec.Cmd) error
}

// Remote sends a screen what does not come from its agents. It is safe for concurrent use.
type Remote struct{ program *term.Program }

// Attach gives the screen its pool. It is called once.
func (r Remote) Attach(p *agents.Pool) { r.program.Send(attached{p}) }

// Model replaces the start screen's line about the model.
func (r Remote) Model(start string) { r.program.Send(told{start}) }

// Ways reports the ways to a model that were found here.
func (r Remote) Ways(ways []Way) { r.program.Send(ways) }

// Lacks reports what the sandbox of commands lacks, which is known some time after the opening.
func (r Remote) Lacks(text string) { r.program.Send(lacks{text}) }

// Open reports what the opening of the workspace found.
func (r Remote) Open(o Opening) { r.program.Send(o) }

// Say shows a line for a while.
func (r Remote) Say(text string) { r.program.Send(noted{text}) }

// Resize reports a new size of the terminal.
func (r Remote) Resize(w, h int) { r.program.Send(tea.WindowSizeMsg{Width: w, Height: h}) }

// Retake sets all modes of the terminal again and repaints everything: another program had the
// terminal and may have changed it, or it did not get all that was written.
func (r Remote) Retake() {
	r.program.Send(term.Retake())
	r.program.Send(tea.ResumeMsg{})
}

// Suspend gives the terminal back to the shell for a while, as Ctrl+Z does.
func (r Remote) Suspend() { r.program.Send(suspended{}) }

// Stalled reports that the terminal takes no output, so that no human is there.
func (r Remote) Stalled() { r.program.Send(stalled{}) }

// Flows reports that it takes output again.
func (r Remote) Flows() { r.program.Send(flows{}) }

// Quit ends the screen in an orderly way.
func (r Remote) Quit() { r.program.Quit() }

// Kill ends the screen at once and restores the terminal.
func (r Remote) Kill() { r.program.Kill() }

// suspended asks for a suspension. stalled and flows report about the terminal.
type (
	suspended struct{}
	stalled   struct{}
	flows     struct{}
)

// suspend gives the shell the terminal until the human is back. It does nothing while another
// program has the terminal: pressing Ctrl+Z twice suspends once.
func (a *App) suspend() tea.Cmd {
	if a.away {
		return nil
	}
	if a.o.Terminal == nil {
		a.flash.Say("this terminal can't be given back for a while")
		return nil
	}
	a.away = true
	return term.Hand(a.o.Terminal.Suspend, func(err error) tea.Msg {
		if err != nil {
			return returned{noted{fmt.Sprintf("the shell did not get the terminal: %v", err)}}
		}
		return returned{tea.ResumeMsg{}}
	})
}
