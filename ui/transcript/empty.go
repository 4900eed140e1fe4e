package transcript

// Empty reports whether there is nothing to show.
func (v *View) Empty() bool { return v.count() == 0 }

// Aside takes what was said in a view aside until back is called, which shows it below what came meanwhile: the view's
// transcript was not read yet.
func Aside(v *View) (back func()) {
	said := v.blocks
	v.blocks, v.live.start, v.selected = nil, 0, -1
	return func() {
		v.insert(v.liveStart(), said)
		v.live.start += len(said)
	}
}
