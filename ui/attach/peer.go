package attach

import (
	"errors"
	"net"

	"fantail/tools/proc"
)

// Peer is the process at the other end of a connection: the one that connected.
type Peer struct {
	PID, UID int
	Above    []int // the processes that started it, the nearest first
}

// ErrGone is the error for a peer that has ended. Its number identifies nothing: its children may go on with its
// connection, and another process may have got the number.
var ErrGone = errors.New("the process that connected has ended, so Fantail can't tell who started it")

// PeerOf identifies the process that connected. It was alive while its ancestors were looked up.
func PeerOf(conn *net.UnixConn) (p Peer, err error) {
	if p.PID, p.UID, err = credentials(conn); err != nil {
		return p, err
	}
	lives, done, err := watch(conn)
	if err != nil {
		return p, err
	}
	defer done()
	var ok bool
	if p.Above, ok = proc.Above(p.PID); !ok || !lives() {
		return p, ErrGone
	}
	return p, nil
}
