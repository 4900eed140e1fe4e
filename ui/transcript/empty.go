package transcript

// Empty reports whether there is nothing to show.
func (v *View) Empty() bool { return v.count() == 0 }

// Aside removes the local blocks of a view whose transcript has not been read yet. back shows them again, below what
// came meanwhile.
func Aside(v *View) (back func()) {
	said := v.blocks
	v.blocks, v.live.start, v.selected = nil, 0, -1
	return func() {
		v.insert(v.liveStart(), said)
		v.live.start += len(said)
	}
}
