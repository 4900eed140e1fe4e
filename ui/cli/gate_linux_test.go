package cli_test

import "testing"

// The start gate answers --version itself, with what the program would answer.
func TestVersionIsTheGates(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	want, byGate := s.line(t, `"$0" --yolo --version`)
	if byGate || want.code != ok {
		t.Fatalf("%+v, by the gate: %v", want, byGate)
	}
	for _, line := range []string{`"$0" --version`, `"$0" -v`} {
		if o, gate := s.line(t, line); o != want || !gate {
			t.Errorf("%s: %+v, by the gate: %v; want %+v", line, o, gate, want)
		}
	}
	// What can't be written is the program's to report.
	want, _ = s.line(t, `"$0" --yolo --version > /dev/full`)
	if o, _ := s.line(t, `"$0" --version > /dev/full`); o != want || o.code == ok {
		t.Errorf("%+v, want %+v", o, want)
	}
}
