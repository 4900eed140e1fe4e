package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fantail/tools/sandbox/cell"
)

// written is a verdict in a file.
type written struct {
	Decided string   `json:"decided"` // see deciding
	Kind    Kind     `json:"kind"`
	Facts   []string `json:"facts"`
	Faults  []string `json:"faults"`
}

// FindKept is Find. It takes the verdict of an earlier search from the file as long as nothing has changed that decides
// it, and keeps its own there. Only what prevents changes of protected files is kept: of anything less, the reason may
// be gone by the next search. If a sandbox can't be made after all, [Backend.Now] is what a new search finds.
func FindKept(ctx context.Context, file string, among ...Kind) *Backend {
	search := func() *Backend {
		decided := deciding(among) // before the search: a change meanwhile is noticed
		w := Find(ctx, among...)
		if w.Level() == Prevents && decided != "" {
			_ = keep(file, written{decided, w.Kind, w.Facts, w.Faults}) // without it, the next search tries everything
		}
		return w
	}
	data, err := os.ReadFile(file)
	var v written
	if err != nil || json.Unmarshal(data, &v) != nil || v.Decided == "" || v.Decided != deciding(among) {
		return search()
	}
	w := &Backend{Kind: v.Kind, Facts: v.Facts, Faults: v.Faults}
	if w.Level() != Prevents || len(among) > 0 && !slices.Contains(among, w.Kind) || w.equip() != nil {
		return search()
	}
	w.verdict.file, w.verdict.again = file, search
	return w
}

// keep writes the verdict into the file, whole or not at all.
func keep(file string, v written) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// decisive are the kernel's settings that decide what a sandbox can do. Not each kernel has all.
var decisive = []string{
	"/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_mnt_namespaces", "/proc/sys/user/max_pid_namespaces", "/proc/sys/user/max_net_namespaces",
	"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/sys/kernel/yama/ptrace_scope",
	"/proc/self/attr/current", "/proc/self/uid_map", "/proc/self/gid_map",
}

// deciding describes all that is known to decide which sandbox works: the running kernel, its settings, the rights and
// namespaces of this process, its program and bubblewrap's, and the kinds asked for. "": something can't be read.
func deciding(among []Kind) string {
	var b strings.Builder
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	fmt.Fprintf(&b, "%s %s %s, Landlock %d, asked %q\n", unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:]), unix.ByteSliceToString(u.Machine[:]), cell.ABI(), among)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	b.Write(boot)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(status) {
		switch name, _, _ := bytes.Cut(line, []byte(":")); string(name) {
		case "Uid", "Gid", "NoNewPrivs", "Seccomp", "Seccomp_filters", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
			b.Write(line)
		}
	}
	for _, file := range decisive {
		text, err := os.ReadFile(file)
		fmt.Fprintf(&b, "%s %q %t\n", file, text, err == nil)
	}
	for _, space := range []string{"user", "mnt", "pid", "net", "ipc"} {
		link, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			return ""
		}
		fmt.Fprintln(&b, link)
	}
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	for _, program := range append([]string{self}, bubblewraps...) {
		var st syscall.Stat_t
		err := syscall.Stat(program, &st)
		fmt.Fprintf(&b, "%s %t %d %d %d %o %d %d %d\n", program, err == nil, st.Dev, st.Ino, st.Size, st.Mode, st.Uid, st.Mtim.Nano(), st.Ctim.Nano())
	}
	return b.String()
}
