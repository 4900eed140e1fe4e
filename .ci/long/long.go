// Package long says how much tests try that draw what they do.
//
// Does: give a test few rounds in an ordinary run and many in a long one, which .ci/run asks for with
// FANTAIL_TEST_LONG=1; with FANTAIL_TEST_LONG=10 ten times as many. Give it the seed of what it draws, which
// FANTAIL_TEST_SEED repeats.
//
// Does not: know what a test proves. Few rounds are enough to see that it can fail.
package long

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Times is how often a test tries: few times, or many in a long run.
func Times(few, many int) int {
	if n, err := strconv.Atoi(os.Getenv("FANTAIL_TEST_LONG")); err == nil && n > 0 {
		return many * n
	}
	return few
}

// Wanted reports whether this is a long run.
func Wanted() bool { return Times(0, 1) > 0 }

// Seed is where what a test draws begins. It is another each time, and the test tells it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("FANTAIL_TEST_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("FANTAIL_TEST_SEED=%d", seed)
	return seed
}

// Some are the cases that a test tries: few that are drawn, in their order, or all in a long run.
func Some[T any](t testing.TB, few int, all []T) []T {
	t.Helper()
	if Wanted() || few >= len(all) {
		return all
	}
	drawn := rand.New(rand.NewPCG(Seed(t), 0)).Perm(len(all))[:few]
	slices.Sort(drawn)
	some := make([]T, 0, few)
	for _, i := range drawn {
		some = append(some, all[i])
	}
	return some
}

// SomeOf is Some of a map.
func SomeOf[K cmp.Ordered, V any](t testing.TB, few int, all map[K]V) map[K]V {
	t.Helper()
	some := map[K]V{}
	for _, k := range Some(t, few, slices.Sorted(maps.Keys(all))) {
		some[k] = all[k]
	}
	return some
}
