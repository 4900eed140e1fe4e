package panel

import (
	"strings"
	"testing"

	"fantail/ui/dialog"
)

// All lanes count whatever shows; each stands once below its name, also where the rows of two alternate.
func TestGrouped(t *testing.T) {
	lanes := []dialog.Lane{{Name: "One"}, {Name: "Two"}, {Name: "None"}}
	for _, c := range []struct {
		want  query
		shows string
	}{
		{query{lane: -1}, "One: a Ac Two: b d"},
		{query{lane: -1, search: "A"}, "One: a Ac"},
		{query{lane: 1}, "b d"},
		{query{lane: 1, search: "a"}, ""},
		{query{lane: 2}, ""},
	} {
		r := grouped(lanes, []string{"a", "b", "Ac", "d"}, c.want, func(s string) (dialog.Line, string) {
			l := dialog.Line{ID: 1, Text: s}
			if s == "b" || s == "d" {
				l.Lane = 1
			}
			return l, s
		})
		var shows []string
		for _, l := range r.lines {
			if l.ID == 0 {
				l.Text += ":"
			}
			shows = append(shows, l.Text)
		}
		if got := strings.Join(shows, " "); got != c.shows {
			t.Errorf("%+v shows %q, want %q", c.want, got, c.shows)
		}
		if r.lanes[0].Count != 2 || r.lanes[1].Count != 2 || r.lanes[2].Count != 0 || lanes[0].Count != 0 {
			t.Errorf("%+v counts %+v, of %+v", c.want, r.lanes, lanes)
		}
	}
}
