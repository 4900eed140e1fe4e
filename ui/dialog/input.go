package dialog

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"fantail/ui/frame"
)

// input is a line of text: clusters, and the cursor before one of them.
type input struct {
	cells []string
	at    int
}

func (in *input) value() string { return strings.Join(in.cells, "") }

// insert puts s at the cursor; line ends become blanks.
func (in *input) insert(s string) {
	s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
	if in.at > 0 {
		in.at--
		s = in.cells[in.at] + s
		in.cells = slices.Delete(in.cells, in.at, in.at+1)
	}
	var cells []string
	for s != "" {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		n := max(1, len(cluster))
		cells = append(cells, s[:n])
		s = s[n:]
	}
	in.cells = slices.Insert(in.cells, in.at, cells...)
	in.at += len(cells)
}

// key edits; false: the key is not for a line of text.
func (in *input) key(key, typed string) bool {
	if typed != "" {
		in.insert(typed)
		return true
	}
	from, to := in.at, in.at
	switch key {
	case "left", "ctrl+b":
		in.at = max(0, in.at-1)
	case "right", "ctrl+f":
		in.at = min(len(in.cells), in.at+1)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.cells)
	case "backspace", "shift+backspace", "ctrl+h":
		from = max(0, in.at-1)
	case "delete":
		to = min(len(in.cells), in.at+1)
	case "ctrl+u":
		from = 0
	case "ctrl+k":
		to = len(in.cells)
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		for from > 0 && in.cells[from-1] == " " {
			from--
		}
		for from > 0 && in.cells[from-1] != " " {
			from--
		}
	default:
		return false
	}
	if from < to {
		in.cells = slices.Delete(in.cells, from, to)
		in.at = from
	}
	return true
}

// view is the part of the line around the cursor that fits w columns, clean,
// and the cursor's column in it.
func (in *input) view(w int) (string, int) {
	w = max(w, 2)
	shown := func(c string) string {
		if d := frame.CleanLine(c); frame.Width(d) > 0 {
			return d
		}
		return frame.CleanLine(frame.Reveal(c))
	}
	from, x := in.at, 0
	for from > 0 {
		cw := frame.Width(shown(in.cells[from-1]))
		if x+cw > w-1 {
			break
		}
		from--
		x += cw
	}
	var line strings.Builder
	used := 0
	for _, c := range in.cells[from:] {
		d := shown(c)
		if used += frame.Width(d); used > w {
			break
		}
		line.WriteString(d)
	}
	return line.String(), x
}
