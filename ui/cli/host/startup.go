package host

import (
	"io"
	"os"
	"strings"
	"sync"

	"fantail/ui/screen"
)

// Startup tells the process that started a host how it went: whatever is said before the host
// serves is said there. Later it tells the screens how the host ends.
type Startup struct {
	mu    sync.Mutex
	ready *os.File // nil: told
	host  *Host
	said  []string
}

// NewStartup returns the startup of this process.
func NewStartup() *Startup { return &Startup{ready: os.NewFile(screen.Ready, "ready")} }

// Serves tells that there is a host now: h, or another process's if h is nil.
func (s *Startup) Serves(h *Host) { s.tell(screen.Serves, h) }

// Alone tells that no host can be here, but that the program itself may show what there is.
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

// Exit ends the process. Screens that are still there are told what was said last.
func (s *Startup) Exit(code int) {
	s.mu.Lock()
	h, said := s.host, s.said
	s.mu.Unlock()
	if h != nil {
		h.farewell(code, said)
	}
	os.Exit(code)
}
