package sandbox

import "strconv"

// ruling are the places below /proc where root changes the whole machine and that bubblewrap leaves: it covers only those
// whose mode says that they can be written, which that of /proc/sys does not.
var ruling = []string{"/proc/sys", "/proc/fs", "/proc/scsi", "/proc/acpi"}

// bwrapArgs are the arguments that make bubblewrap make the view; what stands behind them is the command. filter is the
// descriptor of the filter of system calls.
func (b *Box) bwrapArgs(deaf []string, uid, filter int) []string {
	args := []string{"--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"}
	if uid == 0 { // as root in a container: what keeps it inside are the mounts, the filter, and the capabilities it lacks
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
