package briefs

import (
	"fantail/agents/event"
	"fantail/agents/instructions"
)

// Speaking is what speaks of paths that a tool touched.
func (r *Room) Speaking(paths []string) []instructions.File { return r.speaking(event.Info{}, paths) }
