// Package wire defines what a screen and a host send each other over the host's socket. Any version of one understands
// any version of the other, so what is defined here is only ever added to.
//
// Does: put frames together and take them apart; spell the fields of a hello and of a bye.
//
// Does not: open a socket, know a terminal or an agent. It needs nothing but the standard library's small packages.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Magic is what a screen sends first, together with a descriptor of its terminal. A connection that begins otherwise
// is no screen.
const Magic = "fantail screen 1\n"

// Kind is the first byte of a frame. A receiver skips a frame of a kind that it does not know.
type Kind byte

// What a screen sends.
const (
	Hello Kind = 'H' // fields, once, right after [Magic]
	Keys  Kind = 'K' // what the terminal sent, as it came
	Size  Kind = 'S' // columns and rows, see [SizeOf]
	Stop  Kind = 'Z' // the screen was asked to stop: it waits for [Halt]
	Back  Kind = 'C' // the screen has the terminal again, after a stop or a [Run]; fields
	Leave Kind = 'L' // the human is gone; a field names the signal
	Ask   Kind = 'A' // fields, instead of a hello: the sender is no screen, and gets an [Answer]
	Line  Kind = 'T' // while an [Attach] goes on: text for the agent; an [Answer] says what became of it
	Ends  Kind = 'E' // while an [Attach] goes on: no more text for the agent; an [Answer] says what became of it
)

// What a host sends.
const (
	Welcome Kind = 'W' // fields, once, before anything else but [Bye]
	Paint   Kind = 'P' // bytes for a terminal in raw mode
	Halt    Kind = 'Z' // give the terminal back, stop, and send [Back] once continued
	Run     Kind = 'R' // give the terminal to that program and send [Back] once it has ended; fields
	Bye     Kind = 'B' // give the terminal back, say this, and end; fields
	Answer  Kind = 'I' // fields, to an [Ask]
	Note    Kind = 'N' // bytes for standard error, while a [Print] goes on; [Paint] is for standard output then
)

// The fields of a [Hello].
const (
	Version = "version" // of the program, for people
	Build   = "build"   // identifies the executable: two that are equal are the same build
	Arg     = "arg"     // one for each argument of the command line
	Dir     = "dir"     // where the program was started
	Env     = "env"     // one for each variable, NAME=VALUE
	Umask   = "umask"   // octal
	Columns = "size"    // as in a [Size] frame, spelled COLUMNSxROWS
	Modes   = "modes"   // of the terminal before the screen changed them, as package tty spells them
	Colors  = "colors"  // colours that the terminal shows although its environment does not say so: truecolor
)

// More fields: of [Leave], [Back], [Run] and [Bye].
const (
	Signal = "signal" // a number
	Code   = "code"   // an exit code
	Say    = "say"    // a line for people, on standard error
	PID    = "pid"    // of the host
	Again  = "again"  // of a bye or a refusal: look for the next host at once
)

// The fields of an [Ask] and of an [Answer].
const (
	Do      = "do"      // [Status], [End], [Push], [Send], [Print], [Tell], [WrapUp], [Kill], [Finish], [Respawn], [Spawn], [Wake], [Errand] or [Attach]
	Status  = "status"  // report the screens and the agents
	End     = "end"     // end, at once or as [When] says
	When    = "when"    // [AtRest]
	AtRest  = "rest"    // once nothing goes on any more
	Root    = "root"    // of the workspace
	Since   = "since"   // when the host started, in milliseconds since 1970
	Screens = "screens" // how many there are
	Files   = "files"   // how many files and sockets it has open, without those of its database
	Agent   = "agent"   // one for each agent with an open tab: STATE NAME
	Mail    = "mail"    // how many messages wait for main
	Push    = "push"    // queue a task: [Name], [Prompt], [Model], [Timeout] in milliseconds, [Budget], an [After] for each it waits for
	Name    = "name"
	Prompt  = "prompt"
	Model   = "model"
	Timeout = "timeout"
	Budget  = "budget"
	After   = "after"
	Origin  = "origin" // where a pushed or sent text comes from: mcp; otherwise a shell
	Task    = "task"   // the id of the task that is queued
	Print   = "print"  // carry out the prompt that comes in [Keys] frames, up to an empty one; with the fields of a hello
	Plain   = "plain"  // what it prints goes to a terminal

	Send     = "send" // mail: [To], [Body], [Priority], [Tag], [Key]
	To       = "to"   // one for each receiver
	Body     = "body"
	Priority = "priority"
	Tag      = "tag" // one for each
	Key      = "key"
	Sent     = "sent"    // one for each message that is in an inbox: ID NAME
	Tell     = "tell"    // give the agent [Name] a prompt of the human's, [Body]
	WrapUp   = "wrap up" // ask the agent [Name] to finish with what it has
	Kill     = "kill"    // end the agent [Name]
	Finish   = "finish"  // have the agent [Name] end after its present turn
	Respawn  = "respawn" // start the task of the agent [Name] again, with a new agent, whose [Name] is in the answer
	Attach   = "attach"  // follow the agent [Name]: after the [Answer] come lines of JSON, in [Paint] frames
	Done     = "done"    // the request is done; its value means nothing
	Refused  = "refused" // why the request is refused; it is not to be tried another way

	// Start a task: [Name], [Model], [Awaits], the prompt in [Keys] frames up to an empty one, and the fields of a
	// hello. The answer has [Task] and [Name], and [ID] once the agent is there.
	Spawn  = "spawn"
	ID     = "id"
	Awaits = "awaits" // how long the agent awaits input, in milliseconds: 0 as usual, -1 for ever; absent: it does not

	Wake = "wake" // open the workspace, so that its due schedules fire; with the fields of a hello

	// Carry out a sub-command that the process was started for; with the fields of a hello, [Plain], [Typed] and
	// [Zone]. While the host needs something it sends an [Answer] with [Wants]. An [Answer] that wants nothing tells
	// the process to do it itself. At the end come [Paint] and [Note] frames, and a [Bye] with [Code], and with
	// [Unread] and [Say] for a process whose output can't be written.
	Errand = "errand"
	Typed  = "typed" // its standard input is a terminal
	Zone   = "zone"  // its clock's: OFFSET NAME
	Wants  = "wants" // [Input] or [Word]
	Input  = "input" // standard input, at most [Most] bytes, in [Keys] frames up to an empty one, or a [Back] with an error text
	Most   = "most"  // how many bytes
	// An empty [Keys] frame, before the host changes anything. If the host is lost after that, the process prints
	// [Say], or, without it, does the errand itself, with each [Arg] after its sub-command.
	Word   = "word"
	Unread = "unread" // the exit code if the output has no reader any more

	// In a [Status], one for each agent that awaits input: LEFT ATTACHED NAME. LEFT is how long an idle one has left,
	// in milliseconds, or - if no time limit runs; ATTACHED is how many programs are attached.
	Awaiting = "awaiting"
)

// The longest frames, in bytes of their body. A longer one ends the connection.
const (
	MaxHello = 4 << 20 // the kernel allows no larger environment by default
	MaxFrame = 1 << 20
)

// head is the size of a frame's kind and length, in bytes.
const head = 5

// Append adds a frame to b. A body is at most [MaxFrame] bytes, that of a hello [MaxHello].
func Append(b []byte, k Kind, body []byte) []byte {
	return append(Head(b, k, len(body)), body...)
}

// Head appends the header of a frame with a body of that many bytes.
func Head(b []byte, k Kind, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(k)), uint32(size))
}

// errMalformed is the error of bytes that are no frame.
var errMalformed = errors.New("malformed frame")

// Cut takes the first frame off b. It returns ok false if the frame is incomplete. body is a part of b.
func Cut(b []byte, limit int) (k Kind, body, rest []byte, ok bool, err error) {
	if len(b) < head {
		return 0, nil, b, false, nil
	}
	n := binary.BigEndian.Uint32(b[1:head])
	if n > uint32(limit) {
		return 0, nil, b, false, fmt.Errorf("%w: %d bytes, at most %d", errMalformed, n, limit)
	}
	if len(b) < head+int(n) {
		return 0, nil, b, false, nil
	}
	return Kind(b[0]), b[head : head+int(n)], b[head+int(n):], true, nil
}

// Read reads a frame. body is valid until buf is used again. grown is buf, grown to the size it needed.
func Read(r io.Reader, limit int, buf []byte) (k Kind, body, grown []byte, err error) {
	var h [head]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, buf, err
	}
	n := binary.BigEndian.Uint32(h[1:])
	if n > uint32(limit) {
		return 0, nil, buf, fmt.Errorf("%w: %d bytes, at most %d", errMalformed, n, limit)
	}
	// The buffer grows with what has come, not with the announced size.
	w := bytes.NewBuffer(buf[:0])
	if _, err := io.CopyN(w, r, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, w.Bytes(), err
	}
	return Kind(h[0]), w.Bytes(), w.Bytes(), nil
}

// Fields are names with values, in order. A name may occur more than once, and a receiver skips one that it does not
// know. Neither names nor values hold a NUL byte.
type Fields []string

// Add adds a field.
func (f *Fields) Add(name, value string) { *f = append(*f, name+"="+value) }

// Get returns the first value of that name; "" if there is none.
func (f Fields) Get(name string) string {
	for _, kv := range f {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// All returns the values of that name.
func (f Fields) All(name string) []string {
	var all []string
	for _, kv := range f {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			all = append(all, v)
		}
	}
	return all
}

// Bytes returns the body of a frame with these fields.
func (f Fields) Bytes() []byte { return []byte(strings.Join(f, "\x00")) }

// FieldsOf reads the body of such a frame.
func FieldsOf(body []byte) Fields {
	if len(body) == 0 {
		return nil
	}
	return strings.Split(string(body), "\x00")
}

// AppendSize adds a [Size] frame.
func AppendSize(b []byte, columns, rows int) []byte {
	var body [4]byte
	binary.BigEndian.PutUint16(body[:2], uint16(columns))
	binary.BigEndian.PutUint16(body[2:], uint16(rows))
	return Append(b, Size, body[:])
}

// SizeOf reads the body of a [Size] frame: columns and rows. A later version may add to it.
func SizeOf(body []byte) (columns, rows int, err error) {
	if len(body) < 4 {
		return 0, 0, fmt.Errorf("%w: a size of %d bytes", errMalformed, len(body))
	}
	return int(binary.BigEndian.Uint16(body)), int(binary.BigEndian.Uint16(body[2:])), nil
}
