package slash

import "slices"

// foreign is a command of Claude Code, Codex or opencode that is none here.
type foreign struct {
	words []string
	line  string // the nearest command, which runs in its place; what was typed after the word follows it
	says  string // else which command does that
}

// foreignCommands are what users of those programs type. A command that a file brings comes before them.
var foreignCommands = []foreign{
	{words: []string{"q"}, line: "quit"},
	{words: []string{"themes"}, line: "theme"},
	{words: []string{"plan"}, line: "mode plan"},
	{words: []string{"approvals"}, line: "mode"},
	{words: []string{"allowed-tools"}, line: "permissions"},
	{words: []string{"subagents", "cost", "usage", "stats"}, line: "agents"},
	{words: []string{"rename"}, line: "agent rename"},
	{words: []string{"bashes", "tasks", "ps"}, line: "queue"},
	{words: []string{"keys", "keybindings", "shortcuts", "commands"}, line: "help"},
	{
		words: []string{"settings", "config", "statusline"},
		says:  "settings are in the file that `fantail doctor` names: /reload reads it again; /model, /mode and /theme change the most common ones here",
	},
	{
		words: []string{"status"},
		says:  "the status line shows the model, how full its window is and the cost: /context and /agents say more; `fantail doctor` checks the installation",
	},
	{
		words: []string{"login", "connect"},
		says:  "a key comes from the environment: export ANTHROPIC_API_KEY or OPENAI_API_KEY and start fantail there again; /agent new agent=claude uses Claude Code's login, and `fantail mcp login` is for MCP servers",
	},
	{
		words: []string{"logout"},
		says:  "there is no login to end: a key comes from the environment; /mcp shows the MCP servers, and `fantail mcp logout` ends the login at one",
	},
	{
		words: []string{"search", "find"},
		says:  "/inbox search WORDS to find messages, `!grep WORDS` to search files; press Ctrl+R to find earlier prompts",
	},
	{
		words: []string{"undo", "redo", "rewind", "revert", "checkpoint"},
		says:  "edits of files are undone with git: `!git diff` shows them; /fork TURN goes on after an earlier turn, and /inbox undo puts back the messages taken last",
	},
	{
		words: []string{"sessions", "session", "continue", "history"},
		says:  "/agents lists the agents with their conversations; /agent NAME goes to one, and /resume NAME goes on with one that ended",
	},
	{
		words: []string{"bug", "feedback", "report"},
		says:  "nothing is sent from here: /doctor balances tasks and messages, and `fantail doctor` checks the installation, for your report",
	},
	{
		words: []string{"review", "security-review", "pr-comments", "pr_comments"},
		says:  "ask for it in a prompt, or have an agent of its own do it: /push name=review Review the changes that git diff shows",
	},
	{
		words: []string{"diff"},
		says:  "`!git diff` shows the changes; an edit shows its own in the conversation, and Ctrl+O unfolds it",
	},
	{
		words: []string{"export", "share", "save"},
		says:  "/copy to copy the last answer; or press Ctrl+Up to select a block, then y",
	},
	{
		words: []string{"todos", "todo"},
		says:  "/queue shows the tasks, and /agents what each agent does",
	},
	{
		words: []string{"vim", "editor", "ide"},
		says:  "press Ctrl+G to open the prompt in your editor",
	},
	{
		words: []string{"terminal-setup"},
		says:  "nothing needs to be set up: Ctrl+J or Alt+Enter begins a new line in every terminal",
	},
	{
		words: []string{"details", "thinking", "verbose"},
		says:  "press Ctrl+O to unfold folded text; /view to show another view of this tab",
	},
	{
		words: []string{"stop", "cancel"},
		says:  "press Esc to stop the turn of this tab, or /kill NAME to end an agent",
	},
	{
		words: []string{"mention", "add-dir"},
		says:  "@ completes a file of the workspace; a path outside it can be named too, and its use asks you",
	},
	{
		words: []string{"plugin", "plugins"},
		says:  "/skills lists the skills, commands and agents that files bring; /mcp lists the MCP servers",
	},
	{
		words: []string{"version", "release-notes", "upgrade", "update"},
		says:  "`fantail --version` prints the version",
	},
}

// foreignOf returns the foreign command of that name.
func foreignOf(name string) (foreign, bool) {
	i := slices.IndexFunc(foreignCommands, func(f foreign) bool { return slices.Contains(f.words, name) })
	if i < 0 {
		return foreign{}, false
	}
	return foreignCommands[i], true
}
