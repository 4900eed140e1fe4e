package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"modernc.org/sqlite"
)

// maxStatements bounds the prepared statements of a connection. The program has fewer; those beyond are prepared for
// one use.
const maxStatements = 200

// conn is one connection with its prepared statements. Only one goroutine at a time uses it, and never with a context
// that ends: interrupting a statement would undo its whole transaction.
type conn struct {
	c          *sql.Conn
	statements map[string]*statement
	trace      func(statement string)   // nil: no trace
	withhold   func(text string) string // nil: texts are stored unchanged
	known      map[any]any              // [Tx.Known]; nil: empty
	left       int64                    // the data version after its last commit
}

// unseen is a data version that no connection has.
const unseen = -1

type statement struct {
	*sql.Stmt
	rows *sql.Rows // the last ones it returned
}

// connect takes one connection out of the pool permanently and sets it up. SQLite's busy handler waits up to
// busyTimeout for other processes.
func (db *DB) connect(ctx context.Context, reader bool) (*conn, error) {
	bound := bounded() // before the first connection
	c, err := db.sql.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// journal_size_limit cuts the log to this many bytes when it starts over.
	// recursive_triggers makes REPLACE fire the triggers that forbid deleting.
	setup := fmt.Sprintf(`PRAGMA busy_timeout = %d; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;
		PRAGMA journal_size_limit = %d; PRAGMA recursive_triggers = ON`, busyTimeout.Milliseconds(), journalLimit)
	if reader {
		setup = fmt.Sprintf("PRAGMA busy_timeout = %d; PRAGMA query_only = ON", busyTimeout.Milliseconds())
	}
	if _, err := c.ExecContext(context.Background(), setup+bound); err != nil {
		return nil, errors.Join(fmt.Errorf("set up connection: %w", err), c.Close())
	}
	ready := &conn{c: c, statements: make(map[string]*statement), left: unseen}
	if reader {
		ready.trace = db.traced
	}
	return ready, nil
}

// close closes the connection, its statements first: if one is left, SQLite keeps the files open.
func (c *conn) close() error {
	var errs []error
	if gone := c.c.Raw(func(any) error { return nil }); gone == nil { // else they are closed already
		for _, s := range c.statements {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, c.c.Close())...)
}

// prepared returns the prepared statement for query. It returns nil if there are too many, or if the statement's last
// rows are still being read.
func (c *conn) prepared(query string) (*statement, error) {
	s := c.statements[query]
	if s == nil {
		if len(c.statements) >= maxStatements {
			return nil, nil
		}
		stmt, err := c.c.PrepareContext(context.Background(), query)
		if err != nil {
			return nil, err
		}
		s = &statement{Stmt: stmt}
		c.statements[query] = s
	}
	if s.rows != nil {
		if _, err := s.rows.Columns(); err == nil {
			return nil, nil // only closed rows have no columns
		}
		s.rows = nil
	}
	return s, nil
}

// ran passes a statement that ran to the trace.
func (c *conn) ran(query string) {
	if c.trace != nil {
		c.trace(query)
	}
}

// kept returns args with each text replaced by the text to store.
func (c *conn) kept(args []any) []any {
	if c.withhold == nil {
		return args
	}
	for i, arg := range args {
		switch v := reflect.ValueOf(arg); {
		case v.Kind() == reflect.String:
			if text := c.withhold(v.String()); text != v.String() {
				args[i] = text
			}
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
			if text := c.withhold(string(v.Bytes())); text != string(v.Bytes()) {
				args[i] = []byte(text)
			}
		}
	}
	return args
}

func (c *conn) exec(query string, args ...any) (sql.Result, error) {
	args = c.kept(args)
	defer c.ran(query)
	s, err := c.prepared(query)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.c.ExecContext(context.Background(), query, args...)
	}
	return s.ExecContext(context.Background(), args...)
}

func (c *conn) query(query string, args ...any) (*sql.Rows, error) {
	args = c.kept(args)
	defer c.ran(query)
	s, err := c.prepared(query)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.c.QueryContext(context.Background(), query, args...)
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err == nil {
		s.rows = rows
	}
	return rows, err
}

func (c *conn) row(query string, args ...any) *sql.Row {
	args = c.kept(args)
	defer c.ran(query)
	s, err := c.prepared(query)
	if err != nil || s == nil {
		return c.c.QueryRowContext(context.Background(), query, args...)
	}
	return s.QueryRowContext(context.Background(), args...)
}

// number is the one number that query returns.
func (c *conn) number(query string, args ...any) (n int64, err error) {
	err = c.row(query, args...).Scan(&n)
	return n, err
}

// seen is a number that changes with each commit that the connection made, or saw of others. Reading it takes a tenth
// of the time of PRAGMA data_version, which ignores its own commits.
func (c *conn) seen() (n int64, err error) {
	err = c.c.Raw(func(driver any) error {
		v, err := driver.(sqlite.FileControl).FileControlDataVersion("main")
		n = int64(v)
		return err
	})
	return n, err
}

// rollback ends any open transaction. An error means that the connection can no longer be used.
func (c *conn) rollback() error {
	_, err := c.exec("ROLLBACK")
	if err == nil {
		return nil
	}
	// SQLite refuses ROLLBACK if it has ended the transaction itself; then, and only then, BEGIN succeeds.
	if _, err2 := c.exec("BEGIN"); err2 != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	_, err = c.exec("ROLLBACK")
	return err
}
