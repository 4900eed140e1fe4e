package cli_test

import "fantail/ui/uitest/adapters"

// adapter is a vendor's agent, and what is expected of it.
type adapter struct {
	adapters.Adapter
	model     string // what the model is called in its requests, as far as it is configured
	steers    string // when its model gets words that are put into a turn; "": not in that turn
	stopsAtNo bool   // a refusal ends its turn
	boxed     bool   // it runs in our sandbox
	held      string // what is said of how it is held
}

const (
	cutting = "at once" // the reply that goes on is cut
	after   = "after the reply that goes on"

	boxedNote = "in a sandbox of this program: it writes the workspace and what it keeps"
	heldNote  = "its own, which works in no other, holds its commands"
)

func claude() adapter {
	return adapter{Adapter: adapters.Claude(), model: "sonnet", steers: cutting, boxed: true, held: boxedNote}
}

func codex() adapter {
	return adapter{Adapter: adapters.Codex(), model: "gpt-6-sol", steers: after, stopsAtNo: true, held: heldNote}
}

func opencode() adapter {
	return adapter{Adapter: adapters.Opencode(), model: "other", boxed: true, held: boxedNote}
}
