package mcp

// ToolInfo describes a tool of a server for people.
type ToolInfo struct {
	Name        string // the server's own
	LentName    string // for models
	Description string // the present one
	Reads       bool   // the readOnlyHint
	Changed     bool   // Description differs from what the user agreed to
	Size        int    // of the tool in a request, in bytes
}

// Tools returns the known tools of a server. It starts nothing to learn more.
func (r *Servers) Tools(name string) (all []ToolInfo) {
	if r == nil {
		return nil
	}
	l, err := r.find(name)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.records[name]
	if k == nil || k.Fingerprint != l.fingerprint {
		return nil
	}
	as := toolNames(l.server, ownNames(l.lentTools(k))) // the first of them are of these tools, in their order
	for _, e := range k.Tools {
		if !e.Removed {
			d := e.effective()
			all = append(all, ToolInfo{
				Name: plainText(e.Current.Name), LentName: as[len(all)], Description: plainText(e.Current.Description), Reads: e.Current.ReadOnly, Changed: e.Agreed != nil,
				Size: len(d.Name) + len(d.Description) + len(d.Schema),
			})
		}
	}
	return all
}
