package mcp

// About is what a server says of a tool, for people.
type About struct {
	Name    string // that the server has for it
	As      string // the name under which it is lent
	Says    string // as it is now
	Reads   bool   // it only reads, the server says
	Changed bool   // that is another thing than what was agreed to
	Size    int    // of its description in a request, in bytes
}

// Tools are those of a server, as far as they are known: nothing is started to know more.
func (r *Room) Tools(name string) (all []About) {
	if r == nil {
		return nil
	}
	l, err := r.find(name)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[name]
	if k == nil || k.Mark != l.mark {
		return nil
	}
	for _, e := range k.Tools {
		if !e.Gone {
			d := e.holds()
			all = append(all, About{
				Name: plain(e.Is.Name), As: toolName(name, e.Is.Name), Says: plain(e.Is.About), Reads: e.Is.Reads, Changed: e.Was != nil,
				Size: len(d.Name) + len(d.About) + len(d.Schema),
			})
		}
	}
	return all
}
