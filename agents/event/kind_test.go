package event

import "testing"

// TestNature holds what other code relies on: an agent either rests between turns or ends with its work, one that ends
// has work, only an agent that the human talks to may be opened by hand, and each kind has a name.
func TestNature(t *testing.T) {
	for k, n := range natures {
		switch {
		case n.Word == "" || n.Turn == "":
			t.Errorf("%s has no word for itself or its turns: %+v", k, n)
		case k.HasPrompt() == k.Ends():
			t.Errorf("%s rests between turns, or ends with its work: %+v", k, n)
		case (n.Opened || n.Stays) && !k.HasPrompt():
			t.Errorf("%s is opened or stays, and nobody talks to it: %+v", k, n)
		case n.Tools != nil && n.Asks:
			t.Errorf("%s has few tools and may ask for more: %+v", k, n)
		}
	}
	if k := Kind("of a later version"); k.HasPrompt() || k.Ends() || k.Nature().Asks || k.Nature().Forks {
		t.Errorf("a kind nobody knows: %+v", k.Nature())
	}
}
