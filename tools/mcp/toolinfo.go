package mcp

// ToolInfo describes a tool of a server for people.
type ToolInfo struct {
	Name        string // on the server
	LentName    string // for models
	Description string // the current one
	Reads       bool   // the readOnlyHint
	Changed     bool   // Description differs from what the user agreed to
	Size        int    // bytes of the tool in a request
}

// Tools returns the known tools of a server. It does not start the server to find more.
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
	as := toolNames(l.server, ownNames(l.lentTools(k))) // these tools come first, in order
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
