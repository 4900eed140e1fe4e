package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// heard is a hearer that notes what it hears.
type heard struct {
	mu     sync.Mutex
	notes  []string
	answer func(ctx context.Context, method string) (any, error)
}

func (h *heard) Notify(method string, params json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, method+string(params))
}

func (h *heard) Answer(ctx context.Context, method string, _ json.RawMessage) (any, error) {
	if h.answer == nil {
		return nil, &RPCError{Code: CodeMethodNotFound, Message: "no " + method}
	}
	return h.answer(ctx, method)
}

func (h *heard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.notes, " ")
}

// peer is the other end, by hand.
type peer struct {
	*Conn
	*heard
	in  *io.PipeReader // what we wrote
	out *io.PipeWriter // what we read
	all sync.WaitGroup
}

// with runs f with a connection whose other end is f.
func with(t *testing.T, f func(t *testing.T, p *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		theirs, w := io.Pipe()
		r, out := io.Pipe()
		p := &peer{heard: &heard{}, in: theirs, out: out}
		p.Conn = NewConn(w, r, p.heard, func(_ string, f func()) { p.all.Go(f) })
		f(t, p)
		p.Close()
		_ = out.Close()
		_ = theirs.Close()
		p.all.Wait()
	})
}

// says writes lines as the other end.
func (p *peer) says(lines ...string) {
	for _, l := range lines {
		_, _ = io.WriteString(p.out, l+"\n")
	}
	synctest.Wait()
}

// line reads the next line that was written to the other end.
func (p *peer) line() string {
	var text []byte
	b := make([]byte, 1)
	for {
		if _, err := p.in.Read(b); err != nil || b[0] == '\n' {
			return string(text)
		}
		text = append(text, b[0])
	}
}

func TestCall(t *testing.T) {
	with(t, func(t *testing.T, p *peer) {
		type result struct{ V int }
		var got result
		errs := make(chan error)
		call := func(into any) { go func() { errs <- p.Call(t.Context(), "ask", []int{1}, into) }() }
		call(&got)
		if l := p.line(); l != `{"jsonrpc":"2.0","id":1,"method":"ask","params":[1]}` {
			t.Error(l)
		}
		p.says(
			`{"jsonrpc":"2.0","method":"before","params":{"n":1}}`,
			`{"jsonrpc":"2.0","id":99,"result":{"v":9}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}`, // to nothing
			`{"jsonrpc":"2.0","id":1,"result":{"v":7}}`, `{"jsonrpc":"2.0","id":1,"result":{"v":8}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, // and twice
		)
		if err := <-errs; err != nil || got.V != 7 || p.heard.all() != `before{"n":1}` {
			t.Error(err, got, p.heard.all())
		}
		call(nil)
		p.line()
		p.says(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"log in"}}`)
		if err := <-errs; !errors.As(err, new(*RPCError)) || err.Error() != "log in" {
			t.Error(err)
		}
		call(&got)
		p.line()
		p.says(`{"jsonrpc":"2.0","id":"3","result":"text"}`)
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "ask: what came back can't be read") {
			t.Error(err)
		}
	})
}

// An answer ends its call whatever form its error has, and says what it says.
func TestCall_oddErrors(t *testing.T) {
	long := strings.Repeat("é", maxErrorData)
	for _, c := range []struct {
		answer string // without its number
		says   string // "": no error
		code   int
	}{
		{`"error":{"code":-32000,"message":"log in"}`, "log in", -32000},
		{`"error":{"code":"-32000","message":"log in"}`, "log in", -32000},
		{`"error":{"code":-32000.0,"message":"log in"}`, "log in", -32000},
		{`"error":{"code":"EQUOTA","message":"used up"}`, "EQUOTA: used up", CodeInternalError},
		{`"error":{"code":"EQUOTA"}`, "EQUOTA", CodeInternalError},
		{`"error":{"code":null,"message":"used up"}`, "used up", CodeInternalError},
		{`"error":{"code":[],"message":"used up"}`, "used up", CodeInternalError},
		{`"error":{"message":"used up"}`, "used up", CodeInternalError},
		{`"error":{"code":7}`, "error 7", 7},
		{`"error":{"code":7,"message":null}`, "error 7", 7},
		{`"error":{"code":7,"message":{"text":"x"}}`, `{"text":"x"}`, 7},
		{`"error":{"code":7,"message":["x"]}`, `["x"]`, 7},
		{`"error":{"code":7,"message":5}`, "5", 7},
		{`"error":{"code":7,"message":"a","message":"b"}`, "b", 7},
		{`"error":{"detail":"used up"}`, `{"detail":"used up"}`, CodeInternalError},
		{`"error":{"error":"used up"}`, "used up", CodeInternalError},
		{`"error":"used up"`, "used up", CodeInternalError},
		{`"error":["used up"]`, `["used up"]`, CodeInternalError},
		{`"error":5`, "5", CodeInternalError},
		{`"error":true`, "error -32603", CodeInternalError},
		{`"error":{}`, "error -32603", CodeInternalError},
		{`"error":[]`, "error -32603", CodeInternalError},
		{`"error":""`, "error -32603", CodeInternalError},
		{`"error":{"code":-32603,"message":"Internal error","data":{"details":"used up"}}`, "Internal error: used up", CodeInternalError},
		{`"error":{"code":-32603,"message":"Internal error","data":{"message":"used up"}}`, "Internal error: used up", CodeInternalError},
		{`"error":{"code":-32603,"message":"Internal error","data":"used up"}`, "Internal error: used up", CodeInternalError},
		{`"error":{"code":-32603,"message":"Internal error","data":{"status":429}}`, `Internal error: {"status":429}`, CodeInternalError},
		{`"error":{"code":-32603,"message":"Internal error","data":[1]}`, "Internal error: [1]", CodeInternalError},
		{`"error":{"code":-32603,"message":"used up","data":"used up"}`, "used up", CodeInternalError},
		{`"error":{"code":-32603,"message":"used up","data":null}`, "used up", CodeInternalError},
		{`"error":{"code":-32603,"message":"used up","data":{}}`, "used up", CodeInternalError},
		{`"error":{"code":-32603,"message":"x","data":"` + long + `"}`, "x: " + long[:maxErrorData], CodeInternalError},
		{`"result":{},"error":"used up"`, "used up", CodeInternalError},
		{`"result":null,"error":{"code":7,"message":"no"}`, "no", 7},
		{`"result":{},"error":null`, "", 0},
		{`"result":{},"error":{}`, "", 0},
		{`"result":{},"error":[]`, "", 0},
		{`"result":{},"error":false`, "", 0},
		{`"result":null`, "", 0},
		{`"jsonrpc":2,"result":{}`, "", 0},
		{`"method":null,"result":{}`, "", 0},
		{`"params":7`, "", 0},
	} {
		with(t, func(t *testing.T, p *peer) {
			errs := make(chan error, 1)
			go func() { errs <- p.Call(t.Context(), "ask", nil, nil) }()
			p.line()
			p.says(`{"jsonrpc":"2.0","id":1,` + c.answer + `}`)
			select {
			case err := <-errs:
				is := (*RPCError)(nil)
				if errors.As(err, &is); (err == nil) != (c.says == "") || err != nil && (err.Error() != c.says || is == nil || is.Code != c.code) {
					t.Errorf("%s: %v %+v", c.answer, err, is)
				}
			default:
				t.Errorf("%s: the call waits", c.answer)
			}
		})
	}
}

func TestCall_cancelled(t *testing.T) {
	with(t, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error)
		go func() { errs <- p.Call(ctx, "ask", nil, nil) }()
		p.line()
		why := errors.New("enough")
		cancel(why)
		if err := <-errs; !errors.Is(err, why) {
			t.Error(err)
		}
		if l := p.line(); l != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}` {
			t.Error(l)
		}
		p.says(`{"jsonrpc":"2.0","id":1,"result":{}}`) // too late, and nobody's
	})
}

func TestAnswer(t *testing.T) {
	with(t, func(t *testing.T, p *peer) {
		p.answer = func(ctx context.Context, method string) (any, error) {
			switch method {
			case "slow":
				<-ctx.Done()
				return nil, ctx.Err()
			case "bad":
				return nil, errors.New("it failed")
			case "nothing":
				return nil, nil
			}
			return map[string]string{"is": method}, nil
		}
		for _, c := range []struct{ says, want string }{
			{`{"id":"a","method":"good"}`, `{"jsonrpc":"2.0","id":"a","result":{"is":"good"}}`},
			{`{"id":0,"method":"bad"}`, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"it failed"}}`},
			{`{"id":7,"method":"nothing"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		} {
			p.says(c.says)
			if got := p.line(); got != c.want {
				t.Errorf("%s is answered %s", c.says, got)
			}
		}
		p.says(`{"id":1,"method":"slow"}`, `{"id":1,"method":"slow"}`)
		if got := p.line(); !strings.Contains(got, "a call with this id is being answered") {
			t.Error(got)
		}
		p.says(`{"method":"$/cancel_request","params":{"requestId":1}}`)
		if got := p.line(); !strings.Contains(got, "-32800") {
			t.Error(got)
		}
		for i := range maxInFlight + 1 {
			p.says(fmt.Sprintf(`{"id":%d,"method":"slow"}`, 100+i))
		}
		if got := p.line(); !strings.Contains(got, "64 calls are being answered") {
			t.Error(got)
		}
	})
}

// However the other end ends, or whatever it writes instead of messages, why is said, and calls that wait fail with that.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, says string
		want       string
	}{
		{"at once", "", "it ended"},
		{"after a line that is none", "npm warn old\n", `it ended; it had written "npm warn old"`},
		{"in a message", `{"jsonrpc":"2.0","met`, `it ended in the middle of a message ("{\"jsonrpc\":\"2.0\",\"met")`},
		{"with the last line cut behind it", `{"method":"x"}`, "it ended"},
		{"rubbish without end", strings.Repeat("\x1b[31mlog\xff\n", 9000), `it does not speak the protocol; it wrote "\x1b[31mlog` + "\uFFFD" + `"`},
		{"a line without end", strings.Repeat("x", maxLine+1), "it wrote a message of more than 16 MiB"},
		{"too deep", `{"method":"x","params":` + strings.Repeat("[", maxNoise+1) + "\n", `it does not speak the protocol; it wrote "{\"method\":\"x\",\"params\":[[`},
		{"arrays", strings.Repeat("[1]\n", 30000), `it does not speak the protocol; it wrote "[1]"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			with(t, func(t *testing.T, p *peer) {
				errs := make(chan error)
				go func() { errs <- p.Call(t.Context(), "ask", nil, nil) }()
				p.line()
				go func() {
					_, _ = io.WriteString(p.out, c.says)
					_ = p.out.Close()
				}()
				if err := <-errs; err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				if err := p.Conn.Notify("x", nil); err == nil {
					t.Error("it takes more")
				}
			})
		})
	}
}

// endless is a line without an end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.read += len(b)
	return len(b), nil
}

// A line is given up as soon as it is too long: no more of it is read or kept.
func TestEnds_endless(t *testing.T) {
	var all sync.WaitGroup
	e := &endless{}
	c := NewConn(io.Discard, e, &heard{}, func(_ string, f func()) { all.Go(f) })
	<-c.Done()
	all.Wait()
	if err := c.Err(); e.read > maxLine+1<<20 || !strings.Contains(err.Error(), "it wrote a message of more than 16 MiB") {
		t.Errorf("after %d bytes: %v", e.read, err)
	}
}

// Who says half a line and then nothing is waited for as long as who asks wants to wait.
func TestStalls(t *testing.T) {
	with(t, func(t *testing.T, p *peer) {
		p.says(`{"method":"before"}`)
		_, _ = io.WriteString(p.out, `{"id":1,"resu`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		errs := make(chan error)
		go func() { errs <- p.Call(ctx, "ask", nil, nil) }()
		p.line()
		began := time.Now()
		go p.line() // that it is cancelled
		if err := <-errs; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour || p.heard.all() != "before" {
			t.Error(err, p.heard.all())
		}
		go func() { errs <- p.Call(t.Context(), "again", nil, nil) }()
		p.line()
		p.says(`lt":{}}`, `{"id":2,"result":{}}`) // it goes on after all
		if err := <-errs; err != nil {
			t.Error(err)
		}
	})
}

// A flood is heard at the pace of who hears it: what was not heard waits at the other end.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := io.Pipe()
		var all sync.WaitGroup
		slow := &slow{goes: make(chan struct{})}
		c := NewConn(io.Discard, r, slow, func(_ string, f func()) { all.Go(f) })
		said := 0
		all.Go(func() {
			line := []byte(`{"method":"x","params":"` + strings.Repeat("x", 100) + "\"}\n")
			for range 100_000 {
				if _, err := out.Write(line); err != nil {
					t.Error(err)
				}
				said++
			}
			_ = out.Close()
		})
		synctest.Wait()
		if said > 2000 {
			t.Errorf("%d are said, none is heard", said)
		}
		close(slow.goes)
		<-c.Done()
		all.Wait()
		if slow.heard != 100_000 {
			t.Errorf("%d are heard", slow.heard)
		}
	})
}

// slow is a hearer that waits.
type slow struct {
	goes  chan struct{}
	heard int
}

func (s *slow) Notify(string, json.RawMessage) {
	<-s.goes
	s.heard++
}

func (s *slow) Answer(context.Context, string, json.RawMessage) (any, error) { return nil, nil }

// Who takes nothing is told of, when much waits or when it closes its end.
func TestTakesNothing(t *testing.T) {
	with(t, func(t *testing.T, p *peer) {
		text := strings.Repeat("x", 1<<20)
		var err error
		for i := 0; err == nil && i < 100; i++ {
			err = p.Conn.Notify("x", text)
		}
		if err == nil || !strings.Contains(err.Error(), "does not take what it is sent") {
			t.Error(err)
		}
	})
	with(t, func(t *testing.T, p *peer) {
		_ = p.in.Close()
		if err := p.Conn.Notify("x", nil); err != nil {
			t.Error(err)
		}
		began := time.Now()
		<-p.Done()
		if err := p.Err(); !strings.Contains(err.Error(), "it takes nothing more") || time.Since(began) != pipeGrace {
			t.Error(err, time.Since(began))
		}
	})
}

// FuzzHear: whatever comes, nothing panics and the connection ends with its input.
func FuzzHear(f *testing.F) {
	for _, s := range []string{`{"id":1,"method":"x"}`, "{}\n{\"id\":null}\n", `{"method":"$/cancel_request","params":{"requestId":{}}}`, "\xff\n[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var all sync.WaitGroup
		c := NewConn(io.Discard, bytes.NewReader(text), &heard{}, func(_ string, f func()) { all.Go(f) })
		<-c.Done()
		all.Wait()
	})
}
