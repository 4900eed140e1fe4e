package tools

func setAttribute(_, _, _ string) bool { return false }
func getAttribute(_, _ string) string  { return "" }
