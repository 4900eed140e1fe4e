package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/adhocore/gronx"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func at(t testing.TB, loc *time.Location, s string) time.Time {
	t.Helper()
	if u, err := time.Parse(time.RFC3339, s); err == nil {
		return u.In(loc)
	}
	u, err := time.ParseInLocation(stamp, s, loc)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParseWhen(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	now := at(t, berlin, "2026-11-25 12:30") // a Wednesday
	for _, c := range []struct{ text, first, what, rest string }{
		{"30m tea", "2026-11-25 13:00", "in 30m", "tea"},
		{"in 30m: tea", "2026-11-25 13:00", "in 30m", "tea"},
		{"30 minutes tea", "2026-11-25 13:00", "in 30m", "tea"},
		{"in an hour tea", "2026-11-25 13:30", "in 1h", "tea"},
		{"1h30m tea", "2026-11-25 14:00", "in 1h30m", "tea"},
		{"2d tea", "2026-11-27 12:30", "in 2d", "tea"},
		{"14:00 tea\n  with milk", "2026-11-25 14:00", "at Wed 2026-11-25 14:00", "tea\n  with milk"},
		{"9:00 tea", "2026-11-26 09:00", "at Thu 2026-11-26 09:00", "tea"},
		{"at 9pm tea", "2026-11-25 21:00", "at Wed 2026-11-25 21:00", "tea"},
		{"noon tea", "2026-11-26 12:00", "at Thu 2026-11-26 12:00", "tea"},
		{"tomorrow 9:00 tea", "2026-11-26 09:00", "at Thu 2026-11-26 09:00", "tea"},
		{"tomorrow at 9am tea", "2026-11-26 09:00", "at Thu 2026-11-26 09:00", "tea"},
		{"wednesday 10:00 tea", "2026-12-02 10:00", "at Wed 2026-12-02 10:00", "tea"},
		{"wed 13:00 tea", "2026-11-25 13:00", "at Wed 2026-11-25 13:00", "tea"},
		{"monday 10:00 tea", "2026-11-30 10:00", "at Mon 2026-11-30 10:00", "tea"},
		{"at 2026-12-24 18:00 tea", "2026-12-24 18:00", "at Thu 2026-12-24 18:00", "tea"},
		{"2026-12-24T18:00:00Z tea", "2026-12-24 19:00", "at Thu 2026-12-24 19:00", "tea"},
		{"every 30m tea", "2026-11-25 13:00", "every 30m", "tea"},
		{"every hour tea", "2026-11-25 13:30", "every 1h", "tea"},
		{"every monday 10:00 tea", "2026-11-30 10:00", "every monday 10:00", "tea"},
		{"every weekday at 9:00 tea", "2026-11-26 09:00", "every weekday 9:00", "tea"},
		{"every weekend 9:00 tea", "2026-11-28 09:00", "every weekend 9:00", "tea"},
		{"every day 9:05 tea", "2026-11-26 09:05", "every day 9:05", "tea"},
		{"cron 30 9 * * 1-5 tea", "2026-11-26 09:30", "cron 30 9 * * 1-5", "tea"},
		{`cron "0 0 29 2 *" tea`, "2028-02-29 00:00", "cron 0 0 29 2 *", "tea"},
		{"cron @daily tea", "2026-11-26 00:00", "cron @daily", "tea"},
	} {
		w, rest, err := ParseWhen(c.text, now)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		first, err := w.First(now)
		if got := first.Format(stamp); err != nil || got != c.first || w.Text != c.what || rest != c.rest {
			t.Errorf("%q: %s, %q, rest %q, %v", c.text, got, w.Text, rest, err)
		}
		if err := w.Check(now, 5*time.Minute); err != nil {
			t.Errorf("%q is refused: %v", c.text, err)
		}
	}
	for text, want := range map[string]string{
		"tea":                              "say when",
		"":                                 "say when",
		"every tea":                        "say when",
		"every monday tea":                 "at what time",
		"tomorrow tea":                     "at what time",
		"in tea":                           "no duration",
		"25:00 tea":                        "say when",
		"0m tea":                           "say when",
		"-5m tea":                          "say when",
		"99999999999999h tea":              "say when",
		"cron 0 0 30 2 * tea":              "never due",
		"cron 61 0 * * * tea":              "not understood",
		"cron @often":                      "not understood",
		"cron 5 4":                         "five",
		"every 4m tea":                     "5m is the least",
		"cron */4 * * * * tea":             "5m is the least",
		"cron */7 * * * * tea":             "after 4m", // 56 and 0
		"cron 58,2 1 * * * tea":            "after 4m",
		"2026-11-25T11:00:00Z tea":         "is over",
		"today 9:00 tea":                   "is over",
		"2026-11-24 9:00 tea":              "is over",
		"400w 400w tea":                    "is followed by",
		"600w tea":                         "ten years",
		"at 2099-01-01 00:00 tea":          "ten years",
		strings.Repeat("1w", 100) + " tea": "",
	} {
		w, _, err := ParseWhen(text, now)
		if err == nil {
			err = w.Check(now, 5*time.Minute)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %+v", text, err, w)
		}
	}
}

// TestParse_goesOn: a beginning that is a time by itself is not taken for the whole.
func TestParse_goesOn(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 30, 0, 0, time.UTC) // a Wednesday
	const seconds, more = "leave out the seconds", "is followed by"
	for _, c := range []struct{ text, want, rest string }{
		// six fields and more
		{"cron 0 0 9 * * * tea", seconds, ""},
		{"cron 0 0 9 * * * 2027 tea", seconds, ""},
		{"cron 0 0 9 ? * MON-FRI tea", seconds, ""},
		{"cron 0 0 9 * * 1 tea", seconds, ""},
		{"cron 0 */5 * * * * tea", seconds, ""},
		{"cron */30 * * * * * tea", seconds, ""},
		{"cron 0 0 9 * * sun,sat tea", seconds, ""},
		{"cron 0 0 9 ? * 6L tea", seconds, ""},
		{"cron 0 0 9 ? * 2#1 tea", seconds, ""},
		{"cron 0 9 * * 1 2026 tea", seconds, ""},
		{"cron 0 9 * * * 5 teas", seconds, ""},
		{"cron 0 9 * * * *", seconds, ""},
		{"cron 0 9 * * * 1-5/2", seconds, ""},
		{`cron "0 0 9 * * *" tea`, "has 6 fields", ""},
		{`cron '0 0 9 * * *' tea`, "has 6 fields", ""},
		{`cron "0 9 * * *" 5 teas`, "cron 0 9 * * *", "5 teas"},
		{`cron "0 9 * * *" * tea`, "cron 0 9 * * *", "* tea"},
		{"cron 0 9 * * * make tea", "cron 0 9 * * *", "make tea"},
		{"cron 0 9 * * * !make 5", "cron 0 9 * * *", "!make 5"},
		{"cron 0 9 * * * monitor", "cron 0 9 * * *", "monitor"},
		{"cron 0 9 * * * 5-minute talk", "cron 0 9 * * *", "5-minute talk"},
		{"cron 0 9 * * tea", "not understood", ""},
		{"cron 0 9 * *", "has 4 fields", ""},
		{"cron \"0 9 * * *", "cron 0 9 * * *", ""},
		{"cron @daily 5 teas", "cron @daily", "5 teas"},
		{"cron @reboot tea", "not understood", ""},
		{"cron @midnight tea", "not understood", ""},
		{"@daily tea", "say when", ""},
		// fields
		{"cron 0 9 * * 7 tea", "cron 0 9 * * 7", "tea"},
		{"cron 0 9 * jan mon-fri tea", "cron 0 9 * jan mon-fri", "tea"},
		{"cron 0 9 * * 5-1 tea", "not understood", ""},
		{"cron 50-10 9 * * * tea", "not understood", ""},
		{"cron */0 9 * * * tea", "not understood", ""},
		{"cron */90 * * * * tea", "longer than 60", ""},
		{"cron 0 */25 * * * tea", "longer than 24", ""},
		{"cron 0 9 */40 * * tea", "longer than 31", ""},
		{"cron 0 9 * */13 * tea", "longer than 12", ""},
		{"cron 0 9 * * */8 tea", "longer than 7", ""},
		{"cron */60 * * * * tea", "cron */60 * * * *", "tea"},
		{"cron 0 9 * * 8 tea", "not understood", ""},
		{"cron 0 24 * * * tea", "not understood", ""},
		{"cron 0 9 0 * * tea", "not understood", ""},
		{"cron 0 9 * 13 * tea", "not understood", ""},
		{"cron 0 9 31 2 * tea", "never due", ""},
		{"cron 0 9 * * monday tea", "not understood", ""},
		// repeated days
		{"mondays 9:00 tea", "every monday 9:00", "tea"},
		{"Mondays at 9am tea", "every monday 9:00", "tea"},
		{"weekdays 9:00 tea", "every weekday 9:00", "tea"},
		{"weekends 9:00 tea", "every weekend 9:00", "tea"},
		{"daily 9:00 tea", "every day 9:00", "tea"},
		{"every mondays 9:00 tea", "every monday 9:00", "tea"},
		{"every weekdays 9:00 tea", "every weekday 9:00", "tea"},
		{"every sundays 9:00", "every sunday 9:00", ""},
		{"mondays tea", "at what time", ""},
		{"weekdays tea", "at what time", ""},
		{"mondays and fridays 9:00 tea", "at what time", ""},
		{"mondays, fridays 9:00", "at what time", ""},
		{"monday 9:00 tea", "at Mon 2026-11-30 09:00", "tea"},
		{"mon 9:00 tea", "at Mon 2026-11-30 09:00", "tea"},
		{"wed 9:00 tea", "at Wed 2026-12-02 09:00", "tea"},
		// words after it
		{"14:00 tomorrow", more, ""},
		{"14:00 tomorrow tea", more, ""},
		{"14:00 mondays tea", more, ""},
		{"14:00 monday", more, ""},
		{"9:00 daily", more, ""},
		{`14:00 "tomorrow is late"`, "at Wed 2026-11-25 14:00", `"tomorrow is late"`},
		{"every day 9:00 and 17:00", more, ""},
		{"every day 9:00 and 5pm tea", more, ""},
		{"every day 9:00 and tea", "every day 9:00", "and tea"},
		{"30m 20s", more, ""},
		{"30m 20s tea", more, ""},
		{"1h 30m tea", more, ""},
		{"30m and 20 seconds", more, ""},
		{"every 1h 30m tea", more, ""},
		{"in 1 hour 30m", more, ""},
		{"30m 20 teas", "in 30m", "20 teas"},
		{"30m a tea", "in 30m", "a tea"},
		{"13:50 14:00 begins", "at Wed 2026-11-25 13:50", "14:00 begins"},
		{"9:00 pm tea", "at Wed 2026-11-25 21:00", "tea"},
		{"9 pm tea", "at Wed 2026-11-25 21:00", "tea"},
		{"monday 9:00 AM tea", "at Mon 2026-11-30 09:00", "tea"},
		{"14:00 sun cream", "at Wed 2026-11-25 14:00", "sun cream"},
		{"every day at 5 pm tea", "every day 17:00", "tea"},
		{"noon PM tea", "at Thu 2026-11-26 12:00", "PM tea"},
	} {
		w, rest, err := ParseWhen(c.text, now)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v", c.text, err)
			}
		} else if w.Text != c.want || rest != c.rest {
			t.Errorf("%q: %q, rest %q; want %q, rest %q", c.text, w.Text, rest, c.want, c.rest)
		}
	}
}

// TestAfter has the odd days one by one.
func TestAfter(t *testing.T) {
	for _, c := range []struct{ zone, expr, from, want string }{
		{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00", "2026-03-29 03:00 | 2026-03-30 02:30"}, // 2:00 to 3:00 is left out
		{"Europe/Berlin", "*/30 * * * *", "2026-03-29 01:15", "2026-03-29 01:30 | 2026-03-29 03:00 | 2026-03-29 03:30"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00", "2026-10-25T02:30:00+02:00 | 2026-10-26 02:30"}, // 2:00 to 3:00 comes twice
		{"Europe/Berlin", "30 * * * *", "2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00 | 2026-10-25T02:30:00+01:00 | 2026-10-25 03:30"},
		{"Europe/Berlin", "0 3 * * *", "2026-03-28 12:00", "2026-03-29 03:00 | 2026-03-30 03:00"},
		{"Europe/Berlin", "30 2 * * 0", "2026-03-28 12:00", "2026-03-29 03:00 | 2026-04-05 02:30"},
		{"America/New_York", "30 1 * * *", "2026-11-01T01:45:00-05:00", "2026-11-02 01:30"}, // in the second of the two
		{"Australia/Lord_Howe", "45 1 * * *", "2026-04-04 12:00", "2026-04-05T01:45:00+11:00 | 2026-04-06 01:45"},
		{"Pacific/Apia", "0 12 30 * *", "2011-12-01 00:00", "2011-12-31 00:00 | 2012-01-30 12:00"}, // there was no 30 December
		{"Europe/Berlin", "0 9 29 2 *", "2026-03-01 00:00", "2028-02-29 09:00 | 2032-02-29 09:00"},
		{"Europe/Berlin", "0 9 31 * *", "2026-01-31 09:00", "2026-03-31 09:00 | 2026-05-31 09:00"},
		{"Europe/Berlin", "0 10 * * 1", "2026-11-25 12:30", "2026-11-30 10:00 | 2026-12-07 10:00"},
		{"Asia/Kathmandu", "0 10 * * *", "2026-11-25 12:30", "2026-11-26 10:00"},
	} {
		loc := zone(t, c.zone)
		now := at(t, loc, c.from)
		for _, want := range strings.Split(c.want, " | ") {
			got, err := after(c.expr, now)
			if err != nil || !got.Equal(at(t, loc, want)) {
				t.Errorf("%s %q after %s: %s, not %s, %v", c.zone, c.expr, now, got, want, err)
			}
			now = got
		}
	}
}

// due calculates the expected times of TestAfter_random by checking each minute.
func due(t *testing.T, expr string, from, to time.Time) (all []time.Time) {
	t.Helper()
	gron := gronx.New()
	matches := func(w time.Time) bool {
		ok, err := gron.IsDue(expr, w)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	hourly := strings.Fields(expr)[1] == "*"
	seen := map[string]bool{}
	for m := from.Add(-26 * time.Hour); m.Before(to); m = m.Add(time.Minute) {
		before, now := wall(m.Add(-time.Minute), 0), wall(m, 0)
		is := matches(now) && (hourly || !seen[now.Format(stamp)])
		seen[now.Format(stamp)] = true
		if !hourly && !is {
			for w := before.Add(time.Minute); w.Before(now); w = w.Add(time.Minute) {
				is = is || matches(w)
			}
		}
		if is && m.After(from) {
			all = append(all, m)
		}
	}
	return all
}

func TestAfter_random(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	turns := map[string][]string{
		"Europe/Berlin": {"2026-03-29", "2026-10-25", "2026-07-01"}, "America/New_York": {"2026-03-08", "2026-11-01"},
		"Australia/Lord_Howe": {"2026-04-05", "2026-10-04"}, "Pacific/Apia": {"2011-12-30"}, "UTC": {"2028-02-28"},
		"Asia/Kathmandu": {"2026-12-30"}, "America/Havana": {"2026-03-08", "2026-11-01"}, // at midnight
	}
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	for name, days := range turns {
		loc := zone(t, name)
		for range 4 {
			expr := fmt.Sprintf("%s %s %s * %s", pick("0", "30", "*/15", "5,50", "*", fmt.Sprint(rng.IntN(60))),
				pick("*", "*/2", "*/3", "0", "1", "2", "1-3", "0,23", fmt.Sprint(rng.IntN(24))), pick("*", "*", "*", "29-31", "1"),
				pick("*", "*", "0", "1-5", "6"))
			from := at(t, loc, pick(days...)+" 00:00").Add(-time.Duration(rng.IntN(36*60))*time.Minute + time.Duration(rng.IntN(1e9)))
			to := from.Add(60 * time.Hour)
			want := due(t, expr, from.Truncate(time.Minute), to)
			want = slices.DeleteFunc(want, func(m time.Time) bool { return !m.After(from) })
			now := from
			for i := 0; ; i++ {
				next, err := after(expr, now)
				if err != nil || !next.After(now) {
					t.Fatalf("%s %q after %s: %s, %v", name, expr, now, next, err)
				}
				if !next.Before(to) {
					if i != len(want) {
						t.Fatalf("%s %q from %s: %d times, not %d: %v", name, expr, from, i, len(want), want)
					}
					break
				}
				if i >= len(want) || !next.Equal(want[i]) {
					t.Fatalf("%s %q from %s: time %d is %s, not of %v", name, expr, from, i, next, want)
				}
				now = next
			}
		}
	}
}

// TestNext: missed times yield one catch-up, and the next time is on the grid and after now.
func TestNext(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	w := func(text string) When {
		got, _, err := ParseWhen(text, at(t, berlin, "2026-11-25 12:00"))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		text, due, now, next string
		missed               int
	}{
		{"every 30m", "2026-11-25 12:30", "2026-11-25 12:30", "2026-11-25 13:00", 0},
		{"every 30m", "2026-11-25 12:30", "2026-11-25 13:00", "2026-11-25 13:30", 1},
		{"every 30m", "2026-11-25 12:30", "2026-11-27 12:45", "2026-11-27 13:00", 96},
		{"every day 9:00", "2026-11-26 09:00", "2026-11-26 09:00", "2026-11-27 09:00", 0},
		{"every monday 10:00", "2026-11-30 10:00", "2026-12-16 03:00", "2026-12-21 10:00", 2},
		{"every monday 10:00", "2026-11-30 10:00", "2027-11-30 12:00", "2027-12-06 10:00", 52},
		{"cron */5 * * * *", "2026-11-25 12:30", "2027-11-25 12:31", "2027-11-25 12:35", maxCounted},
	} {
		next, missed, err := w(c.text).Next(at(t, berlin, c.due), at(t, berlin, c.now))
		if err != nil || !next.Equal(at(t, berlin, c.next)) || missed != c.missed {
			t.Errorf("%s due %s at %s: %s, %d missed, %v", c.text, c.due, c.now, next, missed, err)
		}
	}
	if _, _, err := After(time.Hour).Next(time.Time{}, time.Time{}); err == nil {
		t.Error("what is due once has a next time")
	}
}

// TestMend: a clock put back by less than a period fires nothing again; by more, nothing waits for the old time.
func TestMend(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct{ text, due, now, want string }{
		{"every 30m", "2026-11-25 12:30", "2026-11-25 12:05", "2026-11-25 12:30"},
		{"every 30m", "2026-11-25 12:30", "2025-11-25 12:00", "2025-11-25 12:30"},
		{"30m", "2026-11-25 12:30", "2025-11-25 12:00", "2025-11-25 12:30"},
		{"every day 9:00", "2026-11-26 09:00", "2026-11-25 08:30", "2026-11-26 09:00"}, // an hour back, after it fired at 9
		{"every day 9:00", "2027-11-26 09:00", "2026-11-25 12:00", "2026-11-26 09:00"},
		{"2026-12-24 18:00", "2026-12-24 18:00", "2025-11-25 12:00", "2026-12-24 18:00"},
	} {
		w, _, err := ParseWhen(c.text, at(t, berlin, "2026-11-25 12:00"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Mend(at(t, berlin, c.due), at(t, berlin, c.now))
		if err != nil || !got.Equal(at(t, berlin, c.want)) {
			t.Errorf("%s due %s at %s: %s, %v", c.text, c.due, c.now, got, err)
		}
	}
}
