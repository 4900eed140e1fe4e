package host

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
)

// How many there may be at once. They are far more than anybody needs, and few enough that whoever opens them without end
// takes neither the host's descriptors nor its memory.
const (
	mostSilent  = 512 // connections that have not said yet what they are: a flood takes longer for so many than a screen to speak
	mostErrands = 64  // that are being answered
	mostScreens = 128
	mostReaders = 128 // programs that are attached to agents
)

var (
	errManyScreens = fmt.Errorf("%d screens are attached to this host, and it takes no more: leave one of them with Ctrl+C twice", mostScreens)
	errManyReaders = fmt.Errorf("%d programs are attached to agents of this host, and it takes no more: end one of them", mostReaders)
	errManyErrands = fmt.Errorf("this host is answering %d errands already: try again in a moment", mostErrands)
)

// lobby is where connections wait that have not said yet what they are. There is always room for one more: the one that
// has been silent for longest goes. A screen speaks as it connects, so it gets in between any number of those that do not.
// The lobby is safe for concurrent use.
type lobby struct {
	mu      sync.Mutex
	waiting []guest // the oldest first
}

// guest is a connection in the lobby.
type guest interface {
	Close() error
	spoke() bool // something it said is still to be read
}

// admit lets a connection wait until leave is called, and closes the one for which there is no room any more.
func (l *lobby) admit(g guest) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= mostSilent {
		i := max(0, slices.IndexFunc(l.waiting, func(g guest) bool { return !g.spoke() }))
		_ = l.waiting[i].Close()
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	l.waiting = append(l.waiting, g)
	return func() { l.leave(g) }
}

func (l *lobby) leave(g guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(x guest) bool { return x == g })
}

// caller is a connection as the lobby sees it.
type caller struct{ *net.UnixConn }

func (c caller) spoke() (spoke bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		spoke = err == nil && n > 0
	})
	return spoke && err == nil
}
