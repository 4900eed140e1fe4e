package instructions

import (
	"fantail/agents/event"
)

// Speaking returns the files that apply to paths that a tool touched.
func (r *Briefs) Speaking(paths []string) []File { return r.speaking(event.Info{}, paths) }
