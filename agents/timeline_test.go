package agents_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/store"
)

// clocked is a world whose rows a test makes up at times of its own.
type clocked struct {
	*world
	t     *testing.T
	began time.Time
}

// write writes rows so many seconds after the beginning.
func (c *clocked) write(second int, f func(tx *store.Tx) error) {
	c.t.Helper()
	<-time.After(time.Until(c.began.Add(time.Duration(second) * time.Second)))
	check(c.t, c.DB.Write(c.t.Context(), "test", f))
}

// agent adds an agent, and begins a turn of it.
func (c *clocked) agent(second int, name string) (id, turn int64) {
	c.t.Helper()
	c.write(second, func(tx *store.Tx) (err error) {
		if id, err = tx.AddAgent(store.Agent{Name: name, Kind: "sub", Model: "builtin", State: "running"}); err == nil {
			turn, err = tx.BeginTurn(store.Turn{Agent: id, Kind: "agent"})
		}
		return err
	})
	return id, turn
}

// acts returns what an agent did in stretches of ten seconds.
func (c *clocked) acts(agent int64, n int) (signs string, t agents.Timeline) {
	c.t.Helper()
	t, err := c.Pool.Records.Timeline(c.t.Context(), c.began, 10*time.Second, n, time.Now())
	check(c.t, err)
	if t.Rows[agent] == nil {
		return "", t
	}
	for i, a := range t.Rows[agent].Acts {
		if t.Rows[agent].Mail[i] {
			signs += "M"
		} else {
			signs += ".iqmth"[a : a+1]
		}
	}
	return signs, t
}

func onClock(t *testing.T, f func(c *clocked)) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		defer w.Close()
		time.Sleep(time.Hour - time.Duration(time.Now().UnixNano())%time.Hour)
		f(&clocked{w, t, time.Now()})
	})
}

// TestTimeline_acts: a turn shows what passed with the model, a tool, and waiting for the human, and the sums say how much
// that was. Mail shows where it left and where it entered.
func TestTimeline_acts(t *testing.T) {
	onClock(t, func(c *clocked) {
		id, turn := c.agent(0, "vet")
		var question int64
		c.write(10, func(tx *store.Tx) (err error) {
			check(c.t, store.AddAudit(tx, store.Audit{ID: 1000, At: tx.Now(), What: "call", Agent: id, Turn: turn, Call: "c1"}))
			question, err = tx.AddApproval(store.Approval{Agent: id, Turn: turn, Call: "c1", Kind: "approval", Data: "{}"})
			return err
		})
		if got, _ := c.acts(id, 4); got != "m..." {
			c.t.Errorf("at once it shows %q", got)
		}
		c.write(30, func(tx *store.Tx) error {
			return tx.SealApproval(store.Approval{ID: question, Data: "{}", Answer: "{}", Answered: tx.Now()})
		})
		if got, _ := c.acts(id, 4); got != "mhh." {
			c.t.Errorf("after the answer it shows %q", got)
		}
		c.write(50, func(tx *store.Tx) error {
			return store.AddAudit(tx, store.Audit{ID: 1001, At: tx.Now(), What: "ended", Agent: id, Turn: turn, Call: "c1", Began: c.began.Add(30 * time.Second), Millis: 20_000})
		})
		c.write(65, func(tx *store.Tx) error { return tx.EndTurn(turn, "completed", "") })
		_, err := c.Pool.Letters.Mail(c.t.Context(), c.Main(), mail.Letter{To: []string{"main"}, Body: "hello"})
		check(c.t, err)
		c.write(90, func(*store.Tx) error { return nil })
		got, line := c.acts(id, 12)
		if got != "mhhttmm....." {
			c.t.Errorf("in the end it shows %q", got)
		}
		if line.Waited != 20*time.Second || line.Busy != 65*time.Second || !line.First.Equal(c.began) {
			c.t.Errorf("waited %s of %s from %s", line.Waited, line.Busy, line.First)
		}
		if got, _ := c.acts(c.Main(), 12); got != "iiiiiiMii..." {
			c.t.Errorf("main shows %q", got)
		}
	})
}

// TestTimeline_times: a turn that a crash cut ends with what its agent did last, and not when the next start ended it.
// Times in the future, a clock that was set back, and no agents or many show what can be shown.
func TestTimeline_times(t *testing.T) {
	onClock(t, func(c *clocked) {
		if _, line := c.acts(1, 6); line.Busy != 0 || !line.First.IsZero() {
			c.t.Errorf("before anything happened: %+v", line)
		}
		id, turn := c.agent(0, "cut")
		c.write(20, func(tx *store.Tx) error {
			_, err := tx.Append(id, turn, "text", `{"text":"so far"}`)
			return err
		})
		c.write(60, func(tx *store.Tx) error { return tx.EndTurn(turn, "crashed", "the program ended") })
		if got, line := c.acts(id, 8); got != "mm......" || line.Busy != 20*time.Second {
			c.t.Errorf("a turn that was cut shows %q, %s", got, line.Busy)
		}
		var late, early int64
		c.write(70, func(tx *store.Tx) (err error) {
			late, err = tx.AddAgent(store.Agent{Name: "late", Kind: "sub", Model: "builtin", State: "running"})
			check(c.t, err)
			_, err = tx.BeginTurn(store.Turn{Agent: late, Kind: "agent", Started: tx.Now().Add(time.Hour)})
			check(c.t, err)
			early, err = tx.AddAgent(store.Agent{Name: "early", Kind: "sub", Model: "builtin", State: "running"})
			check(c.t, err)
			_, err = tx.BeginTurn(store.Turn{Agent: early, Kind: "agent", Started: tx.Now().Add(-30 * time.Second)})
			return err
		})
		c.write(80, func(*store.Tx) error { return nil })
		if got, _ := c.acts(late, 8); got != "" {
			c.t.Errorf("a turn in the future shows %q", got)
		}
		if got, _ := c.acts(early, 8); got != "....mmmm" {
			c.t.Errorf("a turn from before the clock was set back shows %q", got)
		}
		for i := range 60 {
			c.agent(90, fmt.Sprintf("many%d", i))
		}
		c.write(100, func(*store.Tx) error { return nil })
		if _, line := c.acts(early, 20); len(line.Rows) < 62 || line.Busy != 80*time.Second {
			c.t.Errorf("%d rows, busy %s", len(line.Rows), line.Busy)
		}
		if line, err := c.Pool.Records.Timeline(c.t.Context(), c.began.Add(-time.Hour), 0, 0, time.Now()); err != nil || len(line.Rows) > 0 && line.Busy != 0 {
			c.t.Errorf("no stretches: %+v, %v", line, err)
		}
	})
}

// TestTimeline_until: the transcript until a time has the entries from before it, the last ones.
func TestTimeline_until(t *testing.T) {
	onClock(t, func(c *clocked) {
		id, turn := c.agent(0, "vet")
		for i := range 50 {
			c.write(10*i, func(tx *store.Tx) error {
				_, err := tx.Append(id, turn, "text", fmt.Sprintf(`{"text":"%d"}`, i))
				return err
			})
		}
		for _, at := range []int{-5, 0, 5, 300, 10_000} {
			es, err := c.Pool.Records.Until(c.t.Context(), id, c.began.Add(time.Duration(at)*time.Second), 3)
			check(c.t, err)
			got := ""
			for _, e := range es {
				got += e.Text + " "
			}
			if want := map[int]string{-5: "", 0: "", 5: "0 ", 300: "27 28 29 ", 10_000: "47 48 49 "}[at]; got != want {
				c.t.Errorf("until %d s: %q, want %q", at, got, want)
			}
		}
	})
}

// TestTimeline_passages: a message shows when it was taken, unless the human put it away. Questions do not show.
func TestTimeline_passages(t *testing.T) {
	onClock(t, func(c *clocked) {
		_, err := c.Pool.Letters.Mail(c.t.Context(), c.Main(), mail.Letter{To: []string{"main"}, Body: "one"})
		check(c.t, err)
		c.write(20, func(*store.Tx) error { return nil })
		_, _, err = c.Pool.Pickup.Check(c.t.Context(), c.Main(), inbox.Query{})
		check(c.t, err)
		c.write(40, func(*store.Tx) error { return nil })
		if got, _ := c.acts(c.Main(), 4); got != "MiMi" {
			c.t.Errorf("it shows %q", got)
		}
	})
}
