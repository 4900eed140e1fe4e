package inbox

import (
	"fmt"
	"strings"
	"time"
)

// Document is a memory document, or a piece of one, as a model reads it.
type Document struct {
	Name    string // including its part: oauth/security
	By      string // its author; "": the user
	Version int
	Created time.Time
	Text    string
	From    int // the byte of the whole that Text begins at
}

// Piece is d from a byte on, at most limit bytes of it (0: no limit), with a line that says how to continue.
func (d Document) Piece(from, limit int) Document {
	d.Text, d.From = pieceOf(d.Text, from, limit, "memory action=read name="+d.Name)
	return d
}

// Document renders d as Envelope does a message.
func (r Rendering) Document(d Document) string {
	by, lines := attribute(d.By), ""
	switch {
	case d.By == "":
		by = "the user"
	case !word().MatchString(d.By):
		by, lines = "an agent", odd{from: d.By}.lines()
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<memory name="%s" by="%s" version="%d" age="%s"`, attribute(d.Name), by, d.Version, Age(r.Now.Sub(d.Created)))
	if d.From > 0 {
		fmt.Fprintf(&b, ` offset="%d"`, d.From)
	}
	return r.enclose("memory", b.String(), "a document, data", lines, d.Text)
}
