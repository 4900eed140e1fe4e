package llmtest

import "context"

// hold is what replies of a name wait for.
type hold struct {
	came, gone chan struct{} // closed when the first waits, and when none does any more
}

func (s *Server) hold(name string) *hold {
	if s.holds == nil {
		s.holds = map[string]*hold{}
	}
	if s.holds[name] == nil {
		s.holds[name] = &hold{make(chan struct{}), make(chan struct{})}
	}
	return s.holds[name]
}

// Held is closed once a reply waits for that name.
func (s *Server) Held(name string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold(name).came
}

// Go lets go all replies that wait for that name, and those that will.
func (s *Server) Go(name string) { s.once(s.gone(name)) }

func (s *Server) gone(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold(name).gone
}

// once closes a channel unless that was done.
func (s *Server) once(c chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// waits waits until the name is let go; false means that the client left.
func (s *Server) waits(ctx context.Context, name string) bool {
	if name == "" {
		return true
	}
	s.mu.Lock()
	h := s.hold(name)
	s.mu.Unlock()
	s.once(h.came)
	select {
	case <-h.gone:
		return true
	case <-ctx.Done():
		return false
	}
}
