package proc

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"fantail/tools/secret"
)

const (
	fileCap  = 1 << 30 // the default of Spec.FileCap
	tickTail = 4 << 10 // bytes of output a tick carries
	tickGap  = 100 * time.Millisecond
)

// sink takes a command's output: the file gets all of it up to the cap, memory its head and tail.
type sink struct {
	path string
	file *os.File
	left int64 // bytes the file may still grow
	kept int64 // bytes in the file
	err  error // the first failure to write the file
	keys *secret.Stream

	mu   sync.Mutex
	head []byte
	hcap int    // size of head
	ring []byte // the last bytes, written round and round
	tcap int    // how much of it the result shows; the ticks may need more
	size int64

	fresh   chan struct{} // a token when there is output that no tick has reported
	drained chan struct{} // closed when all output has been read
	ended   chan struct{} // closed when the ticking goroutine is gone
}

// newSink opens the output file and starts the goroutine that calls Tick.
func newSink(s Spec) (*sink, error) {
	k := &sink{
		path: s.Output, left: s.FileCap, keys: s.Keys.Stream(), hcap: max(s.Head, 0), tcap: max(s.Tail, 0),
		ring:  make([]byte, max(s.Tail, tickTail)),
		fresh: make(chan struct{}, 1), drained: make(chan struct{}), ended: make(chan struct{}),
	}
	if k.left <= 0 {
		k.left = fileCap
	}
	if s.Output != "" {
		f, err := os.OpenFile(s.Output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("create output file: %w", err)
		}
		k.file = f
	}
	if s.Tick == nil {
		close(k.ended)
		return k, nil
	}
	go func() {
		defer close(k.ended)
		k.tick(s.Tick)
	}()
	return k, nil
}

// tick reports the latest output and then rests, until the output has ended.
func (k *sink) tick(tell func(string)) {
	rest := time.NewTimer(tickGap)
	defer rest.Stop()
	for {
		select {
		case <-k.fresh:
		case <-k.drained:
			return
		}
		k.mu.Lock()
		b := string(aligned(k.tail(tickTail)))
		k.mu.Unlock()
		tell(b)
		rest.Reset(tickGap)
		select {
		case <-rest.C:
		case <-k.drained:
			return
		}
	}
}

// drain reads until the pipe ends or its deadline passes.
func (k *sink) drain(r *os.File) {
	defer close(k.drained)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			k.write(k.keys.Write(buf[:n]))
		}
		if err != nil {
			k.write(k.keys.End())
			return
		}
	}
}

// write adds b. If the file can't be written any more, write stops using it, but reading goes on: the command must
// never block on a full pipe.
func (k *sink) write(b []byte) {
	if len(b) == 0 {
		return
	}
	if k.file != nil && k.err == nil && k.left > 0 {
		p := b[:min(int64(len(b)), k.left)]
		n, err := k.file.Write(p)
		k.left -= int64(n)
		k.kept += int64(n)
		k.err = err
	}
	k.mu.Lock()
	k.size += int64(len(b))
	if n := min(k.hcap-len(k.head), len(b)); n > 0 {
		k.head = append(k.head, b[:n]...)
	}
	k.keep(b)
	k.mu.Unlock()
	select {
	case k.fresh <- struct{}{}:
	default:
	}
}

// keep puts b into the ring: byte i of the output is at i modulo its size.
func (k *sink) keep(b []byte) {
	b = b[max(0, len(b)-len(k.ring)):]
	at := (k.size - int64(len(b))) % int64(len(k.ring))
	n := copy(k.ring[at:], b)
	copy(k.ring, b[n:])
}

// tail returns the last n bytes of the output, or as many as there are or are kept.
func (k *sink) tail(n int) []byte {
	c := int64(len(k.ring))
	b := k.ring[:min(k.size, c)]
	if k.size > c {
		at := k.size % c
		b = append(append(make([]byte, 0, c), k.ring[at:]...), k.ring[:at]...)
	}
	return b[max(0, len(b)-n):]
}

// text returns the text of the result: the whole output, or its head, a note about the gap, and its tail. It is called
// once the output is drained.
func (k *sink) text() (text string, size int64, cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if rest := k.size - int64(len(k.head)); rest <= int64(k.tcap) {
		text = string(k.head) + string(k.tail(int(rest)))
		if k.err != nil {
			text += "\n[" + k.where() + "]\n"
		}
		return text, k.size, false
	}
	head, tail := whole(k.head), aligned(k.tail(k.tcap))
	note := fmt.Sprintf("[%d of %d bytes are left out here", k.size-int64(len(head))-int64(len(tail)), k.size)
	if k.file != nil {
		note += "; " + k.where()
	}
	if len(head) > 0 && head[len(head)-1] != '\n' {
		note = "\n" + note
	}
	return string(head) + note + "]\n" + string(tail), k.size, true
}

// where says which part of the output the file holds.
func (k *sink) where() string {
	switch {
	case k.err != nil:
		return fmt.Sprintf("only the first %d bytes could be written to %s: %v", k.kept, k.path, k.err)
	case k.size > k.kept:
		return fmt.Sprintf("the first %d bytes of the output are in %s, which may not grow larger", k.kept, k.path)
	}
	return "the whole output is in " + k.path
}

// close waits for the last tick and closes the file.
func (k *sink) close() {
	<-k.ended
	if k.file != nil {
		_ = k.file.Close()
	}
}

// whole returns b without a character cut at its end.
func whole(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// aligned returns b without a character cut at its start.
func aligned(b []byte) []byte {
	for i := 0; i < utf8.UTFMax && i < len(b); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
