package panel

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

// Letters opens a message. If there are several, the human picks one.
func Letters(e Options, agent int64, ids []int64) intent.Intent {
	if len(ids) == 1 {
		return intent.Message{Agent: agent, ID: ids[0]}
	}
	var items []dialog.Item
	for _, id := range ids {
		n := strconv.FormatInt(id, 10)
		items = append(items, dialog.Item{Value: n, Label: "#" + n})
	}
	return intent.Open{Box: dialog.NewPicker(e.Theme, "Open a message", items), Decide: func(d dialog.Decision) intent.Intent {
		p, ok := d.(dialog.Picked)
		id, err := strconv.ParseInt(p.Value, 10, 64)
		if !ok || err != nil {
			return nil
		}
		return intent.Message{Agent: agent, ID: id}
	}}
}

// Letter reads a message and shows it in full, over everything. w is the width of the screen.
func Letter(e Options, of intent.Message, w int) intent.Intent {
	names := map[int64]string{}
	for _, x := range e.Tabs.All {
		names[x.Info.ID] = x.Info.Name
	}
	return intent.Do{Agent: of.Agent, Command: of.Command, F: func(ctx context.Context) (intent.Intent, error) {
		m, err := letter(ctx, e.Inbox, of.ID)
		if err != nil {
			return nil, err
		}
		thread, err := e.Pool.Letters.Thread(ctx, of.ID)
		if err != nil {
			return nil, err
		}
		title := fmt.Sprintf("#%d from %s", m.ID, format.From(m))
		return intent.Open{
			Box:  dialog.NewReader(e.Theme, title, letterFields(m, thread, names, e.Now()).Rows(), letterText(m), w),
			What: fmt.Sprintf("message #%d", of.ID),
		}, nil
	}}
}

// letter reads a message.
func letter(ctx context.Context, messages Messages, id int64) (inbox.Message, error) {
	m, ok, err := messages.Message(ctx, id)
	if err == nil && !ok {
		err = fmt.Errorf("there is no message #%d. /inbox to list your mail", id)
	}
	return m, err
}

// letterFields returns what is known of a message.
func letterFields(m inbox.Message, thread []inbox.Message, names map[int64]string, now time.Time) (fs format.Fields) {
	fs.Add("from", format.From(m))
	fs.Add("to", names[m.Recipient])
	fs.Add("sent", m.Created.In(now.Location()).Format("Mon 2 Jan 2006 15:04:05")+", "+inbox.Age(now.Sub(m.Created))+" ago")
	fs.Add("is", m.Nature())
	fs.Add("tags", m.Labels())
	fs.Add("about", inbox.Label(m.Subject))
	if m.InReplyTo != 0 {
		fs.Add("reply to", fmt.Sprintf("#%d", m.InReplyTo))
	}
	fs.Add("thread", threadLine(m.ID, thread))
	for _, mark := range format.Marks(m) {
		fs.Add("mark", mark)
	}
	fate := m.Fate()
	if !m.Taken.IsZero() {
		fate += ", " + inbox.Age(now.Sub(m.Taken)) + " ago"
	}
	fs.Add("became", fate)
	fs.Add("size", transcript.Size(len(m.Text())))
	return fs
}

// letterText returns the whole text of a message.
func letterText(m inbox.Message) string {
	if m.Subject != "" && inbox.Label(m.Subject) != strings.TrimSpace(m.Subject) { // the row shows only the beginning of the subject
		return "About:\n" + m.Subject + "\n\n" + m.Text()
	}
	return m.Text()
}

// threadLine returns a line such as `2 of 3 in a thread: #4 #7 #9`; "" for a single message.
func threadLine(id int64, thread []inbox.Message) string {
	if len(thread) < 2 {
		return ""
	}
	ids, at := make([]int64, len(thread)), 0
	for i, m := range thread {
		if ids[i] = m.ID; m.ID == id {
			at = i + 1
		}
	}
	return fmt.Sprintf("%d of %d in a thread: %s", at, len(thread), format.Hashes(ids))
}
