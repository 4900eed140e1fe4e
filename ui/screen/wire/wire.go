// Package wire is what a screen and a host say to each other over the host's socket: any version
// of one understands any version of the other, so what stands here only grows.
//
// Does: put frames together and take them apart; spell the fields of a hello and of a bye.
//
// Does not: open a socket, know a terminal or an agent. It needs nothing but the standard
// library's small packages.
//
// Imports: nothing of ours.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Magic is what a screen sends first, together with a descriptor of its terminal. What begins
// otherwise is no screen.
const Magic = "fantail screen 1\n"

// Kind is the first byte of a frame. Who does not know a kind skips the frame.
type Kind byte

// What a screen sends.
const (
	Hello Kind = 'H' // fields, once, right after [Magic]
	Keys  Kind = 'K' // what the terminal sent, as it came
	Size  Kind = 'S' // columns and rows, see [SizeOf]
	Stop  Kind = 'Z' // somebody asked the screen to stop: it waits for [Halt]
	Back  Kind = 'C' // the terminal is the screen's again, after a stop or a [Run]; fields
	Leave Kind = 'L' // the human is gone; a field says which signal told
	Ask   Kind = 'A' // fields, instead of a hello: who asks is no screen, and gets an [Answer]
	Line  Kind = 'T' // while an [Attach] goes on: tell the agent this; an [Answer] says what came of it
	Ends  Kind = 'E' // while an [Attach] goes on: the agent is told nothing more; an [Answer] says what came of it
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
	Build   = "build"   // which file the program is: two that are equal are the same build
	Arg     = "arg"     // one for each argument of the command line
	Dir     = "dir"     // where the program was started
	Env     = "env"     // one for each variable, NAME=VALUE
	Umask   = "umask"   // octal
	Columns = "size"    // as in a [Size] frame, spelled COLUMNSxROWS
	Modes   = "modes"   // of the terminal as they were found, as package tty spells them
	Colors  = "colors"  // what the terminal can show beyond what its environment says: truecolor
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
	Status  = "status"  // tell who is there and what goes on
	End     = "end"     // end, at once or as [When] says
	When    = "when"    // [AtRest]
	AtRest  = "rest"    // once nothing goes on any more
	Root    = "root"    // of the workspace
	Since   = "since"   // when the host started, in milliseconds since 1970
	Screens = "screens" // how many there are
	Agent   = "agent"   // one for each whose tab is open: STATE NAME
	Mail    = "mail"    // how many messages wait for main
	Push    = "push"    // queue a task: [Name], [Prompt], [Model], [Timeout] in milliseconds, [Budget], an [After] for each it waits for
	Name    = "name"
	Prompt  = "prompt"
	Model   = "model"
	Timeout = "timeout"
	Budget  = "budget"
	After   = "after"
	Origin  = "origin" // of what is pushed or sent: mcp; else a shell
	Task    = "task"   // the id of the task that is queued
	Print   = "print"  // carry out the prompt that comes in [Keys] frames, until an empty one; with the fields of a hello
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
	Respawn  = "respawn" // begin the task of the agent [Name] anew, with an agent of the [Name] that is answered
	Attach   = "attach"  // follow the agent [Name]: behind the [Answer] come lines of JSON, in [Paint] frames
	Done     = "done"    // that what was asked is done; its value says nothing
	Refused  = "refused" // why what was asked is not done, and is not to be tried another way

	// Start a task: [Name], [Model], [Awaits], the prompt in [Keys] frames until an empty one, and the fields of a hello.
	// The answer has [Task] and [Name], and [ID] once the agent is there.
	Spawn  = "spawn"
	ID     = "id"
	Awaits = "awaits" // how long the agent awaits input, in milliseconds: 0 as usual, -1 for ever; not there: it does not

	Wake = "wake" // open the workspace, so that what is due there fires; with the fields of a hello

	// Carry out a sub-command that the process was started for; with the fields of a hello, [Plain], [Typed] and [Zone].
	// As long as the host needs something it sends an [Answer] that says what it [Wants]; an [Answer] that wants nothing
	// says that the process does it itself. At the end come [Paint] and [Note] frames, and a [Bye] with [Code], and with
	// [Unread] and [Say] for a process whose output can't be written.
	Errand = "errand"
	Typed  = "typed" // its standard input is a terminal
	Zone   = "zone"  // its clock's: OFFSET NAME
	Wants  = "wants" // [Input] or [Word]
	Input  = "input" // standard input, at most [Most] bytes, in [Keys] frames until an empty one, or a [Back] that says what is wrong
	Most   = "most"  // how many bytes
	// An empty [Keys] frame, before the host changes anything: if the host is lost from then on, the process says [Say], or,
	// without that, does it itself, with each [Arg] behind its sub-command.
	Word   = "word"
	Unread = "unread" // the exit code if nobody reads the output any more

	// Of a [Status], one for each agent that awaits input: LEFT ATTACHED NAME. LEFT is how long an idle one has left, in
	// milliseconds, or - if nothing counts down; ATTACHED is how many programs are attached.
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

// Head adds what stands before a body of that many bytes.
func Head(b []byte, k Kind, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(k)), uint32(size))
}

// errMalformed is the error of bytes that are no frame.
var errMalformed = errors.New("malformed frame")

// Cut takes the first frame off b; ok is false if it is not all there yet. body is a part of b.
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

// Read reads a frame. body is valid until buf is used again; buf is returned as large as it
// has become.
func Read(r io.Reader, limit int, buf []byte) (k Kind, body, grown []byte, err error) {
	var h [head]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, buf, err
	}
	n := binary.BigEndian.Uint32(h[1:])
	if n > uint32(limit) {
		return 0, nil, buf, fmt.Errorf("%w: %d bytes, at most %d", errMalformed, n, limit)
	}
	// It grows with what has come, not with what was announced.
	w := bytes.NewBuffer(buf[:0])
	if _, err := io.CopyN(w, r, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, w.Bytes(), err
	}
	return Kind(h[0]), w.Bytes(), w.Bytes(), nil
}

// Fields are names with values, in order; a name may come more than once, and who does not know
// one skips it. Neither holds a NUL byte.
type Fields []string

// Add adds a field.
func (f *Fields) Add(name, value string) { *f = append(*f, name+"="+value) }

// Get is the first value of that name; "" if there is none.
func (f Fields) Get(name string) string {
	for _, kv := range f {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// All are the values of that name.
func (f Fields) All(name string) []string {
	var all []string
	for _, kv := range f {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			all = append(all, v)
		}
	}
	return all
}

// Bytes is the body of a frame with these fields.
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
