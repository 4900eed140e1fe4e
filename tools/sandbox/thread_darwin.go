package sandbox

// Thread runs f in a goroutine: here no sandbox restricts a thread.
func Thread(f func() (spent bool)) { go f() }
