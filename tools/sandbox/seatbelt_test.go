package sandbox

import "testing"

// The profile for macOS: everything may be read and nothing written, then the view's rules, in an order in which the
// last rule for a path counts.
func TestView_seatbelt(t *testing.T) {
	v := view{
		root: "/w", home: "/h", scratch: "/d/tmp", mail: "/d/post/1", write: []string{"/d/tmp", `/w "x"`}, keep: []string{`/w "x"/.git/hooks`},
		hide: []string{"/d", "/h/.ssh"}, shown: []string{"/d/out"},
	}
	const want = `(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath "/d/tmp"))
(allow file-write* (subpath "/w \"x\""))
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/(fd/|ttys)"))
(deny file-write* (subpath "/w \"x\"/.git/hooks"))
(deny file-write-unlink (literal "/w \"x\"/.git"))
(deny file-write-unlink (literal "/w \"x\""))
(deny file-read* file-write* (subpath "/d"))
(deny file-read* file-write* (subpath "/h/.ssh"))
(allow file-read* (subpath "/d/out"))
(allow file-read* file-write* (subpath "/d/tmp"))
(allow file-read* file-write* (subpath "/d/post/1"))
(deny network*)
(allow network* (local ip "localhost:*") (remote ip "localhost:*"))
(allow network* file-read* file-write* (subpath "/d/tmp"))
(deny signal)
(allow signal (target same-sandbox))
(deny process-info* (target others))
(deny mach-priv*)
(deny appleevent-send)
`
	if got := v.seatbelt(); got != want {
		t.Errorf("the profile is\n%s", got)
	}
}
