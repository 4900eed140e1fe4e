package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fantail/store"
)

const runColumns = `r.id, r.schedule, r.due_at, r.fired_at, r.missed, ifnull(r.task, 0), ifnull(r.agent, 0), ifnull(r.message, 0),
	r.outcome, r.finding, ifnull(r.ended_at, 0)`

// columns are a schedule's, with those of its newest run.
const columns = `s.id, s.name, s.owner, s.origin, s.kind, s.text, s.cancel_when, s.checks, s.dir, s.sandbox, s.always <> 0, s.deliver, s.priority,
	s.said, s.delay_ms, s.every_ms, s.cron, ifnull(s.at, 0), s.state, s.why, ifnull(s.due_at, 0), s.runs, s.created_at,
	ifnull(r.id, 0), ifnull(r.schedule, 0), ifnull(r.due_at, 0), ifnull(r.fired_at, 0), ifnull(r.missed, 0), ifnull(r.task, 0),
	ifnull(r.agent, 0), ifnull(r.message, 0), ifnull(r.outcome, ''), ifnull(r.finding, ''), ifnull(r.ended_at, 0)`

// from is where columns come from.
const from = ` FROM schedules s LEFT JOIN schedule_runs r ON r.id = (SELECT max(id) FROM schedule_runs WHERE schedule = s.id) `

type scanner interface{ Scan(into ...any) error }

func scanRun(s scanner) (r Run, err error) {
	var due, fired, ended int64
	err = s.Scan(r.into(&due, &fired, &ended)...)
	r.Due, r.Fired, r.Ended = moment(due), moment(fired), moment(ended)
	return r, err
}

func (r *Run) into(due, fired, ended *int64) []any {
	return []any{&r.ID, &r.Schedule, due, fired, &r.Missed, &r.Task, &r.Agent, &r.Message, &r.Outcome, &r.Finding, ended}
}

func scanSchedule(row scanner) (s Schedule, err error) {
	var delay, every, at, due, created, lastDue, lastFired, lastEnded int64
	into := []any{
		&s.ID, &s.Name, &s.Owner, &s.Origin, (*string)(&s.Kind), &s.Text, &s.CancelWhen, &s.Checks, &s.Dir, &s.Sandbox, &s.Always,
		(*string)(&s.Deliver), (*string)(&s.Priority), &s.When.Text, &delay, &every, &s.When.Cron, &at, (*string)(&s.State), &s.Why,
		&due, &s.Runs, &created,
	}
	err = row.Scan(append(into, s.Last.into(&lastDue, &lastFired, &lastEnded)...)...)
	s.When.Delay, s.When.Every = time.Duration(delay)*time.Millisecond, time.Duration(every)*time.Millisecond
	s.When.At, s.Due, s.Created = moment(at), moment(due), moment(created)
	s.Last.Due, s.Last.Fired, s.Last.Ended = moment(lastDue), moment(lastFired), moment(lastEnded)
	return s, err
}

// moment returns a column's time; 0 is the zero time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// orNull returns a number for a column that may be NULL; 0 means NULL.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// stamped returns t for a column that may be NULL; the zero time means NULL.
func stamped(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func all[T any](v *store.View, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := v.Query(query, args...)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	defer rows.Close()
	var ts []T
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read schedules: %w", err)
		}
		ts = append(ts, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	return ts, nil
}

func one[T any](v *store.View, scan func(scanner) (T, error), query string, args ...any) (T, bool, error) {
	t, err := scan(v.QueryRow(query, args...))
	switch {
	case errors.Is(err, store.ErrNoRows):
		return t, false, nil
	case err != nil:
		return t, false, fmt.Errorf("read schedules: %w", err)
	}
	return t, true, nil
}

func scanInt(s scanner) (n int64, err error) {
	err = s.Scan(&n)
	return n, err
}

// insert writes a new schedule.
func insert(tx *store.Tx, s Schedule) (int64, error) {
	res, err := tx.Exec(`INSERT INTO schedules (name, owner, origin, kind, text, cancel_when, checks, dir, sandbox, always, deliver, priority,
			said, delay_ms, every_ms, cron, at, due_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.Name, s.Owner, s.Origin, string(s.Kind), s.Text, s.CancelWhen, s.Checks, s.Dir, s.Sandbox, s.Always, string(s.Deliver), string(s.Priority),
		s.When.Text, s.When.Delay.Milliseconds(), s.When.Every.Milliseconds(), s.When.Cron, stamped(s.When.At), stamped(s.Due), s.Created.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("keep the schedule: %w", err)
	}
	return res.LastInsertId()
}

// set changes one schedule, which stays sealed if it was.
func (r *Scheduler) set(tx *store.Tx, id int64, what string, args ...any) error {
	err := r.o.Seals.Change(tx, store.Schedules, id, func() error {
		_, err := tx.Exec(`UPDATE schedules SET `+what+` WHERE id = ?`, append(args, id)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("change a schedule: %w", err)
	}
	return nil
}

// find returns the schedule of that name that has not ended.
func find(v *store.View, name string) (Schedule, bool, error) {
	return one(v, scanSchedule, `SELECT `+columns+from+`WHERE s.name = ? AND s.state <> 'ended'`, name)
}

// count returns how many active schedules share a limit with kind k: reminders, or all others.
func count(v *store.View, k Kind) (int, error) {
	n, _, err := one(v, scanInt, `SELECT count(*) FROM schedules WHERE due_at IS NOT NULL AND (kind = 'reminder') = (? = 'reminder')`, string(k))
	return int(n), err
}

// List returns the schedules that have not ended, the next due first, the paused ones last: those that the agent owner
// registered, or all if owner is 0.
func List(v *store.View, owner int64) ([]Schedule, error) {
	return all(v, scanSchedule, `SELECT `+columns+from+`WHERE s.state <> 'ended' AND (s.owner = ? AND s.origin = 'agent' OR ? = 0)
		ORDER BY s.due_at IS NULL, s.due_at, s.id`, owner, owner)
}

// Past is a page of the schedules that ended, the one registered last first.
type Past struct {
	Search string // text in the name, the schedule's text or the reason of the end, ignoring the case of a…z; "": all
	Before int64  // only those after this one; 0: from the beginning
	Back   bool   // those right before Before instead, or, if that is 0, the last of all
	Limit  int
}

// List returns the schedules of the page. Its cost does not depend on how many ended, unless it searches.
func (p Past) List(v *store.View) ([]Schedule, error) {
	beyond, order := `<`, `DESC`
	if p.Back {
		beyond, order = `>`, `ASC`
	}
	where, args := `WHERE s.state = 'ended'`, []any{}
	if p.Before != 0 {
		where += ` AND s.id ` + beyond + ` ?`
		args = append(args, p.Before)
	}
	if p.Search != "" {
		where += ` AND instr(lower(concat_ws(' ', s.name, s.text, s.why)), lower(?)) > 0`
		args = append(args, p.Search)
	}
	ss, err := all(v, scanSchedule, `SELECT `+columns+from+where+` ORDER BY s.id `+order+` LIMIT ?`, append(args, p.Limit)...)
	if p.Back {
		slices.Reverse(ss)
	}
	return ss, err
}

// Runs returns the newest runs of a schedule, the newest first.
func Runs(v *store.View, schedule int64, most int) ([]Run, error) {
	return all(v, scanRun, `SELECT `+runColumns+` FROM schedule_runs r WHERE r.schedule = ? ORDER BY r.id DESC LIMIT ?`, schedule, most)
}

// Since returns the schedules that fired after that time, the last one first, with their newest run.
func Since(v *store.View, after time.Time, most int) ([]Schedule, error) {
	return all(v, scanSchedule, `SELECT `+columns+from+`WHERE r.fired_at > ? ORDER BY r.fired_at DESC, r.id DESC LIMIT ?`, after.UnixMilli(), most)
}

// summary returns how many schedules are active, and when the next one is due.
func summary(v *store.View) (active, next int64, err error) {
	err = v.QueryRow(`SELECT count(*), ifnull(min(due_at), 0) FROM schedules WHERE due_at IS NOT NULL`).Scan(&active, &next)
	if err != nil {
		err = fmt.Errorf("read schedules: %w", err)
	}
	return active, next, err
}

// Began records which task or agent carries a run out, or both.
func Began(tx *store.Tx, run, task, agent int64) error {
	_, err := tx.Exec(`UPDATE schedule_runs SET task = ifnull(?, task), agent = ifnull(?, agent) WHERE id = ?`, orNull(task), orNull(agent), run)
	if err != nil {
		return fmt.Errorf("note what carries out run %d: %w", run, err)
	}
	return nil
}

// OfTask returns the run that a task carries out, and its schedule.
func OfTask(v *store.View, task int64) (Schedule, Run, bool, error) {
	return of(v, `r.task = ?`, task)
}

// OfAgent returns the run that an agent carries out, and its schedule.
func OfAgent(v *store.View, agent int64) (Schedule, Run, bool, error) {
	return of(v, `r.agent = ?`, agent)
}

func of(v *store.View, which string, id int64) (s Schedule, r Run, ok bool, err error) {
	r, ok, err = one(v, scanRun, `SELECT `+runColumns+` FROM schedule_runs r WHERE `+which+` ORDER BY r.id DESC LIMIT 1`, id)
	if err == nil && ok {
		s, ok, err = one(v, scanSchedule, `SELECT `+columns+from+`WHERE s.id = ?`, r.Schedule)
	}
	return s, r, ok, err
}

// Before returns the last run of a schedule that ended before that one.
func Before(v *store.View, r Run) (Run, bool, error) {
	return one(v, scanRun, `SELECT `+runColumns+` FROM schedule_runs r
		WHERE r.schedule = ? AND r.id < ? AND r.ended_at IS NOT NULL ORDER BY r.id DESC LIMIT 1`, r.Schedule, r.ID)
}

// End ends a run: its outcome, the beginning of its finding, and the message that reports it (0: none). It returns
// false if the run had ended already.
func End(tx *store.Tx, run int64, outcome, finding string, message int64) (bool, error) {
	res, err := tx.Exec(`UPDATE schedule_runs SET outcome = ?, finding = ?, message = ifnull(?, message), ended_at = ?
		WHERE id = ? AND ended_at IS NULL`, outcome, beginning(finding, maxFinding), orNull(message), tx.Now().UnixMilli(), run)
	if err != nil {
		return false, fmt.Errorf("end run %d: %w", run, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Unfinished returns the runs that have not ended, oldest first.
func Unfinished(v *store.View) ([]Run, error) {
	return all(v, scanRun, `SELECT `+runColumns+` FROM schedule_runs r WHERE r.ended_at IS NULL ORDER BY r.id`)
}

// Open reports whether a run of the schedule has not ended.
func Open(v *store.View, schedule int64) (bool, error) {
	n, _, err := one(v, scanInt, `SELECT count(*) FROM schedule_runs WHERE schedule = ? AND ended_at IS NULL`, schedule)
	return n > 0, err
}

// addRun writes a run that has just begun.
func addRun(tx *store.Tx, r Run) (int64, error) {
	res, err := tx.Exec(`INSERT INTO schedule_runs (schedule, due_at, fired_at, missed) VALUES (?, ?, ?, ?)`,
		r.Schedule, r.Due.UnixMilli(), r.Fired.UnixMilli(), r.Missed)
	if err != nil {
		return 0, fmt.Errorf("note that a schedule fired: %w", err)
	}
	return res.LastInsertId()
}

// beginning returns the part of a text that is stored.
func beginning(s string, most int) string {
	s = strings.TrimSpace(s)
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// Silent returns the tasks of the runs that ended at that time or later and left no mail, because their outcome was
// that of the previous run.
func Silent(v *store.View, since time.Time) (map[int64]bool, error) {
	tasks, err := all(v, scanInt, `SELECT task FROM schedule_runs
		WHERE task IS NOT NULL AND message IS NULL AND outcome <> '' AND ended_at >= ?`, since.UnixMilli())
	is := map[int64]bool{}
	for _, t := range tasks {
		is[t] = true
	}
	return is, err
}
