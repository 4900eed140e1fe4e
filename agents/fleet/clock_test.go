package fleet_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
)

// watch gives an agent a clock and returns when it rang: zero, it has not.
func watch(a *fleet.Agent, limit time.Duration) (rang func() time.Duration) {
	from, at := time.Now(), time.Duration(0)
	a.Watch(limit, func(cause error) {
		if errors.Is(cause, fleet.ErrTimeout) && at == 0 {
			at = time.Since(from)
		}
	})
	return func() time.Duration {
		synctest.Wait()
		return at
	}
}

// TestClock: a task times out at its limit. Its clock stops while its agent asks, and while its agent waits for one
// below that asks; not if it runs meanwhile.
func TestClock(t *testing.T) {
	const minute = time.Minute
	for _, c := range []struct {
		what string
		do   func(b *bare, boss, kid *fleet.Agent)
		boss time.Duration // when its clock rings
		kid  time.Duration
	}{
		{"both run", func(*bare, *fleet.Agent, *fleet.Agent) {}, 10 * minute, 10 * minute},
		{"the lower one asks", func(_ *bare, _, kid *fleet.Agent) { ask(kid, 4*minute) }, 10 * minute, 14 * minute},
		{"it asks twice", func(_ *bare, _, kid *fleet.Agent) { ask(kid, 4*minute); ask(kid, 3*minute) }, 10 * minute, 17 * minute},
		{"the upper one waits for it", func(_ *bare, boss, kid *fleet.Agent) {
			boss.Set(is(event.Waiting))
			ask(kid, 4*minute)
		}, 14 * minute, 14 * minute},
		{"the upper one begins to wait later", func(_ *bare, boss, kid *fleet.Agent) {
			kid.Asking(&event.Question{})
			pass(minute)
			boss.Set(is(event.Waiting))
			pass(3 * minute)
			kid.Heard(&event.Answer{})
		}, 13 * minute, 14 * minute},
		{"the upper one asks", func(_ *bare, boss, _ *fleet.Agent) { ask(boss, 4*minute) }, 14 * minute, 10 * minute},
		{"it waits for nobody who asks", func(_ *bare, boss, _ *fleet.Agent) { boss.Set(is(event.Waiting)) }, 10 * minute, 10 * minute},
		{"more time", func(b *bare, _, _ *fleet.Agent) { b.hold(func() { b.Extend(20, 12*minute) }) }, 10 * minute, 12 * minute},
		{"less time", func(b *bare, _, _ *fleet.Agent) { b.hold(func() { b.Extend(20, 5*minute) }) }, 10 * minute, 10 * minute},
		{"more time while it asks", func(b *bare, _, kid *fleet.Agent) {
			kid.Asking(&event.Question{})
			pass(minute)
			b.hold(func() { b.Extend(20, 12*minute) })
			pass(3 * minute)
			kid.Heard(&event.Answer{})
		}, 10 * minute, 16 * minute},
		{"it has ended", func(_ *bare, _, kid *fleet.Agent) { kid.Spent() }, 10 * minute, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newFleet(t, fleet.Options{})
			boss := b.open(event.Info{ID: 1, Kind: event.Sub, Task: 10})
			kid := b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1, Task: 20})
			bossRang, kidRang := watch(boss, 10*minute), watch(kid, 10*minute)
			pass(3 * minute)
			c.do(b, boss, kid)
			pass(time.Hour)
			if bossRang() != c.boss || kidRang() != c.kid {
				t.Errorf("%s: they ring after %s and %s, want %s and %s", c.what, bossRang(), kidRang(), c.boss, c.kid)
			}
			boss.Spent()
			kid.Spent()
		})
	}
}

// pass lets fake time pass.
func pass(d time.Duration) { <-time.After(d) }

// ask makes an agent ask for that long.
func ask(a *fleet.Agent, d time.Duration) {
	a.Asking(&event.Question{})
	pass(d)
	a.Heard(&event.Answer{})
}

// TestClock_shows: a clock that rings shows that commands are being ended if that takes time; without a limit there is
// no clock.
func TestClock_shows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, hastens := range []bool{false, true} {
			b := newFleet(t, fleet.Options{})
			a := b.open(event.Info{ID: 1, Kind: event.Sub, Doing: "tool bash"})
			a.Working("c", "make")
			if hastens {
				a.Hastens(func() {})
			}
			never := watch(a, 0)
			pass(time.Hour)
			rang := watch(a, time.Minute)
			pass(time.Hour)
			if never() != 0 || rang() != time.Minute || (a.Known().Doing == "ending") != hastens {
				t.Errorf("hastens %t: rang after %s and %s, shows %q", hastens, never(), rang(), a.Known().Doing)
			}
			a.Spent()
		}
	})
}
