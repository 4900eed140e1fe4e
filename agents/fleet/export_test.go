package fleet

// Remembered counts the environments that are kept for what has not begun: of tasks, and of an agent's prompts.
func Remembered(f *Fleet, a *Agent) (tasks, prompts int) {
	f.Lock()
	defer f.Unlock()
	return len(f.Line.from), len(a.Env.typed)
}
