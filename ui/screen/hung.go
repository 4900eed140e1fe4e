package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"fantail/ui/screen/tty"
	"fantail/ui/screen/wire"
)

// unanswered is how long a host may stay silent after a key before it is asked whether it lives. livesIn is how long
// it may take to answer that. looks is how often the asking side checks for the answer.
const (
	unanswered = 3 * time.Second
	livesIn    = 5 * time.Second
	looks      = 250 * time.Millisecond
)

// answered notes that the host lives. If it had been reported as hung, it repaints over that report.
func (r *relay) answered() {
	r.askBy, r.lives = time.Time{}, nil
	if r.hung {
		r.hung = false
		r.back(nil)
	}
}

// ask asks the host whether it lives, and keeps asking a host that does not answer.
func (r *relay) ask(now time.Time) {
	r.askBy = now.Add(looks)
	if r.lives == nil {
		r.lives = lives(r.host, r.livesIn)
	}
	select {
	case is := <-r.lives:
		r.lives = nil
		if is {
			r.answered()
		} else if !r.hung && r.full && len(r.shown) == 0 {
			r.hung = true
			r.shown = append(r.shown, r.banner()...)
		}
	default:
	}
}

// lives reports whether the host at the other end of a connection answers a status request within that time. A host
// that has ended counts as living, since the connection reports its end; so does one that runs in this process.
func lives(host int, within time.Duration) <-chan bool {
	is := make(chan bool, 1)
	at, err := syscall.Getpeername(host)
	there, ok := at.(*syscall.SockaddrUnix)
	if err != nil || !ok || there.Name == "" {
		is <- true
		return is
	}
	go func() { is <- says(there.Name, within) }()
	return is
}

// says reports whether the host at that socket answers a status request.
func says(socket string, within time.Duration) bool {
	fd, err := connect(socket, within)
	if err != nil {
		return !errors.As(err, new(Refusal))
	}
	c := host(fd)
	defer c.Close()
	_, err = c.Write(wire.Append([]byte(wire.Magic), wire.Ask, wire.Fields{wire.Do + "=" + wire.Status}.Bytes()))
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, 1))
	}
	return !errors.Is(err, syscall.EAGAIN)
}

// silence describes a host that does not answer.
func (r *relay) silence() string {
	pid, _, _ := peer(r.host)
	return fmt.Sprintf("the workspace's host (process %d) does not answer", pid)
}

// banner says so in the first row, and how to leave.
func (r *relay) banner() string {
	text := r.silence() + " · Ctrl+C leave"
	if ascii() {
		text = r.silence() + "; Ctrl+C leave"
	}
	if w, _, err := tty.Size(1); err == nil {
		all := []rune(text)
		text = string(all[:min(len(all), w)])
	}
	return "\x1b7\x1b[?2026l\x1b[1;1H\x1b[0;7m" + text + "\x1b[m\x1b[K\x1b8"
}

// interrupts reports whether Ctrl+C is among the keys, in any form in which terminals send it.
func interrupts(keys []byte) bool {
	for _, form := range []string{"\x03", "\x1b[99;5u", "\x1b[27;5;99~"} {
		if bytes.Contains(keys, []byte(form)) {
			return true
		}
	}
	return false
}
