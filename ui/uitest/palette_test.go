package uitest_test

import (
	"testing"

	"fantail/ui/uitest"
)

// TestPalette: Ctrl+P finds commands and keys by name. Enter runs the chosen one; a command that needs more enters the box
// before what was typed there.
func TestPalette(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Press("ctrl+p")
		s.Type("ctx")
		s.See("/context")
		s.Press("esc")
		s.Gone("Commands and keys")
		s.Press("ctrl+p")
		s.Type("/inbox")
		s.Press("enter")
		s.See("[All 0]")
		s.Press("esc")
		s.Press("ctrl+p")
		s.Type("mode")
		s.See("shift+tab")
		s.Press("esc")
		s.Press("ctrl+p")
		s.Type("these keys")
		s.Press("enter")
		s.See("Keys", "search history")
		s.Type("?")
		s.Gone("search history")
		s.Type("look around")
		s.Press("ctrl+p")
		s.Type("/push")
		s.Press("enter")
		s.See("› /push", "look around")
	})
}

// TestKeysOfCommands: Alt+Y copies the last answer and Alt+P opens the models, whatever is in the box.
func TestKeysOfCommands(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Press("alt+y")
		s.See("nothing to copy")
		s.Enter("say two words")
		s.See("two words", "1 step")
		s.Type("a draft")
		s.Press("alt+y")
		s.See("copied a line", "› a draft")
		s.Press("alt+p")
		s.See("Model (now")
		s.Press("esc")
		s.See("› a draft")
	})
}
