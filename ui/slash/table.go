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
		help: "queue a task for a new agent",
	},
	{
		name: "run", run: runRun, complete: runArguments,
		args: "[N] [--once] [timeout=]",
		help: "start the queue",
	},
	{
		name: "queue", run: runQueue, complete: queueArguments,
		args: "[--all | --panel] | rm NAME | move NAME N | edit NAME",
		help: "show or change the queue",
	},
	{
		name: "retry", run: runRetry, complete: retryArguments,
		args: "NAME [HINT]",
		help: "run a finished task again, with a hint",
	},
	{
		name: "respawn", run: runRespawn, complete: respawnArguments,
		args: "NAME",
		help: "run a finished task again from scratch",
	},
}

// dueCommands are about schedules and reminders.
var dueCommands = []command{
	{
		name: "remind", run: runDue(format.ScheduleCommands.Remind), verbs: format.ScheduleWhens,
		args: "[--priority=P] [deliver=wake] WHEN TEXT",
		help: "set a reminder",
	},
	{
		name: "schedule", run: runSchedule, verbs: format.ScheduleWords,
		args: "[list | [name=] [checks=A,B] [sandbox=off] [--always] WHEN PROMPT | !CMD | show NAME | pause NAME | resume NAME | run NAME | rm NAME]",
		help: "run a command or an observer at set times",
	},
	{
		name: "watch", run: runDue(format.ScheduleCommands.Watch), verbs: format.ScheduleWhens,
		args: "[name=] [checks=A,B] TIME until \"CONDITION\" [PROMPT]",
		help: "check every so often until a condition is true",
	},
}

// mailCommands are about messages, in an inbox or on their way.
var mailCommands = []command{
	{
		name: "tell", run: runTell, complete: livingArguments,
		args: "NAME TEXT",
		help: "give a running agent an instruction",
	},
	{
		name: "send", run: runSend, complete: sendArguments,
		args: "NAME[,NAME…] [--priority=P] [--tag=T] TEXT",
		help: "mail one or more agents",
	},
	{
		name: "receive", run: runReceive, complete: receiveArguments,
		args: "[from=NAME] [--lifo] [timeout=] [--wait] [--show-only]",
		help: "wait for the next message and take it",
	},
	{
		name: "check", run: runCheck, complete: checkArguments,
		args: "[from=NAME] [--lifo] [--one] [--peek | --show-only]",
		help: "take all mail that is ready",
	},
	{
		name: "inbox", run: runInbox, complete: inboxArguments,
		args: "[NAME] [--list | --all [before=N]] | undo | archive N… | snooze N WHEN | restore N… | pin N " +
			"[off] | archived | snoozed | search WORDS",
		help: "open the inbox; archive, snooze or search mail",
	},
	{
		name: "messages", run: runMessages, complete: messagesArguments,
		args: "next [N] [--fifo] | wait | show [N] | why N | mute N [off] | mode [MODE] | from NAME MODE | " +
			"quiet [until 14:00 | for 2h] | resume",
		help: "take messages in turn; choose how mail is handled",
	},
	{
		name: "reply", run: runReply,
		args: "N TEXT",
		help: "reply to a message",
	},
	{
		name: "answer", run: runAnswer, complete: answerArguments,
		args: "[N | NAME [yes|session|project|no [REASON] | OPTION | TEXT]]",
		help: "answer an agent's question",
	},
	{
		name: "fire", run: runFire,
		args: "[--wait | #N…] [TEXT]",
		help: "start one turn with all waiting mail",
	},
}

// documentCommands are about texts that outlive a conversation.
var documentCommands = []command{
	{
		name: "memory", run: runMemory, complete: memoryArguments,
		args: "[list | show NAME [VERSION] | edit NAME | log NAME | rm NAME | files [allow FILE]]",
		help: "show and edit memory documents",
	},
	{
		name: "skills", run: runSkills,
		help: "list the skills, commands and agents from files",
	},
}

// agentCommands are about agents and their tabs.
var agentCommands = []command{
	{
		name: "kill", run: runKill, complete: killArguments,
		args: "NAME [--cascade | --orphan]",
		help: "end an agent now, or remove a queued task",
	},
	{
		name: "budget", run: runBudget, complete: budgetArguments,
		args: "[NAME] [50k | $2 | off]",
		help: "show or limit what an agent may use",
	},
	{
		name: "end", run: runEnd, complete: endArguments,
		args: "NAME",
		help: "end an interactive agent after its turn",
	},
	{
		name: "agent", run: runAgent, complete: agentArguments,
		args: "[list | NAME | new [NAME] [model= | agent=] | rename [OLD] NEW | close [NAME] | config " +
			"message-handling MODE [--idle-after=30s]]",
		help: "open, rename or close a helper",
	},
	{
		name: "resume", run: runResume, complete: endedArguments,
		args: "NAME [PROMPT]",
		help: "continue a finished agent, or reopen a closed one",
	},
	{
		name: "fork", run: runFork, complete: forkArguments, aliases: []string{"branch"},
		args: "[TURN] [name=]",
		help: "branch the conversation from an earlier turn",
	},
	{
		name: "agents", run: runAgents,
		help: "list all agents on the whole screen",
	},
	{
		name: "timeline", run: runTimeline,
		help: "show what each agent did when, and what waited for you",
	},
	{
		name: "view", run: runView, complete: viewArguments,
		args: "prompt|transcript|output|info",
		help: "show another view of this tab",
	},
	{
		name: "why", run: runWhy, complete: whyArguments,
		args: "[NAME]",
		help: "why an agent is running or waiting",
	},
	{
		name: "wrapup", run: runWrapUp, complete: livingArguments,
		args: "NAME",
		help: "ask an agent to finish with what it has",
	},
	{
		name: "close", run: runClose, complete: closeArguments,
		args: "[NAME | --finished]",
		help: "close the tab of a finished agent, or all such tabs",
	},
}

// workspaceCommands are about the workspace: its accounts, its model, its permissions.
var workspaceCommands = []command{
	{
		name: "doctor", run: runDoctor, args: "[--full]",
		help: "check that no task or message was lost",
	},
	{
		name: "model", run: runModel, complete: modelArguments, aliases: []string{"models"},
		args: "[PROVIDER/NAME]",
		help: "show or change the model",
	},
	{
		name: "mode", run: runMode, complete: modeArguments,
		args: "[ask|accept-edits|auto|plan|yolo]",
		help: "show or change the permission mode",
	},
	{
		name: "permissions", run: runPermissions, verbs: panel.PermissionVerbs, aliases: []string{"rules"},
		args: panel.PermissionArgs,
		help: "show, test and remove permission rules",
	},
	{
		name: "sandbox", run: runSandbox, complete: sandboxArguments,
		args: "[revoke RULE]",
		help: "show what commands of agents can reach",
	},
	{
		name: "audit", run: runAudit, complete: auditArguments,
		args: "[NAME | N] [before=N] | --verify",
		help: "show what agents called and who allowed it",
	},
	{
		name: "checks", run: runChecks, verbs: CheckVerbs,
		args: CheckArgs,
		help: "list the commands that observers may run",
	},
	{
		name: "confirm", run: runConfirm,
		help: "review schedules, checks and rules from elsewhere",
	},
	{
		name: "trust", run: runTrust, verbs: panel.TrustVerbs,
		args: panel.TrustArgs,
		help: "review what this repository wants to run",
	},
	{
		name: "mcp", run: runMCP, verbs: format.ServerVerbs,
		args: format.ServerArgs,
		help: "show the MCP servers and their tools",
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
		help: "start a new conversation; the old one is kept",
	},
	{
		name: "compact", run: runCompact, aliases: []string{"summarize"},
		args: "[HINT]",
		help: "summarise the conversation to free room",
	},
	{
		name: "context", run: runContext,
		help: "show what fills the model's window",
	},
	{
		name: "init", run: runInit,
		args: "[HINT]",
		help: "write or update AGENTS.md",
	},
	{
		name: "copy", run: runCopy,
		help: "copy the last answer",
	},
}

// programCommands are about the program itself.
var programCommands = []command{
	{
		name: "help", run: runHelp, alone: true,
		args: "[PAGE | COMMAND]",
		help: "show commands and keys, or explain one",
	},
	{
		name: "detach", run: runDetach, aliases: []string{"leave"}, alone: true,
		help: "leave this screen; the agents work on",
	},
	{
		name: "reload", run: runReload,
		help: "read the configuration again",
	},
	{
		name: "hooks", run: runHooks,
		help: "show the hooks and what each did last",
	},
	{
		name: "restart", run: runRestart,
		help: "restart when idle",
	},
	{
		name: "quit", run: runQuit, aliases: []string{"exit"}, alone: true,
		help: "end Fantail and its agents",
	},
}
