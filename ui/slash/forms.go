package slash

import (
	"fmt"
	"slices"
	"strings"

	"fantail/store/config"
	"fantail/ui/cells"
	"fantail/ui/manual"
)

// form is what /help says of a command beyond its row in the table.
type form struct {
	example string
	options string // a line each: the option, a colon, what it does
}

// forms are those of the commands with arguments, by name.
var forms = map[string]form{
	"push": {"/push name=tests budget=50k run go test ./...", `
model=: the model, as /model lists it
agent=: a role from a file, or another vendor's agent
name=: the name of the new agent
timeout=: end the task after this time, such as 20m
budget=: tokens or dollars that it may use
deliver=: hold, next or wake: what its result does to your agent
after=A,B: start once these tasks are done
resume: continue the agent of that name
interactive: the agent stays after each turn; /tell goes on
idle=: how long it stays
!CMD: run a shell command instead of a prompt`},
	"run": {"/run 2", `
N: at most N tasks at once
--once: only N tasks
timeout=: end each task after this time`},
	"queue": {"/queue --all", `
--all: finished tasks too
--panel: on the whole screen
rm NAME: remove a task
move NAME N: move it to place N
edit NAME: change its prompt`},
	"retry":   {"/retry tests read the log first", "HINT: what to do otherwise; how the task ended is added"},
	"respawn": {"/respawn tests", ""},
	"remind": {"/remind 30m check the build", `
WHEN: 30m, 14:00, tomorrow 9:00, every monday 10:00
--priority=P: the priority of the message
deliver=wake: start a turn; without it the reminder waits for your next message`},
	"schedule": {"/schedule every 10m !make test", `
list: list the schedules; without it they fill the screen
name=: the name of the schedule
PROMPT: an observer reads and reports
!CMD: a command runs
checks=A,B: commands that the observer may run
sandbox=off: run the command outside the sandbox
--always: report unchanged outcomes too
pause, resume, run, rm, show NAME: change or show one`},
	"watch": {`/watch 10m until "the build is green"`, `
TIME: how often to look
name=: the name of the schedule
checks=A,B: commands that the observer may run`},
	"tell": {"/tell auth check the session table too", ""},
	"send": {"/send auth,tests --priority=high the API has changed", `
--priority=P: low, normal, high or urgent
--tag=T: a word to find it by`},
	"receive": {"/receive from=tests timeout=5m", `
from=NAME: only messages of this agent
--lifo: the newest first
timeout=: wait no longer
--wait: wait for a message to arrive
--show-only: show it to you; the model does not read it`},
	"check": {"/check from=tests", `
from=NAME: only messages of this agent
--lifo: the newest first
--one: one message
--peek: show them and take none
--show-only: show them to you; the model does not read them`},
	"inbox": {"/inbox search flaky test", `
NAME: the inbox of another agent
--list: list what waits
--all: list everything
before=N: list what came before message N
undo: put those taken last back
archive, snooze, restore, pin N: as the keys in the inbox do`},
	"messages": {"/messages next", `
next [N]: a turn with the most urgent message, or with each of N
--fifo: the oldest first
show N: show one
why N: say why it waits
mute N: hold its thread, and off: no longer
mode MODE: how mail is handled
from NAME MODE: how mail of one sender is handled
quiet: hold all mail until a time, and resume: no longer`},
	"reply":       {"/reply 3 use the second one", ""},
	"answer":      {"/answer tests yes", "yes, session, project, no: the answers to a call\nOPTION, TEXT: the answers to a question"},
	"fire":        {"/fire #3 #4 fix both", "--wait: first wait for all that runs\n#N: only these messages"},
	"memory":      {"/memory show notes", "files: the instruction files in force\nallow FILE: use an instruction file"},
	"kill":        {"/kill tests --cascade", "--cascade: end the agents below it too\n--orphan: let them go on"},
	"budget":      {"/budget tests 50k", "50k: tokens\n$2: dollars\noff: no limit"},
	"end":         {"/end aide", ""},
	"agent":       {"/agent new aide", "list: list the agents\nNAME: go to it\nnew: open a helper\nmodel=: its model\nagent=: its role from a file, or a vendor's agent\nrename: rename one\nclose: close a helper\nconfig message-handling MODE: how its mail is handled\n--idle-after=30s: how long you must be away for that"},
	"resume":      {"/resume tests now fix the second one", "PROMPT: what to do next"},
	"fork":        {"/fork name=try", "TURN: the turn to branch after\nname=: the name of the new helper"},
	"view":        {"/view output", ""},
	"why":         {"/why tests", ""},
	"wrapup":      {"/wrapup tests", ""},
	"close":       {"/close --finished", "--finished: the tabs of all finished agents"},
	"doctor":      {"/doctor --full", "--full: list every task and message"},
	"model":       {"/model", ""},
	"mode":        {"/mode plan", ""},
	"permissions": {"/permissions test go test ./...", "test COMMAND: which rule decides about a command\naccept, refuse N: decide about a rule of a project's file\nrevoke RULE: remove a rule that you gave"},
	"sandbox":     {"/sandbox revoke sandbox(network)", "revoke RULE: remove what was added"},
	"audit":       {"/audit tests", "N: one row in full\nbefore=N: older rows\n--verify: check that the audit is whole"},
	"checks":      {"/checks add tests make test", "add: let observers run a command\nnet=HOST: let it reach a host\nrun NAME: show what observers see"},
	"trust":       {"/trust list", "revoke: take a yes back"},
	"mcp":         {"/mcp list", "login NAME: log in to a server\nreconnect NAME: start it again\nlog NAME: what it wrote\ntools NAME: its tools"},
	"theme":       {"/theme light", ""},
	"compact":     {"/compact keep the decisions", "HINT: what the summary must keep"},
	"init":        {"/init mention the linter", "HINT: what the file must say"},
	"help":        {"/help push", "PAGE: a page of the manual\nCOMMAND: the grammar of a command"},
}

// page is the help page of a command.
func (c command) page() manual.Page {
	f := forms[c.name]
	var b strings.Builder
	fmt.Fprintf(&b, "# /%s\n\n%s.\n\n```\n%s\n```\n", c.name, strings.ToUpper(c.help[:1])+c.help[1:], strings.Join(cells.Wrap(c.usage(), 72), "\n  "))
	if f.options != "" {
		b.WriteString("\n| option | does |\n|---|---|\n")
		for line := range strings.SplitSeq(strings.TrimSpace(f.options), "\n") {
			option, does, _ := strings.Cut(line, ": ")
			fmt.Fprintf(&b, "| `%s` | %s |\n", option, does)
		}
	}
	if f.example != "" {
		fmt.Fprintf(&b, "\nExample:\n\n```\n%s\n```\n", f.example)
	}
	if c.aliases != nil {
		fmt.Fprintf(&b, "\nAlso: `/%s`\n", strings.Join(c.aliases, "`, `/"))
	}
	return manual.Page{Name: c.name, Title: "/" + c.name, Text: b.String()}
}

// groups are the commands under the headings of the help.
var groups = []struct {
	head string
	of   []command
}{
	{"Tasks", taskCommands},
	{"Times", dueCommands},
	{"Mail", mailCommands},
	{"Documents", documentCommands},
	{"Agents", agentCommands},
	{"Workspace", workspaceCommands},
	{"Conversation", conversationCommands},
	{"Program", programCommands},
}

// HelpPage returns the page of the manual or of a command; without a name the overview.
func HelpPage(files CustomCommands, name string) (manual.Page, error) {
	if name == "" {
		return overview(files), nil
	}
	if p, ok := manual.Find(name); ok {
		return p, nil
	}
	word := strings.TrimPrefix(name, "/")
	if c, ok := find(word); ok {
		return c.page(), nil
	}
	if near := config.Nearest(word, helpNames()); near != "" {
		return manual.Page{}, fmt.Errorf("there is no page or command %q; did you mean /help %s?", name, near)
	}
	return manual.Page{}, fmt.Errorf("there is no page or command %q; /help lists them", name)
}

// helpNames are the names that /help takes.
func helpNames() []string { return slices.Concat(manual.Names(), Words()) }

// overview lists the commands in groups, those that files bring, and the pages of the manual.
func overview(files CustomCommands) manual.Page {
	var b strings.Builder
	b.WriteString("# Help\n\nPress `?` in an empty box for the keys, Ctrl+P to find a command. `/help push` explains a command.\n")
	row := func(name, does string) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(does, "|", "\\|"))
	}
	head := func(text string) { fmt.Fprintf(&b, "\n| **%s** | |\n|---|---|\n", text) }
	for _, g := range groups {
		head(g.head)
		for _, c := range g.of {
			row("/"+c.name, c.help)
		}
	}
	if more := files.Candidates(); more != nil {
		head("From files and servers")
		for _, c := range more {
			row("/"+c.Insert, c.Help)
		}
	}
	head("Manual")
	for _, name := range manual.Names() {
		if p, ok := manual.Find(name); ok {
			row("/help "+name, p.Title)
		}
	}
	return manual.Page{Name: "help", Title: "Help", Text: b.String()}
}
