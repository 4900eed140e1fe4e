package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// Lines reads the messages of a served program from its standard output, one on each line. One goroutine reads.
type Lines struct {
	r     *bufio.Reader
	limit int
	half  atomic.Bool
}

// NewLines reads lines of at most limit bytes from r.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line with its end; the caller owns it. The text after the last end comes with [io.EOF], or with
// the error that ended the output. A line that exceeds the limit is an error at once: it may have no end.
func (l *Lines) Next() (line []byte, err error) {
	for {
		if _, err := l.r.Peek(1); err != nil {
			return line, err
		}
		part, _ := l.r.Peek(l.r.Buffered())
		n := bytes.IndexByte(part, '\n')
		if n >= 0 {
			part = part[:n+1]
		}
		if len(line)+len(part) > l.limit {
			return nil, fmt.Errorf("it wrote a message of more than %d MiB", l.limit>>20)
		}
		line = append(line, part...)
		_, _ = l.r.Discard(len(part))
		l.half.Store(n < 0)
		if n >= 0 {
			return line, nil
		}
	}
}

// Half reports whether the program has begun a line and not ended it. It is safe for concurrent use.
func (l *Lines) Half() bool { return l.half.Load() }

// longLine is the longest error line, in bytes: longer ones are a program's own text.
const longLine = 1000

// errorLine matches a line in which a program reports an error, as Node, Python, Go, Rust and others write it.
var errorLine = regexp.MustCompile(`\w*(Error|Exception)( \[\w+\])?:|^(error|ERROR|fatal|FATAL|panic|fatal error)(\[\w+\])?: |panicked at `)

// says reports whether a line reports an error.
func says(line string) bool { return len(line) <= longLine && errorLine.MatchString(line) }

// LastLines returns the last n lines of a program's output that are not blank. After a long trace of calls these don't
// hold the error: then the first line that does comes before them.
func LastLines(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	from := max(len(lines)-n, 0)
	if i := slices.IndexFunc(lines, says); i >= 0 && i < from {
		return append([]string{lines[i]}, lines[from:]...)
	}
	return lines[from:]
}
