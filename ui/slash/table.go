package slash

import (
	"slices"

	"fantail/ui/format"
	"fantail/ui/panel"
)

// commands returns the table of commands, in the order of the help.
func commands() []command {
	return slices.Concat(
		taskCommands, dueCommands, mailCommands, documentCommands, agentCommands,
		workspaceCommands, conversationCommands, programCommands,
	)
}

// taskCommands are about tasks queued for agents.
var taskCommands = []command{
	{
		name: "push", run: runPush, complete: pushArguments,
		args: "[model=] [agent=] [name=] [timeout=] [budget=] [deliver=] [after=A,B] [resume] [interactive [idle=]] PROMPT | !CMD",
		help: "queue a task for an agent of its own; interactive: it stays after each turn, /tell goes on",
	},
	{
		name: "run", run: runRun, complete: runArguments,
		args: "[N] [--once] [timeout=]",
		help: "start the queue, at most N at once; --once: only N",
	},
	{
		name: "queue", run: runQueue, complete: queueArguments,
		args: "[--all | --panel] | rm NAME | move NAME N | edit NAME",
		help: "show what is queued, runs and has finished; change what is queued",
	},
	{
		name: "retry", run: runRetry, complete: retryArguments,
		args: "NAME [HINT]",
		help: "push a task that ended again, with how it ended and a hint",
	},
	{
		name: "respawn", run: runRespawn, complete: respawnArguments,
		args: "NAME",
		help: "start a task that ended anew, as it was, with a new agent",
	},
}

// dueCommands are about schedules and reminders.
var dueCommands = []command{
	{
		name: "remind", run: runDue(format.ScheduleCommands.Remind), verbs: format.ScheduleWhens,
		args: "[--priority=P] [deliver=wake] WHEN TEXT",
		help: "a reminder: 30m, 14:00, tomorrow 9:00, every monday 10:00; it waits for your next message",
	},
	{
		name: "schedule", run: runSchedule, verbs: format.ScheduleWords,
		args: "[list | [name=] [checks=A,B] [sandbox=off] [--always] WHEN PROMPT | !CMD | show NAME | pause NAME | resume NAME | run NAME | rm NAME]",
		help: "what is due when, on the whole screen or listed; have an observer look, or a command run; --always: tell of unchanged outcomes",
	},
	{
		name: "watch", run: runDue(format.ScheduleCommands.Watch), verbs: format.ScheduleWhens,
		args: "[name=] [checks=A,B] TIME until \"CONDITION\" [PROMPT]",
		help: "have an observer look every so often until something is so, and tell",
	},
}

// mailCommands are about messages, in an inbox or on their way.
var mailCommands = []command{
	{
		name: "tell", run: runTell, complete: livingArguments,
		args: "NAME TEXT",
		help: "an instruction for an agent at work: it reads it at its next step; one at rest begins with it",
	},
	{
		name: "send", run: runSend, complete: sendArguments,
		args: "NAME[,NAME…] [--priority=P] [--tag=T] TEXT",
		help: "mail an agent, or several: data in an inbox; /tell instructs",
	},
	{
		name: "receive", run: runReceive, complete: receiveArguments,
		args: "[from=NAME] [--lifo] [timeout=] [--wait] [--show-only]",
		help: "take one message, waiting for it; --show-only: the model does not read it",
	},
	{
		name: "check", run: runCheck, complete: checkArguments,
		args: "[from=NAME] [--lifo] [--one] [--peek | --show-only]",
		help: "take all messages that are ready; --peek: take none; --show-only: the model does not read them",
	},
	{
		name: "inbox", run: runInbox, complete: inboxArguments,
		args: "[NAME] [--list | --all [before=N]] | undo | archive N… | snooze N WHEN | restore N… | pin N " +
			"[off] | archived | snoozed | search WORDS",
		help: "the inbox of this agent or another on the whole screen; list what waits, or all; put those " +
			"taken last back; put messages away and bring them back; find them",
	},
	{
		name: "messages", run: runMessages, complete: messagesArguments,
		args: "next [N] [--fifo] | wait | show [N] | why N | mute N [off] | mode [MODE] | from NAME MODE | " +
			"quiet [until 14:00 | for 2h] | resume",
		help: "a turn with the most urgent message, or one turn each; show one, say why it waits; hold its " +
			"thread silently; how mail is handled",
	},
	{
		name: "reply", run: runReply,
		args: "N TEXT",
		help: "answer a message in the name of the agent that got it",
	},
	{
		name: "answer", run: runAnswer, complete: answerArguments,
		args: "[N | NAME [yes|session|project|no [REASON] | OPTION | TEXT]]",
		help: "answer what an agent asks, by its message or its name; alone: show the oldest question",
	},
	{
		name: "fire", run: runFire,
		args: "[--wait | #N…] [TEXT]",
		help: "start one turn with all messages that wait, or with these; --wait: once all that runs has ended",
	},
}

// documentCommands are about texts that outlive a conversation.
var documentCommands = []command{
	{
		name: "memory", run: runMemory, complete: memoryArguments,
		args: "[list | show NAME [VERSION] | edit NAME | log NAME | rm NAME | files [allow FILE]]",
		help: "documents, which #mem-NAME brings into a conversation; files: the instruction files in force",
	},
	{
		name: "skills", run: runSkills,
		help: "the skills, commands and agents that files bring: where from, what they cost, what is not used and why",
	},
}

// agentCommands are about agents and their tabs.
var agentCommands = []command{
	{
		name: "kill", run: runKill, complete: killArguments,
		args: "NAME [--cascade | --orphan]",
		help: "end an agent now, with or without those below it, or remove a queued task",
	},
	{
		name: "budget", run: runBudget, complete: budgetArguments,
		args: "[NAME] [50k | $2 | off]",
		help: "what an agent and all it dispatches may use: show, set, raise",
	},
	{
		name: "end", run: runEnd, complete: endArguments,
		args: "NAME",
		help: "have an interactive agent end, as done, after its present turn",
	},
	{
		name: "agent", run: runAgent, complete: agentArguments,
		args: "[list | NAME | new [NAME] [model= | agent=] | rename [OLD] NEW | close [NAME] | config " +
			"message-handling MODE [--idle-after=30s]]",
		help: "list agents, go to one; open, rename, close a helper; how its mail is handled",
	},
	{
		name: "resume", run: runResume, complete: endedArguments,
		args: "NAME [PROMPT]",
		help: "let an ended agent go on; reopen a closed tab or helper",
	},
	{
		name: "fork", run: runFork, complete: forkArguments, aliases: []string{"branch"},
		args: "[TURN] [name=]",
		help: "go on behind an earlier turn in a branch of the conversation, a helper",
	},
	{
		name: "agents", run: runAgents,
		help: "the overview of all agents: open, peek, tell, wrap up, end, kill, respawn, close",
	},
	{
		name: "view", run: runView, complete: viewArguments,
		args: "prompt|transcript|output|info",
		help: "show another view of this tab",
	},
	{
		name: "why", run: runWhy, complete: whyArguments,
		args: "[NAME]",
		help: "what an agent does or waits for right now",
	},
	{
		name: "wrapup", run: runWrapUp, complete: livingArguments,
		args: "NAME",
		help: "ask an agent to finish with what it has",
	},
	{
		name: "close", run: runClose, complete: closeArguments,
		args: "[NAME | --finished]",
		help: "close the tab of an agent that ended, or all such tabs",
	},
}

// workspaceCommands are about the workspace: its accounts, its model, its permissions.
var workspaceCommands = []command{
	{
		name: "doctor", run: runDoctor, args: "[--full]",
		help: "balance the books: what became of every task and message",
	},
	{
		name: "model", run: runModel, complete: modelArguments, aliases: []string{"models"},
		args: "[PROVIDER/NAME]",
		help: "show or change the model",
	},
	{
		name: "mode", run: runMode, complete: modeArguments,
		args: "[ask|accept-edits|auto|plan|yolo]",
		help: "show or change what may happen without a question",
	},
	{
		name: "permissions", run: runPermissions, verbs: panel.PermissionVerbs, aliases: []string{"rules"},
		args: panel.PermissionArgs,
		help: "all rules, in a panel; test says which decides; what a project's file wants allowed waits for accept",
	},
	{
		name: "sandbox", run: runSandbox, complete: sandboxArguments,
		args: "[revoke RULE]",
		help: "what holds the commands of agents, how, and what was added; revoke takes that back",
	},
	{
		name: "audit", run: runAudit, complete: auditArguments,
		args: "[NAME | N] [before=N] | --verify",
		help: "what agents called, who let them and how it ended; one row; whether that is whole",
	},
	{
		name: "checks", run: runChecks, verbs: CheckVerbs,
		args: CheckArgs,
		help: "the commands that observers may run, in a sandbox that keeps the workspace as it is; run shows what they see",
	},
	{
		name: "confirm", run: runConfirm,
		help: "schedules, checks and rules of an older version, or that another program wrote: shows them and asks",
	},
	{
		name: "trust", run: runTrust, verbs: panel.TrustVerbs,
		args: panel.TrustArgs,
		help: "what of the repository runs by itself: shows it and asks whether it may; list it; revoke takes a yes back",
	},
	{
		name: "mcp", run: runMCP, verbs: format.ServerVerbs,
		args: format.ServerArgs,
		help: "the MCP servers: how they are, their tools, what they wrote; where they are configured and what is wrong there",
	},
	{
		name: "theme", run: runTheme, complete: themeArguments, alone: true,
		args: "[NAME]",
		help: "change the colours",
	},
}

// conversationCommands are about the conversation.
var conversationCommands = []command{
	{
		name: "new", run: runNew, aliases: []string{"clear", "reset"},
		help: "begin a new conversation; the old one is kept",
	},
	{
		name: "compact", run: runCompact, aliases: []string{"summarize"},
		args: "[HINT]",
		help: "have the model summarise the conversation; the rest is kept and no longer sent",
	},
	{
		name: "context", run: runContext,
		help: "show what the conversation consists of and how full the model's window is",
	},
	{
		name: "init", run: runInit,
		args: "[HINT]",
		help: "have the agent look at the workspace and write its AGENTS.md, or mend it; you see the change first",
	},
	{
		name: "copy", run: runCopy,
		help: "copy the last answer",
	},
}

// programCommands are about the program itself.
var programCommands = []command{
	{
		name: "help", run: runHelp, complete: helpArguments, alone: true,
		args: "[PAGE]",
		help: "this list, or a page of the manual",
	},
	{
		name: "detach", run: runDetach, aliases: []string{"leave"}, alone: true,
		help: "leave this screen; the agents go on, fantail shows them again",
	},
	{
		name: "reload", run: runReload,
		help: "read the configuration again, and say what changed",
	},
	{
		name: "hooks", run: runHooks,
		help: "the programs that run where something happens: where they stand, whether they may, what each did last",
	},
	{
		name: "restart", run: runRestart,
		help: "start the host anew once nothing goes on: with this version and configuration",
	},
	{
		name: "quit", run: runQuit, aliases: []string{"exit"}, alone: true,
		help: "end the agents too; asks when they are at work",
	},
}
