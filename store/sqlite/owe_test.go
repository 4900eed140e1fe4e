package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sum is paid as one note that lists what was added.
type sum struct {
	added []string
	fails bool
}

func (s *sum) Pay(tx *Tx) error {
	if s.fails {
		return errors.New("it can't be paid")
	}
	if len(s.added) == 0 {
		return nil
	}
	text := "paid " + strings.Join(s.added, "+")
	s.added = nil
	return note(tx, text)
}

type sumKey struct{}

func owes(tx *Tx, what string) *sum {
	s := Owe(tx, sumKey{}, func() Debt { return &sum{} }).(*sum)
	s.added = append(s.added, what)
	return s
}

// The debts of a batch are paid once, before the commit, or when one of its transactions asks.
func TestOwe(t *testing.T) {
	owe := func(what string) func(*Tx) error {
		return func(tx *Tx) error { owes(tx, what); return nil }
	}
	for _, c := range []struct {
		name string
		do   []func(*Tx) error
		errs []bool
		want []string
	}{
		{"once", []func(*Tx) error{owe("a"), owe("b"), owe("c")}, []bool{false, false, false}, []string{"paid a+b+c"}},
		{
			"asked for",
			[]func(*Tx) error{owe("a"), func(tx *Tx) error {
				owes(tx, "b")
				if err := Settle(&tx.View); err != nil {
					return err
				}
				if ok, err := noted(&tx.View, "paid a+b"); !ok || err != nil {
					return fmt.Errorf("it is not there: %w", err)
				}
				return nil
			}, owe("c")},
			[]bool{false, false, false},
			[]string{"paid a+b", "paid c"},
		},
		{
			"one fails",
			[]func(*Tx) error{owe("a"), func(tx *Tx) error {
				owes(tx, "b")
				return errors.New("no")
			}, owe("c")},
			[]bool{false, true, false},
			[]string{"paid a", "paid c"},
		},
		{
			"paying fails",
			[]func(*Tx) error{owe("a"), func(tx *Tx) error {
				owes(tx, "b").fails = true
				return nil
			}, owe("c")},
			[]bool{false, true, false},
			[]string{"paid a", "paid c"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := fresh(t)
			for i, err := range batch(t, db, c.do...) {
				if (err != nil) != c.errs[i] {
					t.Errorf("write %d: %v", i, err)
				}
			}
			if got := notes(t, db); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			read(t, db, func(rx *Rx) error { return Settle(&rx.View) }) // without debts
		})
	}
}
