package workspace

import (
	"os"
	"slices"
	"strings"

	"fantail/tools/sandbox"
)

// Machine is the files in which the system says what it does not allow programs.
type Machine struct {
	AppArmor  string   // the setting by which Ubuntu stops programs without a profile from making namespaces: "1"
	Clone     string   // the setting by which Debian stops all users from that: "0"
	Spaces    string   // how many user namespaces there may be: "0" is none
	Container []string // the files that a container is known by
}

// ThisMachine is this machine.
func ThisMachine() Machine {
	return Machine{
		AppArmor:  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		Clone:     "/proc/sys/kernel/unprivileged_userns_clone",
		Spaces:    "/proc/sys/user/max_user_namespaces",
		Container: []string{"/.dockerenv", "/run/.containerenv"},
	}
}

// Next says what would make a better sandbox work; "": nothing is known, or there is no better one.
func (m Machine) Next(w *sandbox.Backend) string {
	if w == nil || w.Level() == sandbox.Prevents {
		return ""
	}
	var steps []string
	refused := false // a sandbox is installed but fails for another reason
	for _, f := range w.Faults {
		switch kind, says, _ := strings.Cut(f, ": "); {
		case strings.Contains(says, "not installed"):
			steps = append(steps, "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)")
		case strings.Contains(says, "no Landlock"):
			if step := "for Landlock, start a Linux from 5.13 on with landlock among its lsm="; !slices.Contains(steps, step) {
				steps = append(steps, step)
			}
		case sandbox.Kind(kind) == sandbox.Bubblewrap || sandbox.Kind(kind) == sandbox.Namespaces:
			refused = true
		}
	}
	if refused {
		steps = append(steps, m.unlock()...)
	}
	return strings.Join(steps, "; ")
}

// unlock returns the steps that let programs make namespaces.
func (m Machine) unlock() (steps []string) {
	if says(m.AppArmor) == "1" {
		steps = append(steps, "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 lets programs make namespaces, a profile of AppArmor with `userns,` only bubblewrap")
	}
	if says(m.Clone) == "0" {
		steps = append(steps, "sudo sysctl kernel.unprivileged_userns_clone=1 lets programs make namespaces")
	}
	if says(m.Spaces) == "0" {
		steps = append(steps, "sudo sysctl user.max_user_namespaces=15000 lets programs make namespaces")
	}
	if len(steps) == 0 && slices.ContainsFunc(m.Container, there) {
		steps = append(steps, "start the container so that programs in it may make namespaces and mounts")
	}
	return steps
}

// says returns the content of a one-word file; "" if it can't be read.
func says(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func there(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
