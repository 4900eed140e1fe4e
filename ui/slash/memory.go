package slash

import (
	"context"
	"strconv"
	"strings"

	"fantail/agents/history"
	"fantail/ui/composer"
	"fantail/ui/intent"
)

// The human's commands for memory documents.

// mention returns the documents that a word after `#` may name. A number names none.
func (e Options) mention(word string) []composer.Item {
	const prefix = "mem-"
	if !strings.HasPrefix(word, prefix) && !strings.HasPrefix(prefix, word) {
		return nil
	}
	items := make([]composer.Item, len(e.Documents))
	for i, d := range e.Documents {
		items[i] = composer.Item{Insert: prefix + history.TitleOf(d), Label: "#" + prefix + history.TitleOf(d), Help: DocumentFacts(d, e.Now())}
	}
	return items
}

// memoryArguments completes the arguments of /memory.
func memoryArguments(e Options, args []string, _ string) []composer.Item {
	var titles []composer.Item
	switch {
	case len(args) == 0:
		return items("list", "show ", "edit ", "log ", "rm ", "files")
	case len(args) == 1 && args[0] == "files":
		return items(InstructionVerbs()...)
	case len(args) == 1 && args[0] != "list":
		for _, d := range e.Documents {
			titles = append(titles, composer.Item{Insert: history.TitleOf(d), Help: DocumentFacts(d, e.Now())})
		}
	}
	return titles
}

func runMemory(in input) (intent.Intent, error) {
	args := strings.Fields(in.rest)
	if len(args) == 0 {
		args = []string{"list"}
	}
	l := Documents{Memory: in.Pool.Memory, Now: in.Now, Here: in.here.Info.ID}
	switch verb := args[0]; {
	case verb == "files":
		rest := strings.TrimPrefix(strings.TrimSpace(in.rest), verb)
		if do, ok := InstructionFiles(in.Pool.Instructions(), in.here.Info, rest); ok {
			return in.act(do), nil
		}
	case verb == "list" && len(args) == 1:
		return in.act(l.List), nil
	case verb == "show" && (len(args) == 2 || len(args) == 3):
		version := 0
		if len(args) == 3 {
			var err error
			if version, err = strconv.Atoi(args[2]); err != nil || version < 1 {
				return nil, in.wrong("%q is not a version", args[2])
			}
		}
		return in.then(func(ctx context.Context) (intent.Intent, error) { return l.Open(ctx, args[1], version) }), nil
	case verb == "edit" && len(args) == 2 && in.ReadOnly != nil: // report this before the human writes for an hour
		return in.act(func(context.Context) (string, error) { return "", in.ReadOnly }), nil
	case verb == "edit" && len(args) == 2:
		return in.then(func(ctx context.Context) (intent.Intent, error) { return l.Edit(ctx, args[1]) }), nil
	case verb == "log" && len(args) == 2:
		return in.act(func(ctx context.Context) (string, error) { return l.Log(ctx, args[1]) }), nil
	case verb == "rm" && len(args) == 2:
		return in.act(func(ctx context.Context) (string, error) { return l.Remove(ctx, args[1]) }), nil
	case verb == "show" || verb == "edit" || verb == "log" || verb == "rm":
		return nil, in.wrong("%s needs the name of a document", verb)
	}
	return nil, in.wrong("unexpected %q", in.rest)
}
