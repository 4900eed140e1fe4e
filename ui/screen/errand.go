package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"fantail/ui/screen/tty"
	"fantail/ui/screen/wire"
)

// Errands returns the sub-commands that a living host is asked to carry out. Only the host knows their arguments.
func Errands() []string {
	return []string{"send", "push", "inbox", "check", "queue", "agents", "show", "memory", "schedule", "audit", "ls", "host"}
}

// patience is how long a host may take for each step of an errand, and standard input to end, before the process does
// the errand itself. Most steps take no longer than a moment.
const (
	patience = time.Second
	moment   = 30 * time.Millisecond
)

// Zone returns this process's time zone as an errand carries it.
func Zone() string { return time.Now().Format("-0700 MST") }

// hand has the workspace's host carry out the errand of the command line, and returns its exit code. It returns false
// if the process must do it itself; then nothing has been done or printed.
func hand(args []string) (code int, done bool) {
	if len(args) == 0 || !slices.Contains(Errands(), args[0]) {
		return 0, false
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, false
	}
	_, socket, err := whereOf(dir)
	if err != nil {
		return 0, false
	}
	fd, err := connect(socket, patience)
	if err != nil {
		return 0, false
	}
	e := &errand{host: host(fd), patience: patience, vowed: startsWithin}
	defer e.host.Close()
	f := Shell(args, dir)
	f.Add(wire.Do, wire.Errand)
	f.Add(wire.Zone, Zone())
	for n, name := range []string{wire.Typed, wire.Plain} { // which a size tells, as everywhere
		if _, _, err := tty.Size(n); err == nil {
			f.Add(name, "yes")
		}
	}
	body := f.Bytes()
	if len(body) > wire.MaxHello {
		return 0, false
	}
	if _, err = e.host.Write(wire.Append([]byte(wire.Magic), wire.Ask, body)); err == nil {
		err = wait(fd, syscall.SO_RCVTIMEO, moment)
	}
	if err == nil {
		code, done = e.run()
	}
	if !done {
		e.deafen()
		e.input.back()
	}
	return code, done
}

// errand is one that a host carries out.
type errand struct {
	host     host
	patience time.Duration // with the host
	vowed    time.Duration // the patience with a host that changes something
	waits    bool          // longer than a moment
	signals  chan os.Signal
	input    input
	lost     wire.Fields // what to do if the host is lost; nil: nothing has been changed yet
	page     []piece
}

// heed makes the process exit with a code on the signals that people and shells send, as it does later. Setting that
// up takes longer than most errands do; during those a signal has its default action.
func (e *errand) heed() {
	if e.signals != nil {
		return
	}
	e.signals = make(chan os.Signal, 4)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(e.signals, sig)
		}
	}
	go func(signals <-chan os.Signal) {
		for sig := range signals {
			os.Exit(128 + int(sig.(syscall.Signal)))
		}
	}(e.signals)
}

func (e *errand) deafen() {
	if e.signals != nil {
		signal.Stop(e.signals)
		close(e.signals)
	}
}

// Read reads what the host says.
func (e *errand) Read(p []byte) (int, error) {
	n, err := e.host.Read(p)
	if err != syscall.EAGAIN || e.waits {
		return n, err
	}
	e.waits = true
	e.heed()
	if err := wait(int(e.host), syscall.SO_RCVTIMEO, e.patience); err != nil {
		return 0, err
	}
	return e.host.Read(p)
}

// piece is a part of what it prints.
type piece struct {
	kind wire.Kind
	text []byte
}

// run answers the host until it has carried out the errand. It prints nothing before all of the output has come.
func (e *errand) run() (code int, done bool) {
	for {
		k, body, _, err := wire.Read(e, wire.MaxFrame, nil)
		if err != nil {
			return e.alone()
		}
		f := wire.FieldsOf(body)
		switch k {
		case wire.Paint, wire.Note:
			if n := len(e.page); n > 0 && e.page[n-1].kind == k {
				e.page[n-1].text = append(e.page[n-1].text, body...)
			} else {
				e.page = append(e.page, piece{k, body})
			}
		case wire.Bye:
			return e.print(f), true
		case wire.Answer:
			switch f.Get(wire.Wants) {
			case wire.Input:
				err = e.gives(f)
			case wire.Word:
				err = e.vows(f)
			default:
				return e.alone() // this host does not carry it out
			}
			if err != nil {
				return e.alone()
			}
		}
	}
}

// vows lets the host change something.
func (e *errand) vows(f wire.Fields) error {
	if _, err := e.host.Write(wire.Append(nil, wire.Keys, nil)); err != nil {
		return err
	}
	if e.lost = f; f.Get(wire.Say) == "" {
		return nil
	}
	e.patience = e.vowed // from now on only the host can do it
	if !e.waits {
		return nil
	}
	return wait(int(e.host), syscall.SO_RCVTIMEO, e.patience)
}

// alone goes on without the host: it reports the loss, or lets the process do the errand.
func (e *errand) alone() (code int, done bool) {
	if say := e.lost.Get(wire.Say); say != "" {
		fmt.Fprintf(os.Stderr, "fantail: %s\n", say)
		return 1, true
	}
	os.Args = slices.Concat(os.Args[:2], e.lost.All(wire.Arg), os.Args[2:])
	return 0, false
}

// print prints the errand's output and returns its exit code.
func (e *errand) print(bye wire.Fields) int {
	signal.Ignore(syscall.SIGPIPE) // an output without a reader is an error
	for _, p := range e.page {
		if p.kind == wire.Note {
			_, _ = os.Stderr.Write(p.text)
			continue
		}
		_, err := os.Stdout.Write(p.text)
		if err == nil {
			continue
		}
		if say := bye.Get(wire.Say); say != "" {
			fmt.Fprintf(os.Stderr, "fantail: %s\n", say)
		}
		if errors.Is(err, syscall.EPIPE) {
			return number(bye.Get(wire.Unread))
		}
		fmt.Fprintf(os.Stderr, "fantail: write the output: %v\n", err)
		return 1
	}
	return number(bye.Get(wire.Code))
}

// number returns an exit code; 1 if it can't be read.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}

// errSlow is the error if standard input does not end soon.
var errSlow = errors.New("standard input goes on")

// gives sends the host the standard input, which has to end soon.
func (e *errand) gives(f wire.Fields) error {
	most, err := strconv.Atoi(f.Get(wire.Most))
	if err != nil || tty.Is(0) {
		return errSlow
	}
	text, err := e.input.read(most, e.heed)
	if errors.Is(err, errSlow) {
		return err
	}
	var b []byte
	for rest := text; len(rest) > 0; {
		piece := rest[:min(len(rest), wire.MaxFrame)]
		b, rest = wire.Append(b, wire.Keys, piece), rest[len(piece):]
	}
	if err != nil {
		b = wire.Append(b, wire.Back, wire.Fields{wire.Say + "=" + err.Error()}.Bytes())
	} else {
		b = wire.Append(b, wire.Keys, nil)
	}
	_, err = e.host.Write(b)
	return err
}

// input is the part of standard input that has been read.
type input struct {
	text []byte
	err  error      // io.EOF at its end; nil: it goes on
	more chan chunk // the rest arrives here; nil: it is not being read
}

// chunk is some of it.
type chunk struct {
	text []byte
	err  error
}

// read reads to the end, or that many bytes. It returns errSlow if they do not come soon, and calls slow before that.
func (i *input) read(most int, slow func()) ([]byte, error) {
	i.more = make(chan chunk)
	in := os.Stdin // it becomes another one if this takes long
	go func() {
		for {
			b := make([]byte, 64<<10)
			n, err := in.Read(b)
			i.more <- chunk{b[:n], err}
			if err != nil {
				return
			}
		}
	}()
	late := time.NewTimer(moment)
	defer late.Stop()
	for waits := false; i.err == nil && len(i.text) < most; {
		select {
		case c := <-i.more:
			i.text, i.err = append(i.text, c.text...), c.err
		case <-late.C:
			if waits {
				return nil, errSlow
			}
			waits = true
			slow()
			late.Reset(patience)
		}
	}
	if i.err != nil && !errors.Is(i.err, io.EOF) {
		return nil, i.err
	}
	return i.text[:min(len(i.text), most)], nil
}

// back puts what was read back at the beginning of standard input.
func (i *input) back() {
	if i.more == nil {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		i.fails(err)
	}
	os.Stdin = r
	go func() {
		defer w.Close()
		for c := (chunk{i.text, i.err}); ; c = <-i.more {
			if _, err := w.Write(c.text); err != nil || errors.Is(c.err, io.EOF) {
				return // no reader is left, or there is no more input
			}
			if c.err != nil {
				i.fails(c.err)
			}
		}
	}()
}

// fails ends the process because its input can't be put back.
func (i *input) fails(err error) {
	fmt.Fprintf(os.Stderr, "fantail: read standard input: %v\n", err)
	os.Exit(1)
}

// host is a connection to a host. A step that takes too long returns an error.
type host int

func (h host) Read(p []byte) (n int, err error) {
	for err = syscall.EINTR; err == syscall.EINTR; {
		n, err = syscall.Read(int(h), p)
	}
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (h host) Write(p []byte) (n int, err error) {
	for n < len(p) && (err == nil || err == syscall.EINTR) {
		var wrote int
		if wrote, err = syscall.Write(int(h), p[n:]); wrote > 0 {
			n += wrote
		}
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// Close implements [io.Closer].
func (h host) Close() error { return syscall.Close(int(h)) }
