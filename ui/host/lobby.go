package host

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
)

// How many there may be at once: far more than are needed, and few enough that a process that opens them without end
// exhausts neither the host's descriptors nor its memory.
const (
	maxSilent  = 512 // connections that have not said yet what they are: a screen speaks before a flood opens that many
	maxErrands = 64  // requests that are being answered
	maxScreens = 128
	maxReaders = 128 // programs that are attached to agents
)

var (
	errManyScreens = fmt.Errorf("%d screens are attached to this host, and it takes no more: leave one of them with Ctrl+C twice", maxScreens)
	errManyReaders = fmt.Errorf("%d programs are attached to agents of this host, and it takes no more: end one of them", maxReaders)
	errManyErrands = fmt.Errorf("this host is answering %d errands already: try again in a moment", maxErrands)
)

// lobby holds connections that have not said yet what they are. A new one always gets in: if the lobby is full, the
// oldest silent one is closed. A screen speaks as it connects, so it gets in among any number of silent connections.
// The lobby is safe for concurrent use.
type lobby struct {
	mu      sync.Mutex
	waiting []guest // the oldest first
}

// guest is a connection in the lobby.
type guest interface {
	Close() error
	spoke() bool // it has sent bytes that are still unread
}

// admit adds a connection, until leave is called. If the lobby is full, it closes the oldest silent one.
func (l *lobby) admit(g guest) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= maxSilent {
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
