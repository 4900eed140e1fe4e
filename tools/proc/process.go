package proc

// Process is what the system knows about a process.
type Process struct {
	State      byte // as Linux abbreviates it: Z for a zombie
	Parent     int
	Group      int
	Session    int   // 0: unknown
	Foreground int   // the group in the foreground of its terminal; not positive: there is none
	Started    int64 // in the system's own unit; differs for each process with the same number
}

// Ended reports whether the process has ended: only its exit status is left.
func (p Process) Ended() bool { return p.State == 'Z' || p.State == 'X' }
