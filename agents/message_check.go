package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/inbox"
	"fantail/store"
)

// Balance counts the outcomes of all started tasks and all messages, read in one snapshot of the
// database.
type Balance struct {
	Started   int // tasks that run or have ended
	Delivered int // those whose message was taken
	Aside     int // those whose message was archived or snoozed
	Pending   int // those whose message is pending
	Running   int
	Queued    int
	Taken     int      // messages of all kinds, taken
	Kept      int      // messages of all kinds, archived or snoozed
	Waiting   int      // messages of all kinds, pending
	Wrong     []string // breaches of the promise; must be empty
	Newest    bool     // only the newest inbox.Recent ended tasks, and as many messages of each inbox, were checked
}

// Balance checks the mail promise: every started task ends in exactly one message, so started =
// delivered + set aside + pending + running. A task that awaits input has one message for each
// turn; the last one counts. Wrong lists the breaches.
func (l *Records) Balance(ctx context.Context) (Balance, error) {
	return l.balance(ctx, func(*store.Rx) (bool, error) { return false, nil })
}

// few is the number of messages or tasks that can all be checked in a few milliseconds.
const few = 3000

// Glance is Balance in bounded time. If the workspace has more than a few messages or tasks, it
// checks the new ones, the kept totals of the rest, and every row that contradicts itself, as
// [inbox.Glance] describes.
func (l *Records) Glance(ctx context.Context) (Balance, error) {
	return l.balance(ctx, func(rx *store.Rx) (bool, error) {
		messages, err := inbox.Newest(&rx.View)
		if err != nil {
			return false, err
		}
		tasks, err := store.NewestTask(&rx.View)
		return max(messages, tasks) > few, err
	})
}

func (l *Records) balance(ctx context.Context, newest func(rx *store.Rx) (bool, error)) (b Balance, err error) {
	err = l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
		b = Balance{}
		only, err := newest(rx)
		if err != nil {
			return err
		}
		tasks, err := rx.TaskLedger()
		if err != nil {
			return err
		}
		look := l.pool.inbox.Totals
		if only {
			look = inbox.Glance
		}
		mail, err := look(rx)
		if err != nil {
			return err
		}
		b = Balance{
			Started: tasks.Running + tasks.Finished, Running: tasks.Running, Queued: tasks.Queued,
			Delivered: mail.TaskTaken, Aside: mail.TaskAside, Pending: mail.TaskPending,
			Taken: mail.Taken, Kept: mail.Aside, Waiting: mail.Pending, Wrong: mail.Wrong, Newest: only,
		}
		for _, t := range tasks.Lost {
			b.wrong("task %d (%s) runs, but its agent has ended", t.ID, t.Name)
		}
		if err := b.match(rx, mail); err != nil {
			return err
		}
		return b.open(rx, mail)
	})
	if err != nil {
		return Balance{}, fmt.Errorf("read the delivery ledger: %w", err)
	}
	return b, nil
}

func (b *Balance) wrong(format string, args ...any) {
	b.Wrong = append(b.Wrong, fmt.Sprintf(format, args...))
}

// match checks that each finished task has a message that ends it, and vice versa.
func (b *Balance) match(rx *store.Rx, mail inbox.Totals) error {
	most := -1
	if b.Newest {
		most = inbox.Recent
	}
	finished, err := rx.FinishedTasks(most)
	if err != nil {
		return err
	}
	for _, task := range finished {
		if mail.Ends[task] == 0 {
			b.wrong("task %d finished without a message", task)
		}
		delete(mail.Ends, task)
	}
	awaiting, err := store.AwaitingTasks(&rx.View)
	if err != nil {
		return err
	}
	for _, task := range awaiting {
		delete(mail.Ends, task)
	}
	var early []int64
	for task := range mail.Ends {
		early = append(early, task)
	}
	slices.Sort(early)
	for _, task := range early {
		b.wrong("message %d ends task %d, which has not finished", mail.Ends[task], task)
	}
	return nil
}

// open checks that each open question has a pending message, and vice versa.
func (b *Balance) open(rx *store.Rx, mail inbox.Totals) error {
	late, err := rx.LateApprovals()
	if err != nil {
		return err
	}
	for _, id := range late {
		b.wrong("question %d is open, but its turn has ended", id)
	}
	rows, err := rx.OpenApprovals(0)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Message != 0 && !mail.Asking[row.Message] {
			b.wrong("question %d is open, but its message %d has ended", row.ID, row.Message)
		}
	}
	for id := range mail.Asking {
		row, ok, err := rx.ApprovalOf(id)
		if err != nil {
			return err
		}
		if ok && !row.Answered.IsZero() {
			b.wrong("message %d waits for the answer to a question that has ended", id)
		}
	}
	return nil
}

// String returns what /doctor prints.
func (b Balance) String() string {
	var t strings.Builder
	aside := func(n int) string {
		if b.Kept == 0 {
			return ""
		}
		return fmt.Sprintf(" + set aside %d", n)
	}
	started, sound := fmt.Sprintf("started %d =", b.Started), "Nothing is lost and nothing is doubled."
	if b.Newest {
		started = fmt.Sprintf("started %d; the newest that ended and those that run =", b.Started)
		sound = fmt.Sprintf("The kept numbers agree, no message contradicts itself, and of the newest %d nothing is lost and "+
			"nothing is doubled. /doctor --full counts all.", inbox.Recent)
	}
	fmt.Fprintf(&t, "Tasks: %s delivered %d%s + pending %d + running %d (%d queued)\n",
		started, b.Delivered, aside(b.Aside), b.Pending, b.Running, b.Queued)
	fmt.Fprintf(&t, "Messages: %d = taken %d%s + pending %d",
		b.Taken+b.Kept+b.Waiting, b.Taken, aside(b.Kept), b.Waiting)
	if len(b.Wrong) == 0 {
		return t.String() + "\n" + sound
	}
	fmt.Fprintf(&t, "\nThe books don't balance (%d):", len(b.Wrong))
	for _, w := range b.Wrong {
		t.WriteString("\n  - " + w)
	}
	return t.String()
}
