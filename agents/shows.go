package agents

// shows reports that the database can only be read. Then the pool shows what is there: no
// agent's loop, dispatcher or sorter runs, and what would wait for one of them is refused.
func (o *Options) shows() bool { return o.DB.ReadOnly() != nil }
