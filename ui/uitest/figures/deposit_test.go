package figures

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkDeposit measures from a message on its way to the count on the screen
// of a program where nobody does anything: one sent with /send, from the key that
// sends it, and one sent by another process, from that process's start.
func BenchmarkDeposit(b *testing.B) {
	t := newTable(b)
	var ms []*terminal
	for _, s := range sites(b, fantails(), model{}) {
		m := s.open()
		defer m.stop()
		ms = append(ms, m)
	}
	inside, outside := t.row("deposit to count: by the human", "ms", ""), t.row("deposit to count: by a command", "ms", "")
	for i := range 5 * rounds() {
		for _, m := range ms {
			text := fmt.Sprintf("/send main number %d", i)
			m.send(text)
			m.see(text)
			began := time.Now()
			m.send("\r")
			inside.ms(m.site.program, m.see(fmt.Sprintf("%d pending]", 2*i+1)).Sub(began))
			pause(20 * time.Millisecond)
			began = time.Now()
			m.site.run("send", "main", fmt.Sprintf("run %d is red", i))
			outside.ms(m.site.program, m.see(fmt.Sprintf("%d pending]", 2*i+2)).Sub(began))
			pause(20 * time.Millisecond)
		}
	}
	t.also(inside, 0.99, "")
	t.also(outside, 0.99, "")
}
