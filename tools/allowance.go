package tools

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount is a number of tokens, or of millionths of a dollar. The zero value is none.
type Amount struct {
	N     int64
	Money bool
}

// maxAmount is more than anyone spends, and far below an overflow.
const maxAmount = 1e12

// ParseAmount reads 50000, 50k, 1.5M, $2, $0.50. It does not accept zero.
func ParseAmount(s string) (Amount, error) {
	wrong := fmt.Errorf("%q is no budget: it is tokens (50000, 50k, 1.5M) or dollars ($2, $0.50)", s)
	digits, money := strings.CutPrefix(s, "$")
	unit := 1.0
	switch {
	case money:
		unit = 1e6
	case strings.HasSuffix(digits, "k"), strings.HasSuffix(digits, "K"):
		digits, unit = digits[:len(digits)-1], 1e3
	case strings.HasSuffix(digits, "m"), strings.HasSuffix(digits, "M"):
		digits, unit = digits[:len(digits)-1], 1e6
	}
	if digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return Amount{}, wrong
	}
	x, err := strconv.ParseFloat(digits, 64)
	n := math.Round(x * unit)
	if err != nil || n < 1 || n > maxAmount {
		return Amount{}, wrong
	}
	return Amount{int64(n), money}, nil
}

// String formats it so that ParseAmount can read it; "" is none.
func (a Amount) String() string {
	switch {
	case a.N == 0:
		return ""
	case a.Money && a.N%1e4 == 0 && a.N%1e6 != 0:
		return fmt.Sprintf("$%.2f", float64(a.N)/1e6)
	case a.Money:
		return "$" + strconv.FormatFloat(float64(a.N)/1e6, 'f', -1, 64)
	case a.N%1e6 == 0:
		return strconv.FormatInt(a.N/1e6, 10) + "M"
	case a.N%1e3 == 0:
		return strconv.FormatInt(a.N/1e3, 10) + "k"
	}
	return strconv.FormatInt(a.N, 10)
}

// Percent is used in percent of a, rounded down.
func (a Amount) Percent(used int64) int64 { return used * 100 / max(1, a.N) }

// Used formats used as a part of a: 41.2k of 50k tokens (82%).
func (a Amount) Used(used int64) string {
	text, of := fmt.Sprintf("$%.2f", float64(used)/1e6), a.String()
	if !a.Money {
		text, of = tokens(used), of+" tokens"
	}
	return fmt.Sprintf("%s of %s (%d%%)", text, of, a.Percent(used))
}

// tokens formats a number of tokens in few characters, rounded down.
func tokens(n int64) string {
	switch {
	case n >= 1e6:
		return strconv.FormatFloat(math.Floor(float64(n)/1e4)/100, 'f', -1, 64) + "M"
	case n >= 1e3:
		return strconv.FormatFloat(math.Floor(float64(n)/1e2)/10, 'f', -1, 64) + "k"
	}
	return strconv.FormatInt(n, 10)
}
