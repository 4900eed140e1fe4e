package proc

// Process is what the system tells about a process.
type Process struct {
	State      byte // as Linux abbreviates it: Z for a zombie
	Parent     int
	Group      int
	Session    int   // 0: the system does not tell
	Foreground int   // the group in the foreground of its terminal; not positive: there is none
	Started    int64 // in the system's own unit; another process that gets the same number has another one
}

// Ended reports whether nothing is left of it but what its parent asks for.
func (p Process) Ended() bool { return p.State == 'Z' || p.State == 'X' }
