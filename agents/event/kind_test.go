package event

import "testing"

// TestNature holds what the rest relies on: an agent either rests between turns or ends
// with its work, what ends works on something, only who is talked to may be opened by
// hand, and what a kind is called is known.
func TestNature(t *testing.T) {
	for k, n := range natures {
		switch {
		case n.Word == "" || n.Turn == "":
			t.Errorf("%s has no word for itself or its turns: %+v", k, n)
		case n.Prompt == n.Ends:
			t.Errorf("%s rests between turns, or ends with its work: %+v", k, n)
		case n.Ends != (n.Tasked || n.Handles) || n.Tasked && n.Handles:
			t.Errorf("%s ends with its work, which is a task or a message: %+v", k, n)
		case (n.Opened || n.Stays) && !n.Prompt:
			t.Errorf("%s is opened or stays, and nobody talks to it: %+v", k, n)
		case n.Tools != nil && n.Asks:
			t.Errorf("%s has few tools and may ask for more: %+v", k, n)
		}
	}
	if n := Kind("of a later version").Nature(); n.Prompt || n.Ends || n.Asks || n.Forks {
		t.Errorf("a kind nobody knows: %+v", n)
	}
}
