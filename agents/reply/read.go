package reply

import (
	"context"
	"iter"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/tools/secret"
)

// Reading is who hears a reply while it streams.
type Reading struct {
	Model  string // its name
	Keys   *secret.Keys
	Scribe *Scribe // saves it as it grows; nil: nobody does
	Now    func() time.Time
	Show   func(d event.Delta)
	Void   func()               // what came so far does not count: the request is sent again
	Retry  func(r *event.Retry) // it will be, then; nil: that is over
}

// Read reads a reply. Along with an error it returns what had arrived.
func Read(ctx context.Context, parts iter.Seq2[llm.Part, error], o Reading) (*Reply, error) {
	r := &Reply{}
	var failed error
	for part, err := range Withhold(o.Keys, parts) {
		if err != nil {
			failed = err
			break
		}
		if again, ok := part.(llm.Retrying); ok {
			r = &Reply{}
			o.Scribe.Void()
			o.Void()
			o.Retry(&event.Retry{
				Attempt: again.Attempt, Of: again.Of, Reason: again.Err.Error(), At: o.Now().Add(time.Duration(again.Wait) * time.Millisecond),
			})
			continue
		}
		o.Retry(nil)
		if d, ok := r.Add(part); ok {
			o.Scribe.Hear(d)
			o.Show(d)
		}
		if r.Stop != nil {
			break // anything after the stop is not part of the reply
		}
	}
	if failed == nil && r.Stop == nil && ctx.Err() == nil {
		failed = &llm.Error{Kind: llm.Cut, Provider: o.Model, Message: "The reply ended without its end marker. Try again."}
	}
	if failed == nil {
		failed = r.Check(o.Model)
	}
	return r, failed
}
