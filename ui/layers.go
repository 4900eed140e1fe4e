package ui

import (
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// Board fills the screen between the tabs and the status line.
type Board interface {
	Box() dialog.Box
	// Do returns the intent for a decision made in the board.
	Do(d dialog.Decision) intent.Intent
	// Tails returns the agents whose last lines the board shows.
	Tails() []int64
	// Close tells the board that it is no longer shown.
	Close()
}

// Stack holds all that is open. The zero value is empty.
type Stack struct {
	board  Board // nil: none
	top    dialog.Box
	decide func(dialog.Decision) intent.Intent
	fresh  bool // something opened or closed since the last frame
}

// Top returns what has the keyboard: the dialog, else the board; nil if neither is open.
func (s *Stack) Top() dialog.Box { return s.top }

// Board returns the open board, even under a dialog; nil: none.
func (s *Stack) Board() Board { return s.board }

// Base returns the board's box; nil: no board is open.
func (s *Stack) Base() dialog.Box {
	if s.board == nil {
		return nil
	}
	return s.board.Box()
}

// Bare reports whether a board is open without a dialog over it.
func (s *Stack) Bare() bool { return s.board != nil && s.top == s.board.Box() }

// Open puts a dialog on top. decide returns the intent for the decision that closes it; nil: there
// is none.
func (s *Stack) Open(b dialog.Box, decide func(dialog.Decision) intent.Intent) {
	s.top, s.decide, s.fresh = b, decide, true
}

// Show opens a board and closes everything else.
func (s *Stack) Show(b Board) {
	s.Clear()
	s.board = b
	s.Open(b.Box(), b.Do)
}

// Decided closes the top with a decision and returns the intent for it.
func (s *Stack) Decided(d dialog.Decision) intent.Intent {
	decide := s.decide
	s.Shut()
	if _, gone := d.(dialog.Cancelled); gone || decide == nil {
		return nil
	}
	return decide(d)
}

// Drop closes the dialog on top, if any, but not the board.
func (s *Stack) Drop() {
	if s.top != nil && !s.Bare() {
		s.Shut()
	}
}

// Shut closes the top: the dialog, else the board.
func (s *Stack) Shut() {
	if s.board == nil || s.Bare() {
		s.Clear()
		return
	}
	s.Open(s.board.Box(), s.board.Do)
}

// Clear closes everything.
func (s *Stack) Clear() {
	if s.board != nil {
		s.board.Close()
	}
	*s = Stack{fresh: true}
}

// Fresh reports whether something opened or closed since the last Drawn.
func (s *Stack) Fresh() bool { return s.fresh }

// Drawn notes that the stack has been drawn.
func (s *Stack) Drawn() { s.fresh = false }
