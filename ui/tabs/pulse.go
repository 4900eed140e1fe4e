package tabs

import (
	"math/bits"
	"time"

	"fantail/agents/event"
)

// A pulse has a cell for each of the last six slots of two seconds.
const (
	pulseCells = 6
	pulseSlot  = 2 * time.Second
)

// pulse counts the bytes that an agent wrote in each slot.
type pulse struct {
	slot  int64 // the newest, counted from the zero Unix time
	bytes [pulseCells]int
}

// pass makes the slot of now the newest one.
func (p *pulse) pass(now time.Time) {
	slot := now.UnixNano() / int64(pulseSlot)
	for n := min(slot-p.slot, pulseCells); n > 0; n-- {
		p.bytes[(slot-n+1)%pulseCells] = 0
	}
	p.slot = max(slot, p.slot)
}

func (p *pulse) add(now time.Time, bytes int) {
	p.pass(now)
	p.bytes[p.slot%pulseCells] += bytes
}

// bars are the signs of a slot without bytes, with up to 32 of them, and with ever twice as many.
var bars = [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇"}

// cells draws the slots, the oldest first.
func (p *pulse) cells(now time.Time) string {
	p.pass(now)
	s := ""
	for i := int64(1); i <= pulseCells; i++ {
		n := p.bytes[(p.slot+i)%pulseCells]
		s += bars[min(bits.Len(uint(max(n, 0)+31)/32), len(bars)-1)]
	}
	return s
}

// Heard notes that the agent wrote so many bytes just now.
func (t *Tab) Heard(bytes int) {
	t.Active = t.of.Now()
	t.pulse.add(t.Active, bytes)
}

// Pulse returns six cells that show how much an agent at work wrote in each two seconds of the last twelve; "": it
// does not work, or nothing may move. It changes with the clock of a tab, so it needs no tick of its own.
func (t *Tab) Pulse() string {
	if t.of.Still || t.Info.State != event.Running {
		return ""
	}
	return t.pulse.cells(t.of.Now())
}
