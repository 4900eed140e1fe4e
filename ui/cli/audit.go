package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/agents/audit"
	"fantail/ui/format"
	"fantail/ui/shell"
)

// auditPage is how many lines of the audit are read at once.
const auditPage = 500

// auditFlags refuses --verify for a part of the audit.
func auditFlags(e *Errand) error {
	if e.o.verify && len(e.words) > 0 {
		return shell.Misused("audit: --verify looks at the whole audit, not at %q alone", strings.Join(e.words, " "))
	}
	return nil
}

// runAudit prints the audit, of one agent or one row too, or verifies it.
func runAudit(e *Errand, c *caller) (int, error) {
	if len(e.words) > 1 {
		return shell.ExitUsage, shell.Misused("audit: %q is not understood; it is fantail audit [NAME | N]", strings.Join(e.words, " "))
	}
	log := audit.Reader{DB: c.door.DB, Dir: c.data}
	name := strings.Join(e.words, "")
	switch {
	case e.o.verify && c.hands != nil:
		return 0, ErrElsewhere // it may take long, and is worth more from another process
	case e.o.verify:
		return c.verify(log)
	}
	c.out.unread = &Unread{Code: shell.ExitFailed}
	if n, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		return c.auditRow(log, n)
	}
	some := false
	for w := (audit.Wanted{Name: name, Limit: auditPage}); ; {
		var got []audit.Record
		lines, err := log.List(c.ctx, w)
		if c.out.json {
			lines = nil
			got, err = log.Records(c.ctx, w)
		}
		if err != nil {
			return shell.ExitFailed, err
		}
		for _, l := range lines {
			w.After = l.ID
			if err := c.out.text(format.AuditHead(l, time.Local) + "  " + format.AuditGist(l)); err != nil {
				return shell.ExitFailed, err
			}
		}
		for _, r := range got {
			w.After = r.Row
			if err := c.out.line(r); err != nil {
				return shell.ExitFailed, err
			}
		}
		n := len(lines) + len(got)
		if some = some || n > 0; n < auditPage {
			break
		}
	}
	if !some {
		return shell.ExitNothing, nil
	}
	return shell.ExitOK, nil
}

// auditRow prints the call that a row belongs to, or the row itself.
func (c *caller) auditRow(log audit.Reader, n int64) (int, error) {
	l, ok, err := log.Find(c.ctx, n)
	if err == nil && !ok {
		err = fmt.Errorf("the audit has no row %d; fantail audit lists them", n)
	}
	if err != nil {
		return shell.ExitFailed, err
	}
	if c.out.json {
		for _, r := range l.Records() {
			if err := c.out.line(r); err != nil {
				return shell.ExitFailed, err
			}
		}
		return shell.ExitOK, nil
	}
	c.out.unread = nil
	text := format.AuditHead(l, time.Local) + "\n" + format.AuditFields(l, time.Local).Text("")
	if args := format.AuditArgs(l.Args); args != "" {
		text += "\n" + args
	}
	return shell.ExitOK, c.out.text(text)
}

// jReport is the result of verifying the audit, as a line of JSON.
type jReport struct {
	Whole bool     `json:"whole"`
	Rows  int64    `json:"rows"`
	Flaw  string   `json:"flaw,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// verify prints whether the audit is intact.
func (c *caller) verify(log audit.Reader) (int, error) {
	r, err := log.Verify(c.ctx)
	if err != nil {
		return shell.ExitFailed, err
	}
	if c.out.json {
		err = c.out.line(jReport{Whole: r.Flaw == "", Rows: r.Rows, Flaw: r.Flaw, Notes: r.Notes})
	} else {
		err = c.out.text(r.Says())
	}
	if err != nil || r.Flaw != "" {
		return shell.ExitFailed, err
	}
	return shell.ExitOK, nil
}
