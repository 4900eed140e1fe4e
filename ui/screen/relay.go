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
	"fantail/ui/screen/watchdog"
	"fantail/ui/screen/wire"
)

// relay carries bytes between the terminal and a host. One goroutine does all of it, and waits for neither side: what
// one side does not take yet stays here, and the other is not read while too much is waiting.
type relay struct {
	host     int                // the connection
	in, out  int                // the terminal, for reading and for writing
	was      tty.Modes          // as they were found
	watchdog *watchdog.Watchdog // restores the terminal if this process can't, nor the host
	signals  chan os.Signal
	wake     int // readable once a signal came; its bytes are the signals' numbers
	poll     *poll

	sent  []byte // for the host
	shown []byte // for the terminal
	came  []byte // from the host: incomplete frames, or frames that must wait for earlier ones
	gone  bool   // the host sends no more
	greet bool   // the host has answered
	met   bool   // and shows a screen
	asked bool   // the host was asked to have it stop, and has not answered
	full  bool   // the terminal shows a full screen, once it has taken all of shown
	front bool   // of that only the alternate screen
	began bool   // it took all or part of what enters the full screen, and not all that was shown since
	stuck bool   // the terminal did not take its bytes in time
	ended End

	lives   <-chan bool   // reports whether the host lives; nil: it was not asked
	livesIn time.Duration // how long it may take to answer that
	hung    bool          // it does not, and the screen says so

	code    int       // to exit with, once a signal asked to leave
	leaveBy time.Time // when to leave without the host's goodbye; zero: not at all
	stopBy  time.Time // when to stop without the host's word for it
	drainBy time.Time // when to drop what the terminal does not take
	greetBy time.Time
	watchBy time.Time   // when to start the watchdog
	askBy   time.Time   // when to ask the host whether it lives, or to check for the answer
	lookBy  time.Time   // when to look for a host that is not read
	backBy  time.Time   // when to take the terminal again after a stop, if nothing else happens first
	resumed time.Time   // when it last went on after a stop of its own
	undo    func()      // restores the handling of SIGTSTP after a stop; nil: no stop is under way
	given   atomic.Bool // a program has the terminal
}

// How long each wait lasts, and how many bytes are buffered.
const (
	goodbye  = 300 * time.Millisecond // for the host to restore the terminal, or for the terminal to take those bytes
	greeting = 10 * time.Second
	stopping = 100 * time.Millisecond // for the kernel to stop this process
	picture  = 50 * time.Millisecond  // for the first picture, once the host has answered
	looking  = 100 * time.Millisecond // between checks whether a host that is not read is still there
	most     = 256 << 10              // bytes for one end while the other end is read
)

// lost is the message for a host that ends without a goodbye.
const lost = "fantail: its host was killed or failed; messages and transcripts are on disk, start fantail again to go on\n"

// hung says what to do with a host that does not answer.
const hung = "fantail host status says more, fantail host stop --now ends it\n"

// What only the watchdog can say, without a host: when this process was killed, and later to a shell that has taken
// the screen's modes for its own.
const (
	killed  = "fantail: the program was killed or failed; messages and transcripts are on disk, start fantail again to go on"
	adopted = "fantail: this shell has kept the modes of the screen that was killed; stty sane gives it its own"
)

// protect tells the watchdog, which it starts if need be, to restore the terminal if this process dies and the host
// with that number does not do it. Without a watchdog the shell does what it can.
func protect(dog *watchdog.Watchdog, host int, was, raw tty.Modes) {
	t := watchdog.Terminal{Host: host, Was: was.Stty(), Raw: raw.Stty(), Undo: tty.Undo + "\r" + killed}
	if was.Lines() {
		t.Advice = "\r" + adopted
	}
	if dog.Start(0) == nil {
		dog.Restores(t)
	}
}

// End is how a relay ended.
type End int

// The ends: for good, because the host sends its screens to the next host, or before the host had said anything.
const (
	Over End = iota
	Next
	Silent
)

// Relay shows a host on the terminal, descriptors 0 and 1, until one of them ends it, and returns the exit code. It
// closes host.
func Relay(host int, hello wire.Fields) (code int, end End) { return relayed(host, hello, found()) }

// relayed is Relay on a terminal that may show a front.
func relayed(host int, hello wire.Fields, at *front) (code int, end End) {
	defer syscall.Close(host)
	r := &relay{host: host, out: 1, in: 0, was: at.was, watchdog: &at.watchdog, livesIn: livesIn, greetBy: time.Now().Add(greeting)}
	_, err := tty.Get(0)
	if err == nil {
		err = r.introduce(hello) // first: while the host reads it, the signals are set, each by way of another thread
	}
	if err == nil {
		defer r.watchdog.Leave()
		if r.alone() { // it waits for more than that anyway
			r.protect()
		}
		err = r.listen()
		defer r.deafen()
	}
	if err == nil && columns(1) != hello.Get(wire.Columns) { // it changed before the signals were set
		r.size()
	}
	if err == nil {
		r.poll, err = newPoll()
	}
	if err == nil {
		defer r.poll.close()
	}
	r.front = at.hand() // even after an error: it is restored below
	r.full = r.front
	if err == nil {
		err = r.take()
	}
	if err != nil && r.full {
		r.release(r.patience())
	}
	if errors.Is(err, syscall.EPIPE) { // it ended, or accepts no more screens
		return 1, Silent
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fantail: show the host: %v\n", err)
		return 1, Over
	}
	// A descriptor that select reports as ready may belong to the shell by the time it is read: after a stop.
	for fd, own := range []*int{&r.in, &r.out} {
		if again, err := tty.Reopen(fd); err == nil {
			*own = again
			defer syscall.Close(again)
		}
	}
	// The start gate's goroutine is locked to its thread; on that one, the runtime's poller would have to hand over
	// each key.
	done := make(chan int)
	go func() { done <- r.guarded() }()
	code = <-done
	at.met = at.met || r.met
	return r.how(code)
}

// how returns the exit code and how the relay ended.
func (r *relay) how(code int) (int, End) {
	switch {
	case r.code != 0:
		return code, Over // the signal was meant for this process
	case !r.greet && r.gone: // a host that is there and does not answer would not answer the next time either
		return code, Silent
	}
	return code, r.ended
}

// listen makes signals wake the relay.
func (r *relay) listen() error {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return err
	}
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	r.wake, r.signals = ends[0], make(chan os.Signal, 16)
	for _, sig := range leaving {
		if !signal.Ignored(sig) { // nohup ignores signals on purpose
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

// deafen undoes listen.
func (r *relay) deafen() {
	if r.signals == nil {
		return
	}
	signal.Stop(r.signals)
	close(r.signals)
	_ = syscall.Close(r.wake)
}

// leaving are the signals after which the screen leaves. Signals of faults are listed for when another process sends
// them; after a fault of this process itself the host cleans up.
var leaving = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSYS, syscall.SIGTRAP,
}

// introduce sends the hello and, with its first bytes, the terminal. Bytes that the host does not take now are sent
// later.
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
func (r *relay) take() error {
	if r.watchdog.PID() != 0 || r.greet {
		r.protect()
	}
	return r.was.Raw().Set(0)
}

// protect has the terminal restored if this process is killed and the host can't restore it. Starting the watchdog
// takes a while, which does not delay the first picture.
func (r *relay) protect() {
	host, _, _ := peer(r.host)
	protect(r.watchdog, host, r.was, r.was.Raw())
}

// alone reports whether the host is this process.
func (r *relay) alone() bool {
	pid, _, err := peer(r.host)
	return err == nil && pid == os.Getpid()
}

// release restores the terminal, at the latest by the given time. It first undoes what a full screen has set, if the
// host did not. In the background another job has the terminal already: if that is the shell, it has set its modes,
// and release undoes only what it can't know of; any other job's terminal is left alone.
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
	r.watchdog.Restored()
}

// shell returns the process group of the process that started this one; -1 if it has ended.
func shell() int {
	group, err := syscall.Getpgid(os.Getppid())
	if err != nil {
		return -1
	}
	return group
}

// back sends a [wire.Back] frame after the terminal's size, since both may have changed.
func (r *relay) back(f wire.Fields) {
	r.size()
	r.sent = wire.Append(r.sent, wire.Back, f.Bytes())
}

func (r *relay) size() {
	if w, h, err := tty.Size(0); err == nil {
		r.sent = wire.AppendSize(r.sent, w, h)
	}
}

// guarded is run with a guarantee that a panic leaves a usable terminal: its message is printed on a restored one.
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

// run runs the loop and returns the exit code.
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

// wait waits until something can be done, or until the next deadline.
func (r *relay) wait() (ready, error) {
	signal, host, in, out := want{fd: r.wake, in: true}, want{fd: r.host}, want{fd: r.in}, want{fd: r.out}
	// An incomplete frame is read to its end, however long it is; a frame that must wait for earlier output is not.
	switch {
	case r.gone || !r.drainBy.IsZero():
	case len(r.shown) < most:
		host.in = true
		r.lookBy = time.Time{}
	case r.lookBy.IsZero():
		r.lookBy = time.Now().Add(looking)
	}
	// The terminal holds what is typed until the host has answered: if it never does, the next host gets it.
	in.in = r.greet && len(r.sent) < most && r.code == 0 && r.backBy.IsZero()
	host.out = len(r.sent) > 0 && !r.gone
	out.out = len(r.shown) > 0 && tty.Foreground(0) // in the background another job has the terminal
	wants := []want{signal, host, in, out}
	if err := r.poll.wait(wants, r.next()); err != nil {
		return ready{}, err
	}
	return ready{wants[0].in, wants[1].in, wants[2].in, wants[1].out, wants[3].out}, nil
}

// want is the events to wait for on a descriptor.
type want struct {
	fd      int
	in, out bool // that it can be read, or written to
}

// next is until when to wait at most; zero: for ever.
func (r *relay) next() time.Time {
	var first time.Time
	for _, t := range []time.Time{r.leaveBy, r.stopBy, r.drainBy, r.greetBy, r.watchBy, r.backBy, r.askBy, r.lookBy} {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// late acts on deadlines that have passed.
func (r *relay) late(now time.Time) (code int, done bool) {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case due(r.leaveBy):
		r.stuck = len(r.shown) > 0
		if r.hung {
			return r.end(r.code, "fantail: "+r.silence()+"; "+hung), true
		}
		return r.end(r.code, ""), true
	case due(r.greetBy):
		return r.end(1, "fantail: "+r.silence()+"; "+hung), true
	case due(r.watchBy):
		r.watchBy = time.Time{}
		if r.undo == nil { // otherwise another job has the terminal: taking it again starts the watchdog
			r.protect()
		}
	case due(r.stopBy):
		r.stopBy = time.Time{}
		r.drop()
		r.stop()
	case due(r.drainBy):
		r.drop()
		r.stuck = true
	case due(r.backBy):
		r.resume()
	case due(r.askBy):
		r.ask(now)
	}
	return 0, false
}

// hear reads what the host sends.
func (r *relay) hear(buf []byte) {
	n, err := syscall.Read(r.host, buf)
	if n > 0 {
		r.came = append(r.came, buf[:n]...)
		r.answered()
	}
	if n == 0 || err != nil && !again(err) {
		r.gone = true
	}
}

// look reads the last bytes of a host that is gone. The relay does not notice that while it does not read the host.
func (r *relay) look() {
	r.lookBy = time.Time{}
	if !hungUp(r.host) {
		return
	}
	for buf := make([]byte, 64<<10); !r.gone; {
		r.hear(buf)
	}
}

// key reads what the terminal sends. It returns false once there is no terminal.
func (r *relay) key(buf []byte) bool {
	n, err := syscall.Read(r.in, buf)
	if n > 0 && r.hung && interrupts(buf[:n]) {
		r.leave(syscall.SIGINT)
		return true
	}
	if n > 0 {
		r.sent = wire.Append(r.sent, wire.Keys, buf[:n])
		if r.askBy.IsZero() {
			r.askBy = time.Now().Add(unanswered)
		}
	}
	return n > 0 || err != nil && again(err)
}

// frames carries out the host's frames in order: what a frame paints is on the terminal before the next frame acts on
// it.
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
		if !r.greet && r.watchdog.PID() == 0 {
			r.watchBy = time.Now().Add(picture)
		}
		r.greet, r.greetBy = true, time.Time{}
		r.met = r.met || k == wire.Welcome
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

// paint queues b for the terminal, and notes whether the terminal shows a full screen after it.
func (r *relay) paint(b []byte) {
	if len(r.shown) == 0 {
		r.began = r.full
	}
	r.shown = append(r.shown, b...)
	if in, out := bytes.LastIndex(b, []byte(enters)), bytes.LastIndex(b, []byte(leaves)); in != out {
		r.full, r.front = in > out, false
	}
}

// took notes that the terminal took all of shown but rest.
func (r *relay) took(rest []byte) {
	n := len(r.shown) - len(rest)
	r.began = r.began || bytes.Contains(r.shown[:min(n+len(enters)-1, len(r.shown))], []byte(enters))
	r.shown, r.stuck = rest, false
}

// drop discards what the terminal has not taken. The bytes that undo a full screen may be among it, in whole or in
// part.
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

// signal handles a signal.
func (r *relay) signal(sig syscall.Signal) (code int, done bool) {
	switch sig {
	case syscall.SIGWINCH:
		r.size()
	case syscall.SIGCONT:
		// Whatever stopped this process, another job may have had the terminal. The signal of a stop of its own may
		// arrive late, when it has taken the terminal again.
		switch is, err := tty.Get(0); {
		case !tty.Foreground(0):
			r.backBy = time.Now().Add(stopping) // the process that continued it may have told it to leave before
		case err != nil || is != r.was.Raw() || time.Since(r.resumed) > stopping:
			r.resume()
		}
	case syscall.SIGTSTP:
		if !r.asked { // otherwise one answer would be taken for two, or two for one
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

// halt carries out a [wire.Halt]. If the frame comes so late that the stop is over, the screen keeps the terminal.
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

// stop restores the terminal and stops all processes of its group, as a program does on Ctrl+Z; otherwise the shell
// would not notice. It goes on when it is continued, or soon if the kernel stops no process because no shell would
// continue it.
func (r *relay) stop() {
	r.release(r.patience())
	r.undo, r.backBy = stops(), time.Now().Add(stopping)
	stopGroup()
}

// resume takes the terminal again after a stop. In the background that stops the process once more. A process that is
// leaving needs no terminal.
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

// patience returns the deadline for the terminal to take the last bytes: now, if it failed to take bytes in time
// before.
func (r *relay) patience() time.Time {
	if r.stuck {
		return time.Now()
	}
	return time.Now().Add(goodbye)
}

// end restores the terminal, prints say and returns the code.
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

// flush writes as much as fd takes now, and returns the rest. It drops bytes that fail to be written: their reader is
// gone, which is noticed elsewhere.
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
