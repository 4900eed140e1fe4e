package ui

import (
	"fmt"
	"os/exec"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/ui/term"
)

// Terminal is what the process in the terminal does with it. A screen itself has only the bytes
// that go to and fro.
type Terminal interface {
	// Suspend gives the terminal to the shell, and returns once the human is back.
	Suspend() error
	// Run gives it to a program until that ends. Args, Env and Dir of c count.
	Run(c *exec.Cmd) error
}

// Remote tells a screen what comes from elsewhere than its agents. Any goroutine may use it.
type Remote struct{ program *term.Program }

// Attach gives the screen its pool, once.
func (r Remote) Attach(p *agents.Pool) { r.program.Send(attached{p}) }

// Model replaces the start screen's line about the model.
func (r Remote) Model(start string) { r.program.Send(told{start}) }

// Lacks tells what the sandbox under commands lacks, which is known some time after the opening.
func (r Remote) Lacks(text string) { r.program.Send(lacks{text}) }

// Open tells what the opening of the workspace brought.
func (r Remote) Open(o Opening) { r.program.Send(o) }

// Say shows a line for a while.
func (r Remote) Say(text string) { r.program.Send(noted{text}) }

// Resize tells that the terminal has another size.
func (r Remote) Resize(w, h int) { r.program.Send(tea.WindowSizeMsg{Width: w, Height: h}) }

// Retake has all that a full screen sets in a terminal set anew, and all of it painted: the
// terminal was somebody else's, who was not asked to leave it so, or did not get all that was written.
func (r Remote) Retake() {
	r.program.Send(term.Retake())
	r.program.Send(tea.ResumeMsg{})
}

// Suspend is the human's wish to have the shell back for a while, as Ctrl+Z is.
func (r Remote) Suspend() { r.program.Send(suspended{}) }

// Stalled tells that the terminal takes nothing any more, so that nobody is there.
func (r Remote) Stalled() { r.program.Send(stalled{}) }

// Flows tells that it takes something again.
func (r Remote) Flows() { r.program.Send(flows{}) }

// Quit ends the screen in an orderly way.
func (r Remote) Quit() { r.program.Quit() }

// Kill ends the screen at once and restores the terminal.
func (r Remote) Kill() { r.program.Kill() }

// suspended asks for a suspension; stalled and flows tell of the terminal.
type (
	suspended struct{}
	stalled   struct{}
	flows     struct{}
)

// suspend has the shell take the terminal until the human is back. Who has it is not disturbed: whoever pressed Ctrl+Z
// twice wants the shell once.
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
