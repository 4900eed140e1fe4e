package screen

import (
	"syscall"
	"testing"
	"time"
)

// TestWait: only a wanted event ends a wait, also for an end that hung up; otherwise the deadline does.
func TestWait(t *testing.T) {
	p, err := newPoll()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair[0], pair[1]
	defer syscall.Close(ours)
	far := time.Now().Add(time.Minute)
	is := func(why string, w want, until time.Time, in, out bool) {
		t.Helper()
		wants := []want{w}
		if err := p.wait(wants, until); err != nil || wants[0] != (want{ours, in, out}) {
			t.Errorf("%s: %+v, %v", why, wants, err)
		}
	}
	is("nothing comes", want{ours, true, false}, time.Now().Add(time.Millisecond), false, false)
	is("the time is over", want{ours, true, false}, time.Now().Add(-time.Second), false, false)
	is("there is room", want{ours, true, true}, far, false, true)
	if _, err := syscall.Write(theirs, []byte("x")); err != nil {
		t.Fatal(err)
	}
	is("something is there", want{ours, true, false}, time.Time{}, true, false)
	is("it still is", want{ours, true, true}, time.Time{}, true, true)
	is("nobody wants it", want{ours, false, false}, time.Now().Add(time.Millisecond), false, false)
	buf := make([]byte, 1)
	if _, err := syscall.Read(ours, buf); err != nil {
		t.Fatal(err)
	}
	came := make(chan error)
	go func() {
		<-time.After(5 * time.Millisecond)
		_, err := syscall.Write(theirs, []byte("y"))
		came <- err
	}()
	is("something comes", want{ours, true, false}, far, true, false)
	if err := <-came; err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Read(ours, buf); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Close(theirs); err != nil {
		t.Fatal(err)
	}
	is("it hung up and nobody wants to know", want{ours, false, false}, time.Now().Add(time.Millisecond), false, false)
	is("it hung up", want{ours, true, false}, time.Time{}, true, false)
}
