package turn

import (
	"embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

//go:embed main.md sub.md fork.md observer.md
var texts embed.FS

//go:embed compact.md
var compact string

// CompactPrompt returns the text that tells a model to summarise a conversation.
func CompactPrompt() string { return compact }

//go:embed init.md
var initial string

// InitPrompt returns the prompt that has an agent write an AGENTS.md, or improve the existing one.
func InitPrompt() string { return initial }

// PromptFacts is what a system prompt states. Name and Dir are required.
type PromptFacts struct {
	Name     string // name of the agent
	Sub      bool   // it carries out a task and has no human at its tab
	Fork     bool   // it handles one message for another agent
	Observer bool   // it looks once, for a schedule, and reports
	Dir      string // directory of the workspace
	Platform string // linux/amd64
	Date     string // 2026-11-21
	Branch   string // "": none
	Files    string // texts of instruction files, each between its marks; "": none
}

// SystemPrompt returns the system prompt of an agent.
func SystemPrompt(f PromptFacts) (string, error) {
	name := "main.md"
	switch {
	case f.Sub:
		name = "sub.md"
	case f.Fork:
		name = "fork.md"
	case f.Observer:
		name = "observer.md"
	}
	if f.Name == "" || f.Dir == "" {
		return "", errors.New("write the system prompt: the agent's name and the directory are required")
	}
	t, err := template.New("").Option("missingkey=error").ParseFS(texts, "main.md", "sub.md", "fork.md", "observer.md")
	if err != nil {
		return "", fmt.Errorf("read the system prompt: %w", err)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, f); err != nil {
		return "", fmt.Errorf("write the system prompt: %w", err)
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}
