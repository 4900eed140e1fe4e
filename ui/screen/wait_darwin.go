package screen

import (
	"errors"
	"syscall"
	"time"
	"unsafe"
)

// poll waits for descriptors.
type poll struct{}

func newPoll() (*poll, error) { return &poll{}, nil }

func (*poll) close() error { return nil }

// wait waits for one of the wants, at most until the given time; zero: for ever. It leaves in them what is ready.
func (*poll) wait(wants []want, until time.Time) error {
	var in, out syscall.FdSet
	n := 0
	for _, w := range wants {
		if w.in {
			set(&in, w.fd)
		}
		if w.out {
			set(&out, w.fd)
		}
		n = max(n, w.fd+1)
	}
	var within *syscall.Timeval
	if !until.IsZero() {
		t := syscall.NsecToTimeval(max(0, time.Until(until).Nanoseconds()) + int64(time.Millisecond))
		within = &t
	}
	err := syscall.Select(n, &in, &out, nil, within)
	if err != nil {
		in, out = syscall.FdSet{}, syscall.FdSet{}
	}
	for i, w := range wants {
		wants[i].in, wants[i].out = isSet(&in, w.fd), isSet(&out, w.fd)
	}
	if errors.Is(err, syscall.EINTR) {
		return nil
	}
	return err
}

func set(s *syscall.FdSet, fd int) {
	bits := int(unsafe.Sizeof(s.Bits[0])) * 8
	s.Bits[fd/bits] |= 1 << (fd % bits)
}

func isSet(s *syscall.FdSet, fd int) bool {
	bits := int(unsafe.Sizeof(s.Bits[0])) * 8
	return s.Bits[fd/bits]&(1<<(fd%bits)) != 0
}
