package acptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// sessions are those of an agent, each the updates that a load replays.
type sessions struct {
	dir string // "": in memory
	mu  sync.Mutex
	of  map[string][]json.RawMessage
}

// begin begins a session.
func (s *sessions) begin() (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.of) + 1; ; n++ {
		id = fmt.Sprint("s", n)
		if s.dir == "" {
			break
		}
		f, err := os.OpenFile(filepath.Join(s.dir, id), os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue // another program's
		}
		if err = errors.Join(err, f.Close()); err != nil {
			panic(err)
		}
		break
	}
	s.of[id] = nil
	return id
}

// open returns a session's updates; false: there is none of that name.
func (s *sessions) open(id string) ([]json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, known := s.of[id]
	if known || s.dir == "" {
		return lines, known
	}
	lines, err := Session(s.dir, id)
	if err == nil {
		s.of[id] = lines
	}
	return lines, err == nil
}

// note keeps an update.
func (s *sessions) note(id string, update json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[id] = append(s.of[id], update)
	if s.dir == "" {
		return
	}
	var line bytes.Buffer
	if json.Compact(&line, update) != nil {
		return // it is no JSON, as the test wants it
	}
	line.WriteByte('\n')
	f, err := os.OpenFile(filepath.Join(s.dir, id), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.Write(line.Bytes())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// Session returns what was said in a session that is kept in a directory. A line that its program did not end is none.
func Session(dir, id string) (updates []json.RawMessage, err error) {
	text, err := os.ReadFile(filepath.Join(dir, id))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		if line[len(line)-1] == '\n' && json.Valid(line) {
			updates = append(updates, bytes.TrimSpace(line))
		}
	}
	return updates, nil
}
