package host

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestUnchanged(t *testing.T) {
	const smaps = `00400000-01a05000 r-xp 00000000 fe:00 123                                /opt/a b/fantail
Size:              22548 kB
Rss:               12000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01a05000-02000000 r--p 01605000 fe:00 123                                /opt/a b/fantail
Anonymous:             0 kB
02000000-02001000 r--p 01605000 fe:00 123                                /opt/a b/fantail
Anonymous:             4 kB
02001000-02100000 rw-p 01c00000 fe:00 123                                /opt/a b/fantail
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 9                          /lib/b/fantail
Anonymous:             0 kB
7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
`
	if got, want := unchanged(smaps, "/opt/a b/fantail"), []mapping{{0x400000, 0x1a05000}, {0x1a05000, 0x2000000}}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestGivePages: the program goes on running, and has fewer pages of its file in memory.
func TestGivePages(t *testing.T) {
	file := func() (kb string) {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if after, ok := strings.CutPrefix(line, "RssFile:"); ok {
				kb = strings.TrimSpace(after)
			}
		}
		return kb
	}
	before := file()
	givePages()
	after := file()
	t.Logf("%s before, %s after", before, after)
	if len(after) > len(before) || len(after) == len(before) && after >= before {
		t.Errorf("%s before, %s after", before, after)
	}
}
