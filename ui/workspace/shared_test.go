package workspace

import (
	"os"
	"testing"
)

// TestMounted: of all file systems mounted on the way to a directory the last one mounted at the nearest place
// contains it.
func TestMounted(t *testing.T) {
	const mounts = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /home rw,nosuid shared:13 master:1 - nfs4 server:/home rw,vers=4.2
31 30 0:27 / /home/me/a\040b rw - fuse.sshfs me@there:/ rw
32 22 0:28 / /mnt rw - cifs //server/share rw
33 22 0:29 / /mnt rw - tmpfs tmpfs rw
no line at all
34 22 0:30 /
`
	for dir, want := range map[string]string{
		"/var": "ext4", "/": "ext4", "/home": "nfs4", "/home/me": "nfs4", "/homes": "ext4",
		"/home/me/a b/c": "fuse.sshfs", "/home/me/a bc": "nfs4", "/mnt/x": "tmpfs",
	} {
		if got := mounted(mounts, dir); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
	if shared["nfs4"] != "NFS" || shared["fuse.sshfs"] == "" || shared["ext4"]+shared["tmpfs"]+shared["fuse"] != "" {
		t.Error("the wrong ones count as shared")
	}
}

// TestShared: there is a file system with a type here, and /proc is not shared with another machine.
func TestShared(t *testing.T) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Skipf("SKIPPED, only Linux tells what is mounted: %v", err)
	}
	if got := mounted(string(mounts), "/proc/self"); got != "proc" {
		t.Errorf("/proc is on %q", got)
	}
	if Shared("/proc/self") != "" || Warning("/proc") != "" {
		t.Error("/proc counts as shared")
	}
}
