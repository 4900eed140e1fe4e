package sandbox

import "strconv"

// ruling are the places below /proc through which root changes the whole machine and that bubblewrap leaves writable:
// it covers only those whose mode allows writing, unlike that of /proc/sys.
var ruling = []string{"/proc/sys", "/proc/fs", "/proc/scsi", "/proc/acpi"}

// bwrapArgs returns the arguments that make bubblewrap set up the view; the command follows them. filter is the
// descriptor of the seccomp filter.
func (b *Box) bwrapArgs(deaf []string, uid, filter int) []string {
	args := []string{"--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"}
	if uid == 0 { // as root in a container, the mounts, the filter and the missing capabilities confine it
		for _, c := range []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"} {
			args = append(args, "--cap-add", c)
		}
	} else {
		args = append(args, "--unshare-user")
	}
	if !b.view.net {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--ro-bind", "/", "/")
	for _, s := range b.view.steps(deaf) {
		switch s.kind {
		case writable:
			args = append(args, "--bind", s.from, s.to)
		case readable, hidden:
			args = append(args, "--ro-bind", s.from, s.to)
		case empty:
			args = append(args, "--tmpfs", s.to)
		case closed:
			args = append(args, "--remount-ro", s.to)
		case devices:
			args = append(args, "--dev", s.to)
		case processes:
			args = append(args, "--proc", s.to)
			if uid == 0 {
				for _, r := range present(ruling) {
					args = append(args, "--ro-bind", r, r)
				}
			}
		}
	}
	return append(args, "--chdir", b.dir, "--seccomp", strconv.Itoa(filter), "--")
}
