package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"
)

// errEnd ends a reply early and in order: the body is complete as far as HTTP
// can tell.
var errEnd = errors.New("ended early")

// stream writes the events of one reply. The first failure sticks.
type stream struct {
	w      http.ResponseWriter
	ctx    context.Context
	r      Reply
	sent   int // bytes of the body
	began  time.Time
	tokens int // sent at a pace
	err    error
}

// reply carries out r.
func (s *Server) reply(w http.ResponseWriter, hr *http.Request, a api, r Reply, req Request) {
	out := &stream{w: w, ctx: hr.Context(), r: r}
	broken := false
	defer func() {
		if r.Ended != nil {
			r.Ended(out.ctx.Err())
		}
		if broken {
			panic(http.ErrAbortHandler) // closes the connection as a crash would
		}
	}()
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	if r.StallEarly {
		<-out.ctx.Done()
		return
	}
	if !s.waits(out.ctx, r.Hold) || !out.pause(r.Delay) {
		return
	}
	if r.Status != 0 && r.Status != http.StatusOK || r.Body != "" {
		if r.Status != 0 {
			w.WriteHeader(r.Status)
		}
		_, _ = w.Write([]byte(r.Body))
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	w.WriteHeader(http.StatusOK)
	out.flush()
	out.began = time.Now()
	if r.Raw != "" {
		out.write([]byte(r.Raw))
	} else {
		a.send(out, req, r)
	}
	out.flush()
	broken = errors.Is(out.err, http.ErrAbortHandler)
}

// event writes one event; a nil value is the bare word of data.
func (o *stream) event(name string, v any) {
	if o.err != nil {
		return
	}
	data, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			o.err = err
			return
		}
		data = string(b)
	}
	text := "data: " + data + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	o.write([]byte(text))
	if o.r.Gap > 0 {
		o.flush()
		if !o.pause(o.r.Gap) {
			o.err = o.ctx.Err()
		}
	}
}

// fail writes an error event, or stalls if the script says so.
func (o *stream) fail(name string, a api) {
	if o.r.Error == stallWord {
		o.flush()
		if o.err == nil {
			<-o.ctx.Done()
			o.err = o.ctx.Err()
		}
		return
	}
	o.event(name, a.failure(o.r.Error, "as the test wants it"))
}

// token waits until the next token is due.
func (o *stream) token() {
	if o.r.Pace <= 0 || o.err != nil {
		return
	}
	o.tokens++
	due := o.began.Add(time.Duration(float64(o.tokens) / o.r.Pace * float64(time.Second)))
	o.flush()
	if !o.pause(time.Until(due)) {
		o.err = o.ctx.Err()
	}
}

// write sends bytes of the body up to where the reply breaks, stalls or ends.
func (o *stream) write(b []byte) {
	for len(b) > 0 && o.err == nil {
		n := len(b)
		if o.r.Write > 0 {
			n = min(n, o.r.Write)
		}
		if left, ok := o.left(o.r.Cut); ok {
			n = min(n, left)
		}
		if left, ok := o.left(o.r.Stall); ok {
			n = min(n, left)
		}
		if n > 0 {
			if _, err := o.w.Write(b[:n]); err != nil {
				o.err = err
				return
			}
			o.sent += n
			b = b[n:]
			if o.r.Write > 0 {
				o.flush()
				if !o.pause(o.r.Slow) {
					o.err = o.ctx.Err()
					return
				}
			}
		}
		o.stop()
	}
}

// left returns how many bytes may be sent before place.
func (o *stream) left(place int) (int, bool) {
	if place == 0 {
		return 0, false
	}
	return max(place-o.sent, 0), true
}

// stop breaks or stalls the reply if its place has come.
func (o *stream) stop() {
	if left, ok := o.left(o.r.Stall); ok && left == 0 {
		o.flush()
		<-o.ctx.Done()
		o.err = o.ctx.Err()
		return
	}
	if left, ok := o.left(o.r.Cut); ok && left == 0 {
		o.err = http.ErrAbortHandler
		if o.r.Clean {
			o.err = errEnd
		}
	}
}

func (o *stream) flush() {
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pause waits; false means that the client left.
func (o *stream) pause(d time.Duration) bool {
	if d <= 0 {
		return o.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-o.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// pieces cuts text into what one event carries: n bytes, or a token.
func pieces(text string, n int) []string {
	if n <= 0 {
		return Tokens(text)
	}
	var all []string
	for len(text) > n {
		at := n
		for at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
		all, text = append(all, text[:at]), text[at:]
	}
	if text != "" {
		all = append(all, text)
	}
	return all
}

// halves splits arguments with Split if that is set, else in the middle.
func (r Reply) halves(args string) []string {
	if r.Split != nil {
		return r.Split(args)
	}
	return Split(args, len(args)/2)
}
