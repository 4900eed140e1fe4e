package store

import (
	"database/sql"
	"fmt"
	"time"
)

// Memory is one version of a document of the workspace. All versions are kept.
type Memory struct {
	Name, Part string // Part "": the document with only that name
	Version    int    // from 1 on
	Text       string // "": it was removed
	Size       int    // bytes of the text
	Agent      int64  // its author; 0: the human
	By         string // that agent's name now; "": the human
	Created    time.Time
}

const (
	memoryColumns = `m.name, m.part, m.version, m.size, ifnull(m.agent, 0), ifnull(a.name, ''), m.created_at`
	memoryRows    = `memories m LEFT JOIN agents a ON a.id = m.agent`
)

// scanMemory reads memoryColumns, and the text after them if there is one.
func scanMemory(s scanner, text ...any) (m Memory, err error) {
	var created sql.NullInt64
	err = s.Scan(append([]any{&m.Name, &m.Part, &m.Version, &m.Size, &m.Agent, &m.By, &created}, text...)...)
	m.Created = moment(created)
	return m, err
}

func scanBrief(s scanner) (Memory, error) { return scanMemory(s) }

func scanWhole(s scanner) (m Memory, err error) {
	var text string
	m, err = scanMemory(s, &text)
	m.Text = text
	return m, err
}

// Remember adds the next version of a document and returns its number. It ignores Version, Size, By and Created.
func (tx *Tx) Remember(m Memory) (version int, err error) {
	err = tx.QueryRow(`INSERT INTO memories (name, part, version, text, size, agent, created_at)
		VALUES (?1, ?2, (SELECT ifnull(max(version), 0) + 1 FROM memories WHERE name = ?1 AND part = ?2), ?3, ?4, ?5, ?6)
		RETURNING version`, m.Name, m.Part, m.Text, len(m.Text), null(m.Agent), stamp(tx.Now())).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("keep memory document %s: %w", m.Name, err)
	}
	return version, nil
}

// Memory returns one version of a document, 0 for the newest, with its text.
func (v *View) Memory(name, part string, version int) (Memory, bool, error) {
	m, ok, err := first(v, scanWhole, `SELECT `+memoryColumns+`, m.text FROM `+memoryRows+`
		WHERE m.name = ?1 AND m.part = ?2 AND (?3 = 0 OR m.version = ?3) ORDER BY m.version DESC LIMIT 1`, name, part, version)
	if err != nil {
		return m, false, fmt.Errorf("read memory document %s: %w", name, err)
	}
	return m, ok, nil
}

// Memories returns the newest version of each document with that name, or of all ("") documents, except removed ones,
// by name and part, without their texts.
func (v *View) Memories(name string) ([]Memory, error) {
	ms, err := all(v, scanBrief, `SELECT `+memoryColumns+` FROM (
			SELECT name, part, max(version) AS version FROM memories WHERE ?1 = '' OR name = ?1 GROUP BY name, part
		) newest JOIN memories m USING (name, part, version) LEFT JOIN agents a ON a.id = m.agent
		WHERE m.size > 0 ORDER BY m.name, m.part`, name)
	if err != nil {
		return nil, fmt.Errorf("list memory documents: %w", err)
	}
	return ms, nil
}

// MemoryLog returns the newest `limit` versions of a document, newest first,
// without their texts.
func (v *View) MemoryLog(name, part string, limit int) ([]Memory, error) {
	ms, err := all(v, scanBrief, `SELECT `+memoryColumns+` FROM `+memoryRows+`
		WHERE m.name = ? AND m.part = ? ORDER BY m.version DESC LIMIT ?`, name, part, limit)
	if err != nil {
		return nil, fmt.Errorf("read the history of memory document %s: %w", name, err)
	}
	return ms, nil
}
