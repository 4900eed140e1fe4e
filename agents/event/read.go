package event

import (
	"context"
	"iter"
	"time"

	"fantail/agents/llm"
	"fantail/tools/secret"
)

// ReplyReader gets a reply while it streams.
type ReplyReader struct {
	Model  string // its name
	Keys   *secret.Keys
	Scribe *ReplySaver // saves it as it grows; nil: it is not saved
	Now    func() time.Time
	Show   func(d Delta)
	Void   func()         // discards what came so far: the request is sent again
	Retry  func(r *Retry) // the request will be sent again then; nil: that is over
}

// ReadReply reads a reply. With an error it returns what had arrived.
func ReadReply(ctx context.Context, parts iter.Seq2[llm.Part, error], o ReplyReader) (*Reply, error) {
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
			o.Retry(&Retry{
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
