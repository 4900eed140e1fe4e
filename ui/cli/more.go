package cli

// The long help texts of the errands.
const (
	moreSend = `NAME is an agent of the workspace, or the beginning of its name; main is always
there. Without TEXT, or with -, the text is what stands on standard input, byte
for byte, at most 1 MiB. When fantail returns 0 the message is on disk. It is
marked as from outside and waits until somebody takes it: it is data and never
starts anything.

  go test ./... || fantail send main --priority=high "tests broke"
  git log -1 --stat | fantail send main --tag=commit`

	morePush = `The task waits in main's queue until the human types /run, which lists it. Its
agent asks before all it does but reading, whatever the permission mode, and so
does all it dispatches. after= names tasks whose results it waits for. Without PROMPT,
or with -, the prompt is what stands on standard input.

  fantail push name=review timeout=10m "review the last commit"`

	moreInbox = `Nothing is taken. A text lists the first 100 messages, with --all it lists all, as
--json does. With --follow it prints what waits and then each message as it
comes, until it is interrupted.

  fantail inbox --follow --json | jq -r .subject`

	moreCheck = `Each message goes to one taker: what is printed enters no conversation, and a
notice in the agent's transcript says so. Without a terminal nothing is taken
unless --take is given. At most 200 are taken at once, in the order they came.
--peek prints the first 100, and with --all or --json all.

  fantail check --take --json from=tests`

	moreAgents = `Looking starts nothing. What you tell an agent is an instruction, as if you had
typed it on a screen: it reads it at its next step, one at rest begins with it.
Without TEXT, or with -, it is what stands on standard input; behind -- nothing
is a flag. An agent's own command may look, and tells, starts and ends none.

spawn starts a task of yours and prints its agent's name; a host is started if
none runs. With --interactive the agent awaits input where its turn ends, and ends
if none comes (--idle). end has it end after its present turn, wrapup with what it
has, kill now; respawn begins an ended agent's task anew.

logs prints what an agent did, with --follow until it has ended. attach prints the
same and what is streamed, and tells the agent each line you type. Ctrl+C, or the
end of a pipe, detaches and leaves it; Ctrl+D, or the end of a pipe with --end, has
it end and waits for that. With < /dev/null it only looks on. An idle agent to
which a program is attached does not end by itself. A program that reads too
slowly is dropped, and says so.

With --json attach writes one of these a line, first the entries there are:
  entry    an item of the transcript in "entry", as logs --json prints it; with
           "reply" it replaces the deltas of that number
  delta    the next piece of a reply: "reply", "block", "kind" (text, thinking or
           summary), "text"
  void     the deltas of "reply" are discarded; it begins anew
  state    what the agent does: "agent", "state", "doing", "why", "asks";
           "seconds_left" while an idle one's time counts down, "attached"
  output   "tail": what the command of "call" wrote last
  error    "error": a line was not told, which stands in "text"
  end      it has ended: "agent", "state", "outcome", "error"; nothing follows
and reads {"type":"user_message","text":"…"} and {"type":"end_input"}, at most 1 MiB
a line. A line it can't read gets an error and is skipped.

  fantail agents --json | jq -r 'select(.state == "running").name'
  fantail agents spawn --label auth --interactive --prompt "review the login"
  fantail agents attach auth
  echo "now the tests too" | fantail agents attach auth --end
  fantail agents tell auth "use the standard library only"`

	moreLs = `One line for each workspace that has a host: the process that has its agents and
goes on when the terminal is closed.

  fantail ls --json | jq -r 'select(.pending > 0).dir'`

	moreHost = `status tells who is there and what goes on. stop ends the host; while agents are
at work it wants to know when: --wait once they are done, --now at once. log
prints what it wrote while nobody was there to read it.

install writes a user unit of systemd, on macOS an agent of launchd, that keeps this
workspace's host: what is scheduled then fires on time without opening Fantail. It
tells the commands that start it; with --now it runs them. No key is written into it.
uninstall takes it away. run is what the unit starts: the host itself, in the
foreground. It waits while another process has the workspace, opens it at once, never
ends for want of work, and ends in order on SIGTERM.

  fantail host stop --wait
  fantail host install --now`

	moreDoctor = `It looks at who would end a host behind your back (logging out, a terminal's
scope), at file systems whose locks can't be trusted, and whether a host answers.
The exit code is 1 if something gets in the way.

  fantail doctor`

	moreMCP = `It speaks the Model Context Protocol over standard input and output: the tools
send, check, inbox, push, queue and show. What comes so is marked and held as
what other commands bring. In the other program's configuration:

  {"mcpServers": {"fantail": {"command": "fantail", "args": ["mcp", "--cwd", "DIR"]}}}

With --agent it offers the tools of an agent to the program of another vendor's that
carries out its turns: push, run, queue, delegate, send, reply_to_message, check,
receive, inbox and read_message, as that agent. Fantail has that program start it;
whose it is the host asks the system, and no argument says.

list is about the other side: the MCP servers whose tools agents here use, where each
is configured, and why one is not used. test starts one, names its tools and ends it;
the exit code is 1 if it is not there, and 3 for a list without any. login logs in to
one over HTTP in a browser, logout forgets that.

  fantail mcp list --json | jq -r 'select(.used | not).why'
  fantail mcp test github
  fantail mcp login tracker`
)
