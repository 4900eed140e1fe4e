package figures

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// table is what one benchmark measured: rows of a figure of each program.
type table struct {
	b      *testing.B
	rows   []*row
	began  time.Time
	stolen time.Duration // before it began
}

// row is one figure, measured in turns: the n-th of one program beside the n-th of another.
type row struct {
	what, unit, wanted string
	part               float64 // of the values in order: 0.5 is the median
	of                 map[program][]float64
}

func newTable(b *testing.B) *table {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	t := &table{b: b, began: time.Now(), stolen: stolen()}
	b.Cleanup(t.print)
	return t
}

// row is the row of that name, made if there is none.
func (t *table) row(what, unit, wanted string) *row {
	for _, r := range t.rows {
		if r.what == what {
			return r
		}
	}
	r := &row{what: what, unit: unit, wanted: wanted, part: 0.5, of: map[program][]float64{}}
	t.rows = append(t.rows, r)
	return r
}

func (r *row) add(p program, v float64) { r.of[p] = append(r.of[p], v) }

func (r *row) ms(p program, d time.Duration) { r.add(p, float64(d.Microseconds())/1000) }

// also adds a row of another part of the same values.
func (t *table) also(r *row, part float64, wanted string) {
	c := *r
	c.what, c.part, c.wanted = fmt.Sprintf("%s, p%.0f", r.what, 100*part), part, wanted
	t.rows = append(t.rows, &c)
}

// at is a part of values in order.
func at(vs []float64, part float64) float64 {
	vs = slices.Sorted(slices.Values(vs))
	return vs[int(part*float64(len(vs)-1)+0.5)]
}

func (r *row) value(p program) float64 { return at(r.of[p], r.part) }

// ratio is ours to p's: the median of the turns' ratios, or that of the parts.
func (r *row) ratio(p program) (float64, bool) {
	a, b := r.of[ours], r.of[p]
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	if r.part != 0.5 {
		return r.value(ours) / r.value(p), r.value(p) != 0
	}
	var each []float64
	for i := range a {
		if b[i] != 0 {
			each = append(each, a[i]/b[i])
		}
	}
	if len(each) == 0 {
		return 0, false
	}
	return at(each, 0.5), true
}

// print reports all rows.
func (t *table) print() {
	if t.b.Failed() {
		return
	}
	var text strings.Builder
	gone := (stolen() - t.stolen).Seconds() / time.Since(t.began).Seconds() / float64(runtime.NumCPU())
	fmt.Fprintf(&text, "load %s, %.1f %% of the time was stolen from the machine\n", load(), 100*gone)
	for _, r := range t.rows {
		fmt.Fprintf(&text, "%-44s", r.what)
		n := 0
		for _, p := range []program{ours, other, empty} {
			if len(r.of[p]) == 0 {
				continue
			}
			n = len(r.of[p])
			fmt.Fprintf(&text, " %s %9.2f", p, r.value(p))
			if q, ok := r.ratio(p); ok && p != ours {
				fmt.Fprintf(&text, " (x%.2f)", q)
			}
			t.b.ReportMetric(r.value(p), fmt.Sprintf("%s/%s/%s", p, strings.NewReplacer(" ", "-", ",", "").Replace(r.what), r.unit))
		}
		fmt.Fprintf(&text, " %s, n=%d", r.unit, n)
		if r.wanted != "" {
			fmt.Fprintf(&text, ", wanted %s", r.wanted)
		}
		text.WriteByte('\n')
	}
	t.b.Log(text.String())
}

func TestRow(t *testing.T) {
	r := row{part: 0.5, of: map[program][]float64{ours: {2, 40, 6}, other: {1, 10, 2}, empty: {0, 0, 0}}}
	if q, ok := r.ratio(other); !ok || q != 3 || r.value(ours) != 6 || r.value(other) != 2 {
		t.Error(q, ok, r.value(ours), r.value(other))
	}
	if _, ok := r.ratio(empty); ok {
		t.Error("a ratio to nothing")
	}
	r.part = 1
	if q, ok := r.ratio(other); !ok || q != 4 {
		t.Error(q, ok)
	}
}
