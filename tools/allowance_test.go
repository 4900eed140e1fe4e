package tools

import "testing"

func TestParse(t *testing.T) {
	for in, want := range map[string]Amount{
		"50000": {50_000, false}, "50k": {50_000, false}, "50K": {50_000, false}, "1.5M": {1_500_000, false},
		"$2": {2_000_000, true}, "$0.50": {500_000, true}, "$0.000001": {1, true},
		"": {}, "0": {}, "$0": {}, "-5": {}, "k": {}, "$": {}, "5x": {}, "1e9": {}, "NaN": {}, "inf": {}, "1.2.3": {},
		"9999999999999": {}, "$$2": {}, "$2k": {}, "0.2": {},
	} {
		got, err := ParseAmount(in)
		if got != want || (err != nil) != (want == Amount{}) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
		if again, err := ParseAmount(got.String()); want != (Amount{}) && (again != want || err != nil) {
			t.Errorf("%q spelled %q: %+v, %v", in, got, again, err)
		}
	}
}

func TestAmount_used(t *testing.T) {
	for _, c := range []struct {
		of   Amount
		used int64
		want string
	}{
		{Amount{50_000, false}, 41_290, "41.2k of 50k tokens (82%)"},
		{Amount{900, false}, 0, "0 of 900 tokens (0%)"},
		{Amount{2_000_000, true}, 1_640_000, "$1.64 of $2 (82%)"},
		{Amount{500_000, true}, 600_000, "$0.60 of $0.50 (120%)"},
		{Amount{1_500_000, false}, 1_499_999, "1.49M of 1500k tokens (99%)"},
	} {
		if got := c.of.Used(c.used); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
