package host

import (
	"io"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"fantail/ui/screen"
)

// Startup reports to the process that started this host: it gets whatever is printed before the host serves. Later it
// tells the screens how the host ends.
type Startup struct {
	mu    sync.Mutex
	ready *os.File // nil: the report is done
	host  *Host
	said  []string
}

// NewStartup returns the startup of this process. It removes [screen.Hurry] from the environment that children
// inherit.
func NewStartup() *Startup {
	if hurries() {
		for _, kv := range strings.Fields(screen.Hurry) {
			name, _, _ := strings.Cut(kv, "=")
			_ = os.Unsetenv(name)
		}
	}
	return &Startup{ready: os.NewFile(screen.Ready, "ready")}
}

// hurries reports whether garbage is not collected yet.
func hurries() bool {
	for _, kv := range strings.Fields(screen.Hurry) {
		name, value, _ := strings.Cut(kv, "=")
		if os.Getenv(name) != value {
			return false
		}
	}
	return true
}

// gives is how long after the first picture the host gives back the memory that only the start needed.
const gives = 300 * time.Millisecond

// collect sets garbage collection back to normal, once there is a first picture.
func collect() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		time.AfterFunc(gives, func() {
			debug.FreeOSMemory()
			givePages()
		})
	}
}

// Serves reports that the workspace has a host now: h, or another process's if h is nil.
func (s *Startup) Serves(h *Host) { s.tell(screen.Serves, h) }

// Alone reports that no host can run here, but that the program itself may show the workspace.
func (s *Startup) Alone() { s.tell(screen.Alone, nil) }

func (s *Startup) tell(what string, h *Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil {
		return
	}
	_, _ = io.WriteString(s.ready, what)
	_ = s.ready.Close()
	s.ready, s.host = nil, h
}

// Write takes lines for people.
func (s *Startup) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return s.ready.Write(p)
	}
	for line := range strings.Lines(string(p)) {
		s.said = append(s.said, strings.TrimPrefix(strings.TrimSpace(line), "fantail: "))
	}
	return os.Stderr.Write(p)
}

// Exit ends the process. It sends the screens that are still there what was printed since the host serves.
func (s *Startup) Exit(code int) {
	s.mu.Lock()
	h, said := s.host, s.said
	s.mu.Unlock()
	if h != nil {
		h.farewell(code, said)
	}
	os.Exit(code)
}
