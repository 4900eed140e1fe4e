package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/inbox"
	"fantail/store"
)

// Ledger tells what became of every task that started and of every message, as
// the database says it in one moment.
type Ledger struct {
	Started   int // tasks: all that run or have ended
	Delivered int // of those, the ones whose message was taken
	Aside     int // whose message was archived or snoozed
	Pending   int // whose message waits
	Running   int
	Queued    int
	Taken     int      // messages of all kinds
	Kept      int      // messages of all kinds that were archived or snoozed
	Waiting   int      // messages of all kinds
	Wrong     []string // what breaks the promise; there must be none
}

// Ledger balances the books. Every started task ends in exactly one message:
// started = delivered + set aside + pending + running, and nothing else is right.
func (p *Pool) Ledger(ctx context.Context) (l Ledger, err error) {
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		l = Ledger{}
		tasks, err := rx.TaskLedger()
		if err != nil {
			return err
		}
		mail, err := p.inbox.Ledger(rx)
		if err != nil {
			return err
		}
		l = Ledger{
			Started: tasks.Running + tasks.Finished, Running: tasks.Running, Queued: tasks.Queued,
			Delivered: mail.TaskTaken, Aside: mail.TaskAside, Pending: mail.TaskPending,
			Taken: mail.Taken, Kept: mail.Aside, Waiting: mail.Pending, Wrong: mail.Wrong,
		}
		for _, t := range tasks.Lost {
			l.wrong("task %d (%s) runs, but its agent has ended", t.ID, t.Name)
		}
		if err := l.match(rx, mail); err != nil {
			return err
		}
		return l.open(rx, mail)
	})
	if err != nil {
		return Ledger{}, fmt.Errorf("read the delivery ledger: %w", err)
	}
	return l, nil
}

func (l *Ledger) wrong(format string, args ...any) {
	l.Wrong = append(l.Wrong, fmt.Sprintf(format, args...))
}

// match compares the tasks that finished with the messages that end tasks.
func (l *Ledger) match(rx *store.Rx, mail inbox.Ledger) error {
	finished, err := rx.FinishedTasks()
	if err != nil {
		return err
	}
	for _, task := range finished {
		if mail.Ends[task] == 0 {
			l.wrong("task %d finished without a message", task)
		}
		delete(mail.Ends, task)
	}
	var early []int64
	for task := range mail.Ends {
		early = append(early, task)
	}
	slices.Sort(early)
	for _, task := range early {
		l.wrong("message %d ends task %d, which has not finished", mail.Ends[task], task)
	}
	return nil
}

// open compares the questions that are open with the messages that stand for them.
func (l *Ledger) open(rx *store.Rx, mail inbox.Ledger) error {
	late, err := rx.LateApprovals()
	if err != nil {
		return err
	}
	for _, id := range late {
		l.wrong("question %d is open, but its turn has ended", id)
	}
	rows, err := rx.OpenApprovals(0)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Message != 0 && !mail.Asking[row.Message] {
			l.wrong("question %d is open, but its message %d has ended", row.ID, row.Message)
		}
	}
	for id := range mail.Asking {
		row, ok, err := rx.ApprovalOf(id)
		if err != nil {
			return err
		}
		if ok && !row.Answered.IsZero() {
			l.wrong("message %d waits for the answer to a question that has ended", id)
		}
	}
	return nil
}

// String is what /doctor prints.
func (l Ledger) String() string {
	var b strings.Builder
	aside := func(n int) string {
		if l.Kept == 0 {
			return ""
		}
		return fmt.Sprintf(" + set aside %d", n)
	}
	fmt.Fprintf(&b, "Tasks: started %d = delivered %d%s + pending %d + running %d (%d queued)\n", l.Started, l.Delivered, aside(l.Aside), l.Pending, l.Running, l.Queued)
	fmt.Fprintf(&b, "Messages: %d = taken %d%s + pending %d", l.Taken+l.Kept+l.Waiting, l.Taken, aside(l.Kept), l.Waiting)
	if len(l.Wrong) == 0 {
		return b.String() + "\nNothing is lost and nothing is doubled."
	}
	fmt.Fprintf(&b, "\nThe books don't balance (%d):", len(l.Wrong))
	for _, w := range l.Wrong {
		b.WriteString("\n  - " + w)
	}
	return b.String()
}
