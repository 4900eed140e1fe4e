package cell

// Act does nothing on a kernel without namespaces.
func Act([]string) {}
