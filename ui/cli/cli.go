// Package cli is the command line and what main puts together: the arguments, the
// settings, what agents are told of where they are, the full screen on a terminal.
//
// Does: parse the arguments; lay the flags over the configuration; write the system
// prompt's facts; run the screen on the process's own terminal.
//
// Does not: draw, run turns, decide what may run, know SQL.
//
// Imports: agents, agents/briefs, agents/event, agents/fleet, agents/prompts, agents/roster, store, store/config, tools,
// tools/permit, tools/proc, tools/secret, ui/cli/errand, ui/cli/place, ui/cli/printer, ui/cli/shell, ui/manual.
package cli
