package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"fantail/store"
)

// Admit decides what happens if the files beside the database can't be written. An agent whose rows are copied to the
// file of lines is refused its call, with the reason; any other goes on, and the human is warned. If the database
// can't be written no call runs at all, because the request for it is recorded first.
func (l *Log) Admit(ctx context.Context, kind string) error {
	if l == nil {
		return nil
	}
	if err := l.Settle(ctx, kind); err != nil && l.copied(kind) {
		return fmt.Errorf("its calls must stand in the audit, and that can't be written: %w", err)
	}
	return nil
}

// copied reports whether the rows of agents of that kind are also written to the file of lines.
func (l *Log) copied(kind string) bool { return slices.Contains(l.o.Kinds, kind) }

// Settle brings the files beside the database up to date with the rows of an agent of that kind. If it can't, it
// returns an error, and warns the human too.
func (l *Log) Settle(ctx context.Context, kind string) error {
	if l == nil {
		return nil
	}
	err := l.head.trouble()
	l.warn(&l.ends, err)
	if !l.copied(kind) {
		return err
	}
	missing := l.lines.copy(ctx, l.o.DB, l.o.Kinds)
	l.warn(&l.copies, missing)
	return errors.Join(err, missing)
}

// warn tells the human news: that a file can't be written, or can be again. was is the last report.
func (l *Log) warn(was *error, err error) {
	l.mu.Lock()
	news := (*was == nil) != (err == nil)
	*was = err
	all := errors.Join(l.ends, l.copies)
	l.mu.Unlock()
	if news && l.o.Warn != nil {
		l.o.Warn(all)
	}
}

// lines is the file with the rows of some kinds of agents, a line of JSON each. It holds nothing that the database
// does not hold: lines missing at its end are added at the next write.
type lines struct {
	path string
	turn chan struct{} // holds a token while the file is written
}

// longest is more than the length of any line that a row makes.
const longest = 64 << 10

func (f *lines) copy(ctx context.Context, db *store.DB, kinds []string) error {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the audit's lines: %w", err)
	}
	err = copyTo(ctx, file, db, kinds)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the audit's lines: %w; free the disk", err)
	}
	return nil
}

func copyTo(ctx context.Context, file *os.File, db *store.DB, kinds []string) error {
	last, size, err := lastLine(file)
	if err != nil {
		return err
	}
	for {
		rows, err := read(ctx, db, store.AuditWanted{After: last, Kinds: kinds, Limit: page})
		if err != nil || len(rows) == 0 {
			return err
		}
		var text []byte
		for _, a := range rows {
			line, err := json.Marshal(RecordOf(a))
			if err != nil {
				return err
			}
			text, last = append(append(text, line...), '\n'), a.ID
		}
		n, err := file.WriteAt(text, size)
		if err != nil {
			return err // the next copy cuts off half a line
		}
		size += int64(n)
	}
}

// lastLine returns the number of the row in the file's last whole line, and where that ends. It cuts off the rest.
func lastLine(file *os.File) (row, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	from := max(0, info.Size()-2*longest)
	tail := make([]byte, info.Size()-from)
	if _, err := file.ReadAt(tail, from); err != nil && err != io.EOF {
		return 0, 0, err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if end == 0 && from > 0 {
		return 0, 0, errors.New("its end is no line of the audit: move the file away, and it is written anew")
	}
	if size = from + int64(end); size < info.Size() {
		if err := file.Truncate(size); err != nil {
			return 0, 0, err
		}
	}
	if end == 0 {
		return 0, 0, nil
	}
	line := tail[bytes.LastIndexByte(tail[:end-1], '\n')+1 : end]
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return 0, 0, errors.New("its last line is none of the audit: move the file away, and it is written anew")
	}
	return r.Row, size, nil
}
