package ui

import (
	tea "charm.land/bubbletea/v2"
)

func runResume(a *App, in input) (tea.Cmd, error) {
	name, prompt := firstWord(in.rest)
	if name == "" {
		return nil, in.wrong("one name is needed")
	}
	prompt = unquote(prompt)
	return a.act(in.here, in.text, func() (string, error) {
		t, goes, err := a.pool.Resume(a.ctx, in.id, name, prompt)
		if !goes {
			return "The tab of " + name + " is open again", err
		}
		if err != nil {
			return "", err
		}
		return warned(name+" goes on with what it did; its result comes into the inbox", a.o.Doubt.Of(t)), nil
	}), nil
}

// resumed takes the word resume from the front of what /push was given, if a name
// says whose transcript goes on: without one it is the prompt's.
func resumed(opts map[string]string, prompt string, keys []string) (rest string, is bool, err error) {
	if opts["resume"] != "" {
		opts["name"] = opts["resume"]
		return prompt, true, nil
	}
	word, after := firstWord(prompt)
	if word != "resume" {
		return prompt, false, nil
	}
	more, after, err := leadingOptions(after, keys...)
	if err != nil || opts["name"] == "" && more["name"] == "" {
		return prompt, false, err
	}
	for k, v := range more {
		opts[k] = v
	}
	return after, true, nil
}

// setAside moves the sync delegations that the focused agent waits for to the
// background.
func (a *App) setAside() tea.Cmd {
	id := a.tabs.Focus.Info.ID
	return func() tea.Msg {
		a.pool.Background(id)
		return nil
	}
}
