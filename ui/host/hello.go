package host

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fantail/ui/attach"
	"fantail/ui/screen/tty"
	"fantail/ui/screen/wire"
)

// Hello is how a screen introduces itself.
type Hello struct {
	Build   string   // which file it runs; "": unknown
	Args    []string // of its command line
	Dir     string   // where it was started
	Env     []string
	Umask   int  // of the shell; -1: unknown
	Colors  bool // it shows all colours, even if its environment does not say so
	Columns int
	Rows    int
	PID     int
	command bool // it is an agent's command's

	terminal *os.File  // nil: none was passed
	was      tty.Modes // as it was found
	known    bool      // was is known
	job      job
}

// Getenv returns the value of one of its variables.
func (h Hello) Getenv(name string) string {
	for _, kv := range h.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// Who names the human at the screen for the audit. It tells several screens of one host apart.
func (h Hello) Who() string {
	where := ""
	if h.terminal != nil {
		where = tty.Name(int(h.terminal.Fd()))
	}
	if where == "" {
		return fmt.Sprintf("the user, on the screen of process %d", h.PID)
	}
	return fmt.Sprintf("the user, on %s (process %d)", where, h.PID)
}

// helloWithin is how long a screen may take for its hello.
const helloWithin = 5 * time.Second

// errStranger is the error of a connection that is no screen, or belongs to another user.
var errStranger = errors.New("no screen")

// hear reads a screen's hello, or the request of a process that is no screen. The caller closes the terminal.
func hear(conn *net.UnixConn) (h Hello, ask wire.Fields, err error) {
	peer, err := attach.PeerOf(conn)
	if err != nil {
		return h, nil, err
	}
	if peer.UID != os.Geteuid() {
		return h, nil, fmt.Errorf("%w: it is uid %d", errStranger, peer.UID)
	}
	if err := conn.SetReadDeadline(time.Now().Add(helloWithin)); err != nil {
		return h, nil, err
	}
	h.PID, h.job, h.command = peer.PID, jobOf(peer.PID), ofCommand(peer)
	if h.terminal, err = magic(conn); err != nil {
		return h, nil, err
	}
	k, body, _, err := wire.Read(conn, wire.MaxHello, nil)
	if err != nil {
		return h, nil, err
	}
	switch k {
	case wire.Hello:
		h.read(wire.FieldsOf(body))
	case wire.Ask:
		ask = wire.FieldsOf(body)
	default:
		return h, nil, fmt.Errorf("%w: it begins with a frame %q", errStranger, k)
	}
	return h, ask, conn.SetReadDeadline(time.Time{})
}

// magic reads the first bytes, which come with a descriptor of the terminal.
func magic(conn *net.UnixConn) (*os.File, error) {
	buf, oob := make([]byte, len(wire.Magic)), make([]byte, syscall.CmsgSpace(4*4))
	n, noob, _, _, err := conn.ReadMsgUnix(buf, oob)
	var terminal *os.File
	if noob > 0 {
		messages, _ := syscall.ParseSocketControlMessage(oob[:noob])
		for _, m := range messages {
			fds, _ := syscall.ParseUnixRights(&m)
			for _, fd := range fds {
				syscall.CloseOnExec(fd)
				if terminal == nil && tty.Is(fd) {
					terminal = os.NewFile(uintptr(fd), "the screen's terminal")
				} else {
					_ = syscall.Close(fd)
				}
			}
		}
	}
	if err == nil {
		_, err = io.ReadFull(conn, buf[n:])
	}
	if err == nil && string(buf) != wire.Magic {
		err = errStranger
	}
	if err != nil && terminal != nil {
		_ = terminal.Close()
		terminal = nil
	}
	return terminal, err
}

// HelloOf returns the hello of this process itself with these fields.
func HelloOf(f wire.Fields) (h Hello) {
	h.read(f)
	h.PID = os.Getpid()
	return h
}

func (h *Hello) read(f wire.Fields) {
	h.Build, h.Args, h.Dir, h.Env, h.Umask = f.Get(wire.Build), f.All(wire.Arg), f.Get(wire.Dir), f.All(wire.Env), -1
	h.Colors = f.Get(wire.Colors) == "truecolor"
	if n, err := strconv.ParseUint(f.Get(wire.Umask), 8, 9); err == nil {
		h.Umask = int(n)
	}
	h.Columns, h.Rows = 80, 24
	if w, rest, ok := strings.Cut(f.Get(wire.Columns), "x"); ok {
		cols, err := strconv.ParseUint(w, 10, 16)
		rows, err2 := strconv.ParseUint(rest, 10, 16)
		if err == nil && err2 == nil && cols > 0 && rows > 0 {
			h.Columns, h.Rows = int(cols), int(rows)
		}
	}
	h.was, h.known = tty.Spelled(f.Get(wire.Modes))
}
