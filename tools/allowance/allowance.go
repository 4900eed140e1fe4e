// Package allowance is how much work may cost: so many tokens, or so much money.
//
// Does: read an amount as people and models write it, spell it, say how much of it is used.
//
// Does not: know whose it is, or count.
//
// Imports: nothing of ours.
package allowance

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount is so much: of tokens, or of millionths of a dollar. The zero value is none.
type Amount struct {
	N     int64
	Money bool
}

// most is more than anybody spends, and far below what overflows.
const most = 1e12

// Parse reads 50000, 50k, 1.5M, $2, $0.50. None of them is nothing.
func Parse(s string) (Amount, error) {
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
	if err != nil || n < 1 || n > most {
		return Amount{}, wrong
	}
	return Amount{int64(n), money}, nil
}

// String spells it as Parse reads it; "" is none.
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

// Percent is how much of it so much is, rounded down.
func (a Amount) Percent(used int64) int64 { return used * 100 / max(1, a.N) }

// Used says how much of it is used: 41.2k of 50k tokens (82%).
func (a Amount) Used(used int64) string {
	text, of := fmt.Sprintf("$%.2f", float64(used)/1e6), a.String()
	if !a.Money {
		text, of = tokens(used), of+" tokens"
	}
	return fmt.Sprintf("%s of %s (%d%%)", text, of, a.Percent(used))
}

// tokens is a number of tokens in few characters, rounded down.
func tokens(n int64) string {
	switch {
	case n >= 1e6:
		return strconv.FormatFloat(math.Floor(float64(n)/1e4)/100, 'f', -1, 64) + "M"
	case n >= 1e3:
		return strconv.FormatFloat(math.Floor(float64(n)/1e2)/10, 'f', -1, 64) + "k"
	}
	return strconv.FormatInt(n, 10)
}
