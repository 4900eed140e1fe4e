package figures

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// BenchmarkDeposit measures from a message on its way to the count on the screen
// of a program where nobody does anything: one sent with /send, from the key that
// sends it, and one sent by another process, from that process's start.
func BenchmarkDeposit(b *testing.B) {
	s := newSite(b, serve(b, 0, 0).base)
	f, n := measure(b), sizes().keys
	t := open(b, s, programEnv)
	pending := 0
	seen := func(name string, began time.Time) {
		b.Helper()
		pending++
		f.ms(name, t.see(fmt.Sprintf("%d pending]", pending)).Sub(began))
		pause(50 * time.Millisecond)
	}
	for i := range n {
		text := fmt.Sprintf("/send main number %d", i)
		t.send(text)
		t.see(text)
		began := time.Now()
		t.send("\r")
		seen("inside-ms", began)
	}
	for i := range n {
		c := s.command(programEnv)
		c.Args = append(c.Args, "send", "main", fmt.Sprintf("run %d is red", i))
		var errs bytes.Buffer
		c.Stderr = &errs
		began := time.Now()
		if err := c.Run(); err != nil {
			b.Fatal(err, errs.String())
		}
		f.ms("command-ms", time.Since(began))
		seen("outside-ms", began)
	}
	t.stop()
	for _, name := range []string{"inside-ms", "outside-ms", "command-ms"} {
		f.report(name+"-p99", f.at(name, 0.99))
	}
	b.Logf("%d each, load %s", n, load())
	b.Logf("deposit to count on screen: inside p50 %.1f p99 %.1f ms (wanted 250); from another process p50 %.1f p99 %.1f ms (wanted 1000), of which the command itself p50 %.1f p99 %.1f ms",
		f.at("inside-ms", 0.5), f.at("inside-ms", 0.99), f.at("outside-ms", 0.5), f.at("outside-ms", 0.99), f.at("command-ms", 0.5), f.at("command-ms", 0.99))
}
