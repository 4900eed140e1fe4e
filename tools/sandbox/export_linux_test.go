package sandbox

// Deciding describes what decides which sandbox works here.
func Deciding(among ...Kind) string { return deciding(among) }
