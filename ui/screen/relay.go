package screen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"fantail/ui/screen/tty"
	"fantail/ui/screen/wire"
)

// relay carries bytes between the terminal and a host. One goroutine does all of it, and waits
// for neither: what the one does not take stays here until the other has to wait.
type relay struct {
	host    int       // the connection
	in, out int       // the terminal, for reading and for writing
	was     tty.Modes // as they were found
	signals chan os.Signal
	wake    int // becomes readable when a signal came; what is read are their numbers
	poll    *poll

	sent  []byte // for the host
	shown []byte // for the terminal
	came  []byte // from the host: frames that are not all there, or whose turn has not come
	gone  bool   // the host sends no more
	greet bool   // the host has answered
	asked bool   // the host was asked to have it stop, and has not answered
	full  bool   // the terminal is as a full screen has it, once it has taken all that is shown
	front bool   // of that only the alternate screen
	began bool   // it took what makes it so, or part of it, and not all that was shown since
	stuck bool   // the terminal had its time to take what it was given, and did not
	ended End

	code    int       // to exit with, once a signal told to leave
	leaveBy time.Time // when to leave without the host's goodbye; zero: not at all
	stopBy  time.Time // when to stop without the host's word for it
	drainBy time.Time // when to drop what the terminal does not take
	greetBy time.Time
	lookBy  time.Time   // when to look for a host that is not read
	backBy  time.Time   // when to take the terminal again after a stop, if nothing else comes
	resumed time.Time   // when it last went on after a stop of its own
	undo    func()      // ends that SIGTSTP stops this process; nil: it does not
	given   atomic.Bool // a program has the terminal
}

// What is waited for, and how much is kept.
const (
	goodbye  = 300 * time.Millisecond // for the host to restore the terminal, or the terminal to take that
	greeting = 10 * time.Second
	stopping = 100 * time.Millisecond // for the kernel to stop this process
	looking  = 100 * time.Millisecond // between looks whether a host that is not read is still there
	most     = 256 << 10              // bytes for one end while the other end is read
)

// lost is said when a host ends without a word.
const lost = "fantail: its host was killed or failed; messages and transcripts are on disk, start fantail again to go on\n"

// End is how a relay ended.
type End int

// The ends: for good, because the host sends its screens to the next one, before the host had said
// anything.
const (
	Over End = iota
	Next
	Silent
)

// Relay shows a host on the terminal, descriptors 0 and 1, until one of them ends it, and returns
// the exit code. It closes host.
func Relay(host int, hello wire.Fields) (code int, end End) { return relayed(host, hello, found()) }

// relayed is Relay on a terminal that may show a front.
func relayed(host int, hello wire.Fields, at *front) (code int, end End) {
	defer syscall.Close(host)
	r := &relay{host: host, out: 1, in: 0, was: at.was, greetBy: time.Now().Add(greeting)}
	_, err := tty.Get(0)
	if err == nil {
		err = r.introduce(hello) // first: while the host reads it, the signals are set, each a way to another thread and back
	}
	if err == nil {
		err = r.listen()
		defer r.deafen()
	}
	if err == nil && columns(1) != hello.Get(wire.Columns) { // it changed while nobody listened
		r.size()
	}
	if err == nil {
		r.poll, err = newPoll()
	}
	if err == nil {
		defer r.poll.close()
	}
	r.front = at.hand() // whatever is wrong: it is given back below
	r.full = r.front
	if err == nil {
		err = r.take()
	}
	if err != nil && r.full {
		r.release(r.patience())
	}
	if errors.Is(err, syscall.EPIPE) { // it ended, or had no room
		return 1, Silent
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fantail: show the host: %v\n", err)
		return 1, Over
	}
	// What select promises to be there may be the shell's by the time it is read: after a stop.
	for fd, own := range []*int{&r.in, &r.out} {
		if again, err := tty.Reopen(fd); err == nil {
			*own = again
			defer syscall.Close(again)
		}
	}
	// The start gate's goroutine is kept on its thread, to which the runtime's poller would hand over each key.
	done := make(chan int)
	go func() { done <- r.guarded() }()
	return r.how(<-done)
}

// how says how it ended with that exit code.
func (r *relay) how(code int) (int, End) {
	switch {
	case r.code != 0:
		return code, Over // whoever signalled means this process
	case !r.greet && r.gone: // one that is there and does not answer would not do so the next time
		return code, Silent
	}
	return code, r.ended
}

// listen has signals wake the relay.
func (r *relay) listen() error {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return err
	}
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	r.wake, r.signals = ends[0], make(chan os.Signal, 16)
	for _, sig := range leaving {
		if !signal.Ignored(sig) { // nohup means it
			signal.Notify(r.signals, sig)
		}
	}
	signal.Notify(r.signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGPIPE)
	go func() {
		defer syscall.Close(ends[1])
		for sig := range r.signals {
			if r.given.Load() && (sig == syscall.SIGINT || sig == syscall.SIGQUIT) {
				continue // meant for the program that has the terminal
			}
			_, _ = syscall.Write(ends[1], []byte{byte(sig.(syscall.Signal))})
		}
	}()
	return syscall.SetNonblock(r.wake, true)
}

// deafen ends that.
func (r *relay) deafen() {
	if r.signals == nil {
		return
	}
	signal.Stop(r.signals)
	close(r.signals)
	_ = syscall.Close(r.wake)
}

// leaving are the signals after which the screen leaves. Those of faults are here as others
// send them; a fault of its own the host cleans up after.
var leaving = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSYS, syscall.SIGTRAP,
}

// introduce sends the hello and, with its first bytes, the terminal. What of it is not taken now stays to be sent.
func (r *relay) introduce(hello wire.Fields) error {
	if err := syscall.Sendmsg(r.host, []byte(wire.Magic), syscall.UnixRights(1), nil, 0); err != nil {
		return err
	}
	if err := syscall.SetNonblock(r.host, true); err != nil {
		return err
	}
	r.sent = flush(r.host, wire.Append(r.sent, wire.Hello, hello.Bytes()))
	return nil
}

// take makes the terminal the screen's.
func (r *relay) take() error { return r.was.Raw().Set(0) }

// release gives it back, by then at the latest: what a full screen has set is undone first, if the
// host did not. In the background it is somebody else's already. The shell has its modes, and what
// it can't know of is undone for it; any other job's terminal is left alone.
func (r *relay) release(by time.Time) {
	undo := tty.Cursor
	switch {
	case r.full && r.front:
		undo = leaves
	case r.full:
		undo = tty.Undo
	}
	mine := tty.Foreground(0)
	if mine || r.full && tty.Holder(0) == shell() {
		r.full = tty.Say(r.out, undo, time.Until(by)) != nil && r.full
	}
	if mine {
		_ = r.was.Set(0)
	}
}

// shell is the group of the process that started this one; -1 if it has ended.
func shell() int {
	group, err := syscall.Getpgid(os.Getppid())
	if err != nil {
		return -1
	}
	return group
}

// back is a [wire.Back] frame with the terminal's size before it: both may have changed.
func (r *relay) back(f wire.Fields) {
	r.size()
	r.sent = wire.Append(r.sent, wire.Back, f.Bytes())
}

func (r *relay) size() {
	if w, h, err := tty.Size(0); err == nil {
		r.sent = wire.AppendSize(r.sent, w, h)
	}
}

// guarded is run, which must not leave a terminal behind that nobody can use: what a panic says is said on one as it was.
func (r *relay) guarded() (code int) {
	over := false
	defer func() {
		if !over {
			r.end(2, "")
		}
	}()
	code, over = r.run(), true
	return code
}

// run is the loop. It returns the exit code.
func (r *relay) run() int {
	buf := make([]byte, 64<<10)
	for {
		if !r.lookBy.IsZero() && !time.Now().Before(r.lookBy) {
			r.look()
		}
		if code, done := r.frames(); done {
			return code
		}
		if code, done := r.late(time.Now()); done {
			return code
		}
		ready, err := r.wait()
		if err != nil {
			return r.end(1, fmt.Sprintf("fantail: wait for the host and the terminal: %v\n", err))
		}
		if ready.signal {
			n, _ := syscall.Read(r.wake, buf)
			for _, b := range buf[:max(n, 0)] {
				if code, done := r.signal(syscall.Signal(b)); done {
					return code
				}
			}
		}
		if ready.host {
			r.hear(buf)
		}
		if ready.keys && !r.key(buf) {
			r.leave(syscall.SIGHUP)
		}
		if ready.toHost {
			r.sent = flush(r.host, r.sent)
		}
		if ready.toShow {
			r.took(flush(r.out, r.shown))
		}
	}
}

// ready says which descriptors can be used.
type ready struct{ signal, host, keys, toHost, toShow bool }

// wait waits until something can be done, or the next deadline.
func (r *relay) wait() (ready, error) {
	signal, host, in, out := want{fd: r.wake, in: true}, want{fd: r.host}, want{fd: r.in}, want{fd: r.out}
	// A frame that is not all there has to come, however long it is; one whose turn has not come waits.
	switch {
	case r.gone || !r.drainBy.IsZero():
	case len(r.shown) < most:
		host.in = true
		r.lookBy = time.Time{}
	case r.lookBy.IsZero():
		r.lookBy = time.Now().Add(looking)
	}
	// The terminal keeps what is typed until the host has answered: if that never does, it is the next one's.
	in.in = r.greet && len(r.sent) < most && r.code == 0 && r.backBy.IsZero()
	host.out = len(r.sent) > 0 && !r.gone
	out.out = len(r.shown) > 0 && tty.Foreground(0) // in the background the terminal is somebody else's
	wants := []want{signal, host, in, out}
	if err := r.poll.wait(wants, r.next()); err != nil {
		return ready{}, err
	}
	return ready{wants[0].in, wants[1].in, wants[2].in, wants[1].out, wants[3].out}, nil
}

// want is what is waited for of a descriptor.
type want struct {
	fd      int
	in, out bool // that it can be read, or written to
}

// next is until when to wait at most; zero: for ever.
func (r *relay) next() time.Time {
	var first time.Time
	for _, t := range []time.Time{r.leaveBy, r.stopBy, r.drainBy, r.greetBy, r.backBy, r.lookBy} {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// late does what is due when somebody does not answer in time.
func (r *relay) late(now time.Time) (code int, done bool) {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case due(r.leaveBy):
		r.stuck = len(r.shown) > 0
		return r.end(r.code, ""), true
	case due(r.greetBy):
		return r.end(1, "fantail: the workspace's host does not answer; fantail host status says more, fantail host stop --now ends it\n"), true
	case due(r.stopBy):
		r.stopBy = time.Time{}
		r.drop()
		r.stop()
	case due(r.drainBy):
		r.drop()
		r.stuck = true
	case due(r.backBy):
		r.resume()
	}
	return 0, false
}

// hear reads what the host sends.
func (r *relay) hear(buf []byte) {
	n, err := syscall.Read(r.host, buf)
	if n > 0 {
		r.came = append(r.came, buf[:n]...)
	}
	if n == 0 || err != nil && !again(err) {
		r.gone = true
	}
}

// look reads the last of what a host has sent that is gone, which is not noticed while it is not read.
func (r *relay) look() {
	r.lookBy = time.Time{}
	if !hungUp(r.host) {
		return
	}
	for buf := make([]byte, 64<<10); !r.gone; {
		r.hear(buf)
	}
}

// key reads what the terminal sends. It is false once there is no terminal.
func (r *relay) key(buf []byte) bool {
	n, err := syscall.Read(r.in, buf)
	if n > 0 {
		r.sent = wire.Append(r.sent, wire.Keys, buf[:n])
	}
	return n > 0 || err != nil && again(err)
}

// frames carries out what the host sent, in order: what it painted is on the terminal before
// anything else happens to that.
func (r *relay) frames() (code int, done bool) {
	for {
		k, body, rest, whole, err := wire.Cut(r.came, wire.MaxFrame)
		if err != nil || !whole && r.gone {
			if r.code != 0 {
				return r.end(r.code, ""), true
			}
			if !r.greet {
				return r.end(1, ""), true
			}
			return r.end(1, lost), true
		}
		if !whole {
			return 0, false
		}
		r.greet, r.greetBy = true, time.Time{}
		if k == wire.Paint {
			r.paint(body)
			r.came = rest
			continue
		}
		if len(r.shown) > 0 {
			if r.drainBy.IsZero() {
				r.drainBy = time.Now().Add(goodbye)
			}
			return 0, false
		}
		r.drainBy = time.Time{}
		r.came = rest
		switch k {
		case wire.Halt:
			r.halt()
		case wire.Run:
			r.give(wire.FieldsOf(body))
		case wire.Bye:
			f := wire.FieldsOf(body)
			code, _ := strconv.Atoi(f.Get(wire.Code))
			if r.code != 0 {
				code = r.code
			}
			if f.Get(wire.Again) != "" {
				r.ended = Next
			}
			text := ""
			for _, line := range f.All(wire.Say) {
				text += "fantail: " + line + "\n"
			}
			return r.end(code, text), true
		}
	}
}

// paint shows that, and notes whether the terminal is as a full screen has it then, or as it was.
func (r *relay) paint(b []byte) {
	if len(r.shown) == 0 {
		r.began = r.full
	}
	r.shown = append(r.shown, b...)
	if in, out := bytes.LastIndex(b, []byte(enters)), bytes.LastIndex(b, []byte(leaves)); in != out {
		r.full, r.front = in > out, false
	}
}

// took notes that the terminal took what is shown, but for rest.
func (r *relay) took(rest []byte) {
	n := len(r.shown) - len(rest)
	r.began = r.began || bytes.Contains(r.shown[:min(n+len(enters)-1, len(r.shown))], []byte(enters))
	r.shown, r.stuck = rest, false
}

// drop drops what the terminal has not taken. What undoes a full screen may be among it, in whole or in part.
func (r *relay) drop() {
	if len(r.shown) > 0 {
		r.full = r.began
	}
	r.shown = r.shown[:0]
}

// The first and last of what a full screen sets and undoes.
const (
	enters = "\x1b[?1049h"
	leaves = "\x1b[?1049l"
)

// signal does what one means.
func (r *relay) signal(sig syscall.Signal) (code int, done bool) {
	switch sig {
	case syscall.SIGWINCH:
		r.size()
	case syscall.SIGCONT:
		// Whatever had stopped it, somebody else may have had the terminal. That of a stop of its own
		// may be heard late, when it has taken the terminal again.
		switch is, err := tty.Get(0); {
		case !tty.Foreground(0):
			r.backBy = time.Now().Add(stopping) // who continued it may have told it to leave before
		case err != nil || is != r.was.Raw() || time.Since(r.resumed) > stopping:
			r.resume()
		}
	case syscall.SIGTSTP:
		if !r.asked { // else one answer would be taken for two, or two for one
			r.sent = wire.Append(r.sent, wire.Stop, nil)
		}
		r.asked, r.stopBy = true, time.Now().Add(goodbye)
	case syscall.SIGPIPE:
	default:
		if r.code != 0 { // it means it
			return r.end(128+int(sig), ""), true
		}
		r.leave(sig)
	}
	return 0, false
}

// leave tells the host that the human is gone, and waits a moment for its goodbye.
func (r *relay) leave(sig syscall.Signal) {
	r.code = 128 + int(sig)
	r.sent = wire.Append(r.sent, wire.Leave, wire.Fields{wire.Signal + "=" + strconv.Itoa(int(sig))}.Bytes())
	r.leaveBy = time.Now().Add(goodbye)
}

// halt does what a [wire.Halt] says, unless that answers so late that the stop is over: then the terminal is the screen's
// again, or is about to be.
func (r *relay) halt() {
	late := r.asked && r.stopBy.IsZero()
	r.asked, r.stopBy = false, time.Time{}
	switch {
	case !late:
		r.stop()
	case r.backBy.IsZero():
		r.back(nil)
	}
}

// stop gives the terminal back and stops, as a program does that is told to by Ctrl+Z: with all
// processes of its group, or the shell would not notice. It goes on when it is continued, or soon
// where the kernel stops nobody because no shell would continue it.
func (r *relay) stop() {
	r.release(r.patience())
	r.undo, r.backBy = stops(), time.Now().Add(stopping)
	stopGroup()
}

// resume takes the terminal again after a stop. In the background that stops it once more; one that
// leaves needs no terminal for it.
func (r *relay) resume() {
	r.backBy = time.Time{}
	if r.undo != nil {
		r.undo()
		r.undo, r.resumed = nil, time.Now()
	}
	if r.code == 0 && r.take() == nil {
		r.back(nil)
	}
}

// patience is how long the terminal may take for what is done last: no time at all if it has had
// that before.
func (r *relay) patience() time.Time {
	if r.stuck {
		return time.Now()
	}
	return time.Now().Add(goodbye)
}

// end gives the terminal back, says something and returns the code.
func (r *relay) end(code int, say string) int {
	by := r.patience()
	signal.Ignore(syscall.SIGTTOU) // its last words come from the background too
	defer signal.Reset(syscall.SIGTTOU)
	r.drop()
	r.release(by)
	if say != "" {
		_ = tty.Say(2, say, time.Until(by)) // not os.Stderr: a host in this process sets that aside
	}
	return code
}

// flush writes as much as fd takes now, and returns the rest. What fails to be written is gone
// with its reader, which is noticed elsewhere.
func flush(fd int, b []byte) []byte {
	n, err := syscall.Write(fd, b)
	if err != nil && !again(err) {
		return b[:0]
	}
	if n = max(n, 0); n == len(b) {
		return b[:0]
	}
	return b[n:]
}

// again reports whether a read or write is to be tried again.
func again(err error) bool { return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) }
