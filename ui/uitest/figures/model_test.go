package figures

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

const pace = 200.0 // tokens a second, of a fast model

// model serves replies of so many tokens of markdown.
type model struct {
	tokens int
	pace   float64 // tokens a second; 0: as fast as they are taken

	mu    *sync.Mutex
	asked int       // requests
	began time.Time // the latest reply
	ended time.Time // when the last byte of the latest that is over was written
}

// serve starts it, and is where.
func (m *model) serve(b testing.TB) string {
	b.Helper()
	m.mu = new(sync.Mutex)
	s := &llmtest.Server{Answer: m.answer}
	base, stop, err := s.Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	return base
}

func (m *model) answer(llmtest.Request) llmtest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := llmtest.Lorem(m.tokens) + "\n\n" + m.mark()
	m.asked++
	m.began = time.Now()
	return llmtest.Reply{Parts: []llm.Part{llm.Text{Text: text}}, Pace: m.pace, Ended: func(error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ended = time.Now()
	}}
}

// mark is the end of the next reply.
func (m *model) mark() string { return fmt.Sprintf("END-OF-REPLY-%d.", m.asked+1) }

// ending is the last that the next reply says.
func (m *model) ending() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mark()
}

// start is when the latest reply began.
func (m *model) start() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began
}

// end is when the latest reply was over, which it is.
func (m *model) end() time.Time {
	for {
		m.mu.Lock()
		began, ended := m.began, m.ended
		m.mu.Unlock()
		if ended.After(began) {
			return ended
		}
		pause(time.Millisecond) // it was seen before the server knows
	}
}

// requests is how often it was asked.
func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}
