package slash

import (
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/composer"
	"fantail/ui/tabs"
)

// completer returns candidates for the word being typed after the words before it. It must not
// block.
type completer func(e Options, before []string, word string) []composer.Item

// Complete returns candidates for the word being typed: commands, files, documents, and arguments
// of a command.
func Complete(e Options, trigger, line, word string) []composer.Item {
	switch trigger {
	case "/":
		var items []composer.Item
		for _, c := range commands() {
			items = append(items, composer.Item{Insert: c.name, Label: "/" + c.name, Help: c.help, Args: c.args})
		}
		return append(items, e.Custom.Candidates()...)
	case "@":
		named := e.Custom.Resources(word)
		if e.Files == nil {
			return named
		}
		return append(items(e.Files.Find(word, 500)...), named...)
	case "#":
		return e.mention(word)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	for _, c := range commands() {
		before := strings.Fields(strings.TrimSuffix(line, word))
		switch {
		case c.name != name:
		case name == "help" && len(before) == 1:
			return items(helpNames()...)
		case c.complete != nil:
			return c.complete(e, before[1:], word)
		case c.verbs != nil && len(before) == 1:
			return items(c.verbs()...)
		}
	}
	return nil
}

// Mention returns the documents that the word being typed may name.
func Mention(e Options, trigger, word string) []composer.Item {
	if trigger != "#" {
		return nil
	}
	return e.mention(word)
}

// items returns candidates without a help text.
func items(inserts ...string) (items []composer.Item) {
	for _, s := range inserts {
		items = append(items, composer.Item{Insert: s})
	}
	return items
}

// names returns the names of the agents for which ok is true.
func (e Options) names(ok func(i event.Info) bool) (names []string) {
	for _, t := range e.Tabs.All {
		if ok(t.Info) {
			names = append(names, t.Info.Name)
		}
	}
	return names
}

func living(i event.Info) bool { return !i.State.Terminal() }

// texted reports whether free text follows a name. Free text is not completed.
func texted(before []string) bool {
	return len(before) > 0 && !strings.HasPrefix(before[len(before)-1], "--")
}

func livingArguments(e Options, before []string, _ string) []composer.Item {
	if texted(before) {
		return nil
	}
	return items(e.names(living)...)
}

func endedArguments(e Options, before []string, _ string) []composer.Item {
	if texted(before) {
		return nil
	}
	return items(e.names(func(i event.Info) bool { return !living(i) && !i.Kind.Nature().Stays })...)
}

func closeArguments(e Options, before []string, word string) []composer.Item {
	names := endedArguments(e, before, word)
	if len(names) > 1 {
		names = append(names, items("--finished")...)
	}
	return names
}

func killArguments(e Options, _ []string, _ string) []composer.Item {
	names := e.names(func(i event.Info) bool { return living(i) && !i.Kind.Nature().Stays })
	return items(append(append(names, e.Tally.Names...), "--cascade", "--orphan")...)
}

func sendArguments(e Options, before []string, word string) []composer.Item {
	if texted(before) {
		return nil
	}
	names := livingArguments(e, before, word)
	for _, p := range []inbox.Priority{inbox.Low, inbox.High, inbox.Urgent} {
		names = append(names, items("--priority="+string(p))...)
	}
	return append(names, items("--tag=")...)
}

func whyArguments(e Options, _ []string, _ string) []composer.Item {
	return items(e.names(living)...)
}

func auditArguments(e Options, _ []string, _ string) []composer.Item {
	return items(append(e.names(func(event.Info) bool { return true }), "--verify", "before=")...)
}

func viewArguments(Options, []string, string) (is []composer.Item) {
	for _, p := range tabs.Order {
		is = append(is, items(strings.ToLower(p.String()))...)
	}
	return is
}

// senders completes the arguments of commands that take messages.
func (e Options) senders(more ...string) []composer.Item {
	var from []string
	for _, t := range e.Tabs.All {
		if t != e.Tabs.Acting() {
			from = append(from, "from="+t.Info.Name)
		}
	}
	return items(slices.Concat(from, []string{"--lifo", "--show-only"}, more)...)
}

func checkArguments(e Options, _ []string, _ string) []composer.Item {
	return e.senders("--one", "--peek")
}

func receiveArguments(e Options, _ []string, _ string) []composer.Item {
	return e.senders("timeout=", "--wait")
}

func inboxArguments(e Options, before []string, word string) []composer.Item {
	if len(before) > 0 {
		return actionArguments(e, before, word)
	}
	all := func(event.Info) bool { return true }
	return slices.Concat(inboxVerbs[:], items("--list", "--all"), items(e.names(all)...))
}

func forkArguments(Options, []string, string) []composer.Item { return items("name=") }

func themeArguments(Options, []string, string) []composer.Item { return items(themes.Names()...) }

func modeArguments(e Options, _ []string, _ string) (is []composer.Item) {
	for _, m := range e.offered() {
		is = append(is, composer.Item{Insert: string(m.mode), Help: m.help})
	}
	return is
}

func sandboxArguments(_ Options, words []string, _ string) []composer.Item {
	if len(words) > 0 {
		return nil
	}
	return []composer.Item{{Insert: "revoke", Help: "take back what was added"}}
}

// modelArguments are the models in whose names the word stands; in others its letters would only happen to be.
func modelArguments(e Options, _ []string, word string) []composer.Item {
	return items(slices.DeleteFunc(slices.Clone(e.Models.names()), func(name string) bool {
		return !strings.Contains(strings.ToLower(name), strings.ToLower(word))
	})...)
}
