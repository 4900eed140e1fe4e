package fleet

// Remembered counts the stored environments of tasks that have not begun, and of an agent's prompts.
func Remembered(f *Fleet, a *Agent) (tasks, prompts int) {
	f.Lock()
	defer f.Unlock()
	return len(f.Line.from), len(a.Env.typed)
}
