package sandbox

// Thread runs f in a goroutine of its own: here no sandbox is a thread's.
func Thread(f func() (spent bool)) { go f() }
