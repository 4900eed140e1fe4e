package history

import "fantail/store"

// Brief is a file of instructions that an EntryBriefed announces; the entry has its text.
type Brief struct {
	Path  string `json:"path"` // absolute and resolved
	Name  string `json:"name"`
	Dir   string `json:"dir,omitempty"` // by which it was found
	Hash  string `json:"hash,omitempty"`
	Bytes int    `json:"bytes,omitempty"` // of its text
	Why   string `json:"why,omitempty"`   // new, changed, touched or gone
}

// Briefed returns the instruction files that an agent got since its conversation began, if they are still sent: the
// latest state of each, in the order of the files, and about how many tokens all of it takes.
func Briefed(v *store.View, agent int64) (all []Brief, tokens int, err error) {
	since, err := sentFrom(v, agent)
	if err != nil {
		return nil, 0, err
	}
	rows, err := v.KindOf(agent, string(EntryBriefed), since)
	if err != nil {
		return nil, 0, err
	}
	at := map[string]int{}
	for _, e := range DecodeAll(rows) {
		tokens += Weight(e)
		for _, b := range e.Briefs {
			if n, ok := at[b.Path]; ok {
				all[n] = b
				continue
			}
			at[b.Path] = len(all)
			all = append(all, b)
		}
	}
	return all, tokens, nil
}
