// Package layers has what is open over the tabs.
//
// Does: keep the stack: at most one board, which fills the screen, and at most one dialog
// on top. A dialog takes the place of a dialog and leaves the board that it is over.
//
// Does not: draw, route keys, know what a board lists. A new board is a type with the
// methods of [Board].
//
// Imports: ui/dialog, ui/intent.
package layers

import (
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// Board fills the screen between the tabs and the status line.
type Board interface {
	Box() dialog.Box
	// Do is what follows from what was decided in it.
	Do(d dialog.Decision) intent.Intent
	// Tail is the agent whose last lines it shows; 0: none.
	Tail() int64
	// Close tells it that it shows no more.
	Close()
}

// Stack is what is open, the zero value for nothing.
type Stack struct {
	board  Board // nil: none
	top    dialog.Box
	decide func(dialog.Decision) intent.Intent
	fresh  bool // something opened or closed since it was last drawn
}

// Top is what has the keyboard: the dialog, else the board; nil if neither is open.
func (s *Stack) Top() dialog.Box { return s.top }

// Board is the board that is open, on top or beneath a dialog; nil: none.
func (s *Stack) Board() Board { return s.board }

// Base is the board's box, nil if none is open.
func (s *Stack) Base() dialog.Box {
	if s.board == nil {
		return nil
	}
	return s.board.Box()
}

// Bare reports whether a board is open and no dialog over it.
func (s *Stack) Bare() bool { return s.board != nil && s.top == s.board.Box() }

// Open puts a dialog on top; decide says what follows from what it is closed with, nil if
// nothing does.
func (s *Stack) Open(b dialog.Box, decide func(dialog.Decision) intent.Intent) {
	s.top, s.decide, s.fresh = b, decide, true
}

// Show opens a board in the place of all that is open.
func (s *Stack) Show(b Board) {
	s.Clear()
	s.board = b
	s.Open(b.Box(), b.Do)
}

// Decided closes what is on top with a decision and returns what follows from it.
func (s *Stack) Decided(d dialog.Decision) intent.Intent {
	decide := s.decide
	s.Shut()
	if _, gone := d.(dialog.Cancelled); gone || decide == nil {
		return nil
	}
	return decide(d)
}

// Drop closes the dialog on top, if any, and leaves the board.
func (s *Stack) Drop() {
	if s.top != nil && !s.Bare() {
		s.Shut()
	}
}

// Shut closes what is on top: the dialog, else the board.
func (s *Stack) Shut() {
	if s.board == nil || s.Bare() {
		s.Clear()
		return
	}
	s.Open(s.board.Box(), s.board.Do)
}

// Clear closes all.
func (s *Stack) Clear() {
	if s.board != nil {
		s.board.Close()
	}
	*s = Stack{fresh: true}
}

// Fresh reports whether something opened or closed since the last Drawn.
func (s *Stack) Fresh() bool { return s.fresh }

// Drawn notes that what is open is on the screen.
func (s *Stack) Drawn() { s.fresh = false }
