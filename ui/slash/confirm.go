package slash

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fantail/agents/tasks"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// runConfirm asks about the rows that wait for the human's yes.
func runConfirm(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		rows, err := in.Pool.Rows.Waiting(ctx)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			return intent.Said{Text: "Nothing to confirm: all schedules, checks and rules are as you made them."}, nil
		}
		return in.confirming(rows), nil
	}), nil
}

// maxConfirmed limits the rows of one question, because each needs a digit.
const maxConfirmed = 9

// confirming asks about the first rows, all at once or one by one.
func (in input) confirming(all []tasks.SealedRow) intent.Intent {
	rows := all[:min(len(all), maxConfirmed)]
	options := []dialog.Option{{Key: "y", Label: "yes, keep it as shown"}}
	no := "no, delete it"
	if len(rows) > 1 {
		options[0].Label, no = "yes, keep them all as shown", "no, delete them all"
		for n, r := range rows {
			options = append(options, dialog.Option{Key: strconv.Itoa(n + 1), Label: "decide about " + r.Kind + " " + cells.CleanLine(r.Name)})
		}
	}
	options = append(options, dialog.Option{Key: "n", Label: no}, dialog.Option{Key: "l", Label: "later; until then it starts and allows nothing"})
	return intent.Open{
		Box: dialog.NewConsent(in.Theme, "Keep these?", []dialog.Part{{Text: confirmText(rows, len(all)-len(rows))}}, options),
		Decide: func(d dialog.Decision) intent.Intent {
			c, _ := d.(dialog.Confirmed)
			if n, err := strconv.Atoi(c.Choice); err == nil && len(rows) > 1 {
				return in.confirming(rows[n-1 : n])
			}
			switch c.Choice {
			case "y":
				return intent.Quick(func(ctx context.Context) (string, error) {
					return fmt.Sprintf("Confirmed: %d; a change by another program asks again", len(rows)), in.Pool.Rows.Confirm(ctx, rows...)
				})
			case "n":
				return intent.Quick(func(ctx context.Context) (string, error) {
					return fmt.Sprintf("Deleted: %d", len(rows)), in.Pool.Rows.Drop(ctx, rows...)
				})
			}
			return nil
		},
	}
}

// confirmText describes the rows for the question. more is the number of rows left out.
func confirmText(rows []tasks.SealedRow, more int) string {
	var b strings.Builder
	b.WriteString("An older version made this, or another program wrote or changed it in the database. " +
		"It starts and allows nothing until you say yes. Your yes covers exactly what you see here.\n")
	for n, r := range rows {
		fmt.Fprintf(&b, "\n%d. %s %s\n", n+1, r.Kind, cells.CleanLine(r.Name))
		for line := range strings.Lines(cells.Clean(r.Says)) {
			b.WriteString("     " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n%d more wait: /confirm asks about them next.\n", more)
	}
	return b.String()
}
