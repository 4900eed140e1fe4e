package uitest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/agents/approval"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// ruled has rules of files hold: LIST RULE FILE.
func ruled(t *testing.T, s *uitest.Session, lines ...[3]string) {
	t.Helper()
	is := approval.RuleReading{
		Faults:  []string{".claude/settings.json:9:5: the bracket is not closed; write it as Tool(pattern), such as Bash(git push *)"},
		Ignored: []string{".claude/settings.json:11:3: permissions.defaultMode: the mode is chosen here (/mode, permission_mode in ~/.config/fantail/config.toml)"},
	}
	for i, l := range lines {
		r, err := permission.ParseToolRule(l[1], permission.Places{Root: s.Home.Root, Base: s.Home.Root, Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		is.Lines = append(is.Lines, approval.RuleLine{
			ToolRule: r, List: permission.List(l[0]), File: l[2], From: fmt.Sprintf("%s:%d:7", l[2], i+3), Project: !strings.HasPrefix(l[2], "~"),
		})
	}
	if err := s.Pool.Permissions.Load(t.Context(), is); err != nil {
		t.Fatal(err)
	}
}

// TestPermissionsPanel: the rules show with their places, what a project's file offers is answered one by one, what a human
// gave is taken back, and a command line is tested in all modes.
func TestPermissionsPanel(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 30}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/permissions")
		s.See("No rules yet; the mode decides", "[All 0] · Proposed 0 · Deny 0")
		s.Press("esc")
		s.Gone("No rules")
		const project = ".claude/settings.json"
		ruled(
			t, s,
			[3]string{"deny", "Bash(git push *)", project}, [3]string{"deny", "Read(./secret/**)", project}, [3]string{"deny", "WebFetch(domain:x.org)", project},
			[3]string{"ask", "Bash(git *)", "~/.config/fantail/config.toml"}, [3]string{"allow", "Bash(go test:*)", project},
			[3]string{"allow", "Bash(git push origin *)", project}, [3]string{"allow", "Bash(make lint)", project}, [3]string{"allow", "Bash(rm -rf *)", project}, [3]string{"allow", "Bash(go vet *)", "~/.claude/settings.json"},
		)
		if err := s.Pool.Asks.Revoke(t.Context(), "bash(go build *)"); err == nil {
			t.Fatal("it was not given")
		}
		s.Enter("/permissions")
		s.See("[All 11] · Proposed 4 · Deny 3 · Ask 1 · Allow 1 · Problems 2 · Tested 0", "offered Bash(go test:*)", "never WebFetch(domain:x.org)", "A project file asks you to allow this.")
		s.Golden("panel-permissions-120")
		s.Type("y")
		s.See("Allowed while the file says exactly this: Bash(go test:*)", "Proposed 3", "Allow 2", "accepted Bash(go test:*)")
		s.Type("1")
		s.See("[Proposed 3]", "Bash(git push origin *)", "Never used: deny Bash(git push *)")
		s.Press("G")
		s.See("Allows nothing of it")
		s.Type("y")
		s.See("Bash(rm -rf *) allows nothing of it")
		s.Press("up")
		s.Type("n")
		s.See("Refused: Bash(make lint)", "refused")
		s.Type("2")
		s.See("[Deny 3]", "Matching calls never run, in any mode.")
		s.Type("d")
		s.See("you did not add it here; it is in " + project)
		s.Press("down", "down")
		s.See("Matches nothing: there is no such tool here")
		s.Type("0tgit -C x push")
		s.See("test› git -C x push")
		s.Press("enter")
		s.See("It is denied: The rule Bash(git push *)", "Tested 1", "In mode ask, the current one", "in mode yolo it is denied")
		s.Type("tgo test ./...")
		s.Press("enter")
		s.See("It runs: allowed by bash(go test *)", "in mode plan it is denied: plan mode is on", "Tested 2")
		s.Golden("panel-permissions-tested-120")
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			s.Resize(size[0], size[1])
			s.Golden(fmt.Sprintf("panel-permissions-%d", size[0]))
		}
		s.Resize(120, 30)
		s.Type("d")
		s.See("Tested 1")
		s.Type("/build")
		s.Gone("git push")
		s.Press("esc", "esc")
		s.Gone("Tested")
		s.Enter("/permissions list")
		s.See("allowed: Bash(go test:*)", "refused: Bash(make lint)", "! .claude/settings.json:9:5", "ignored: .claude/settings.json:11:3")
	})
}

// TestPermissionsPanel_given: a rule that a question gave shows, and is taken back.
func TestPermissionsPanel_given(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 100, H: 30, Mode: permission.Ask}, func(t *testing.T, s *uitest.Session) {
		s.Enter("run touch made")
		s.See("▌ main wants to run  touch made   ")
		s.Press("alt+a")
		s.See(`always allow "touch …" in this project`)
		s.Wait(2 * time.Second) // right after it appears no key answers
		s.Type("p")
		s.Gone(`always allow "touch …" in this project`)
		s.Wait(2 * time.Second) // nor does Enter right after it
		s.Enter("/permissions")
		s.See("bash(touch *) · in this project", "Added by you. d remove")
		s.Type("d")
		s.See("Removed: bash(touch *)", "No rules yet; the mode decides")
		s.Press("esc")
		s.Enter("run touch made")
		s.See("▌ main wants to run  touch made   ")
	})
}
