// Package cli is the command line and the faces: the full screen, a prompt and
// its answer for people and scripts without a screen, and the errands that
// deposit, look and take beside a running program.
//
// Does: parse the arguments; run errands; lay the flags over the configuration; write the system prompt's facts; run the screen or one
// prompt.
//
// Does not: draw, run turns, decide what may run, know SQL.
//
// Imports: agents, agents/event, agents/llm/builtin, agents/mail, agents/memory, agents/outside, agents/prompts,
// agents/roster, inbox, store, store/config, tools/permit, tools/proc, tools/secret, ui, ui/cli/guard,
// ui/cli/jsonline, ui/cli/models, ui/cli/place, ui/cli/printer, ui/cli/shell, ui/frame, ui/words.
package cli
