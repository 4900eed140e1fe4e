package transcript

// Empty reports whether there is nothing to show.
func (v *View) Empty() bool { return v.count() == 0 }
