package cell

// Act is for kernels that have namespaces.
func Act([]string) {}
