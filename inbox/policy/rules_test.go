package policy

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/inbox"
)

// document is a file with every key.
const document = `# .agents/oauth-impl.yml
message_handling:
  default: queue           # Default behavior
  idle_after: 45s

  # Override for specific senders
  from:
    main: interrupt        # Root agent can interrupt
    testing-*: fork        # Testing agents trigger fork

  # Override for specific priorities
  priority:
    urgent: interrupt      # Urgent always interrupts
    high: fork            # High priority forks
    normal: queue         # Normal queues

  # Override for specific tags
  tags:
    blocker: interrupt    # Blockers interrupt
    fyi: queue           # FYIs queue

  # Override for specific times
  schedule:
    weekdays:
      9am-5pm: fork       # During work hours, fork
      5pm-9am: queue      # Off hours, queue
    weekends: queue       # Weekends always queue
    friday: manual

# After handling message, fork can:
outcomes:
  - auto_close: true                          # Default: just close
  - create_memory: "findings-from-testing"    # Document findings
  - send_to_parent: "FYI: handled test results" # Notify parent
  - escalate: main                            # Forward to root agent
`

// Spec: M-12, M-14, M-15, M-16, M-17, M-18.
func TestParse_document(t *testing.T) {
	got, err := ParseRules("f", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	week := [7]bool{false, true, true, true, true, true, false}
	want := Rules{
		Default: Queue, IdleAfter: 45 * time.Second,
		From:     map[string]Mode{"main": Interrupt, "testing-*": Fork},
		Priority: map[inbox.Priority]Mode{inbox.Urgent: Interrupt, inbox.High: Fork, inbox.Normal: Queue},
		Tags:     map[string]Mode{"blocker": Interrupt, "fyi": Queue},
		Schedule: []Period{ // a single day first
			{Name: "friday", Days: [7]bool{5: true}, Mode: Manual},
			{Name: "weekdays 9am-5pm", Days: week, From: 9 * 60, To: 17 * 60, Mode: Fork},
			{Name: "weekdays 5pm-9am", Days: week, From: 17 * 60, To: 9 * 60, Mode: Queue},
			{Name: "weekends", Days: [7]bool{0: true, 6: true}, Mode: Queue},
		},
		Outcomes: Outcomes{Memory: "findings-from-testing", ToParent: "FYI: handled test results", Escalate: "main"},
		File:     "f",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParse_says_where(t *testing.T) {
	for text, want := range map[string]string{
		"message_handling:\n  default: loud\n":                                    `2:12: unknown mode "loud": manual, interrupt, queue, fork or`,
		"message_handling:\n  from:\n    main: interrupt\n   x: fork\n":           "4:4: it is no YAML",
		"message_handling:\n\tdefault: queue\n":                                   "it is no YAML",
		"message_handling:\n  from:\n    *: fork\n":                               `"*", stands in quotes`,
		"message_handling:\n  from:\n    \"[\": fork\n":                           `3:5: "[" is not a pattern`,
		"permission_mode: yolo\n":                                                 `1:1: unknown key "permission_mode": a workspace's file sets message_handling and outcomes, and nothing else`,
		"message_handling:\n  default: queue\nallow: [\"bash(*)\"]\n":             `3:1: unknown key "allow"`,
		"message_handling:\n  modes: queue\n":                                     `2:3: unknown key "modes"`,
		"message_handling: queue\n":                                               "1:19: here belong lines of the form key: value",
		"message_handling:\n  priority:\n    huge: fork\n":                        `3:5: unknown priority "huge": low, normal, high or urgent`,
		"message_handling:\n  schedule:\n    weekdays:\n      9am to 5pm: fork\n": `4:7: "9am to 5pm" is no range of hours`,
		"message_handling:\n  schedule:\n    weekdays:\n      9-9: fork\n":        `4:7: "9-9" is no range`,
		"message_handling:\n  schedule:\n    workdays: fork\n":                    `3:5: unknown days "workdays"`,
		"message_handling:\n  idle_after: 0s\n":                                   `2:15: "0s" is no time to be idle: 1s to 24h`,
		"message_handling:\n  default: queue\n  default: fork\n":                  "3:3: ",
		"outcomes:\n  - auto_close: false\n":                                      "2:17: a fork always closes itself",
		"outcomes:\n  - escalate:\n":                                              "here belongs a text",
		"outcomes:\n  - merge: true\n":                                            `2:5: unknown outcome "merge"`,
		"a: &x [1]\nb: *x\n":                                                      "1:1: unknown key",
		"message_handling: &a\n  from: *a\n":                                      "here belong lines",
		"message_handling:\n  default: queue\n---\nmessage_handling:\n":           "a policy is one document",
		"message_handling:\n  default: \"\x1b[31m\"\n":                            "unknown mode",
	} {
		_, err := ParseRules("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q\n\tsays %v\n\twant %s", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "message_handling:\n", "{}\n", "\ufeffmessage_handling:\n  default: fork\n", "message_handling:\r\n  default: fork\r\n"} {
		if _, err := ParseRules("f", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string][2]int{
		"9am-5pm": {540, 1020}, "5pm-9am": {1020, 540}, "12am-12pm": {0, 720}, "12pm-12am": {720, 0}, "09:30-17:45": {570, 1065},
		"0-24": {0, 0}, "22-6": {1320, 360}, "9 am - 5 pm": {540, 1020}, "18:00–24:00": {1080, 0},
	} {
		if from, to, ok := span(text); !ok || from != want[0] || to != want[1] {
			t.Errorf("%s: %d-%d %v", text, from, to, ok)
		}
	}
	for _, text := range []string{"", "9am", "13pm-2pm", "0am-2am", "25-26", "9:60-10", "24:30-3", "24-3", "9-9", "nine-five", "9am-5pm-6pm"} {
		if from, to, ok := span(text); ok {
			t.Errorf("%s: %d-%d", text, from, to)
		}
	}
}

// TestRead: one wrong file does not hide the others, and something that is no file does not block.
func TestRead(t *testing.T) {
	root := t.TempDir()
	if good, broken := ReadRules(root); len(good)+len(broken) != 0 {
		t.Errorf("of nothing: %v %v", good, broken)
	}
	dir := filepath.Join(root, RulesDir)
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yml", document)
	write("b.yaml", "message_handling:\n  default: fork\n")
	write("c.yml", "message_handling:\n  default: loud\n")
	write("twice.yml", "message_handling:\n  default: fork\n")
	write("twice.yaml", "message_handling:\n  default: queue\n")
	write("big.yml", "#"+strings.Repeat("x", most)+"\n")
	write("notes.md", "# notes")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("key"), 0o600), os.Symlink(secret, filepath.Join(dir, "link.yml")),
		syscall.Mkfifo(filepath.Join(dir, "pipe.yml"), 0o600), os.Mkdir(filepath.Join(dir, "dir.yml"), 0o700)); err != nil {
		t.Fatal(err)
	}
	good, broken := ReadRules(root)
	if len(good) != 2 || good["a"].File != ".agents/a.yml" || good["b"].Default != Fork {
		t.Errorf("good %+v", good)
	}
	for name, want := range map[string]string{
		"c": ".agents/c.yml:2:12: unknown mode", "twice": "there is another file for this agent", "big": ".agents/big.yml: it has ",
		"link": ".agents/link.yml: it is no regular file", "pipe": "no regular file", "dir": "no regular file",
	} {
		if err := broken[name]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(broken) != 6 {
		t.Errorf("broken %v", broken)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte("a: &a [*a, {b: \"\\x\"}]\n? x\n: y\n--- |\n z\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRules("f", text)
		if err == nil {
			r.File = ""
			_ = Policy{Rules: r}.String()
		}
	})
}

// TestRead_out: if the directory is a link out of the workspace, it has no files; a link inside it is followed.
func TestRead_out(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"out", "ws/in", "inside/in"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, dir, "a.yml"), []byte("message_handling:\n  default: queue\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for at, to := range map[string]string{"ws/.agents": "../out", "inside/.agents": "in"} {
		if err := os.Symlink(to, filepath.Join(top, at)); err != nil {
			t.Fatal(err)
		}
	}
	if good, broken := ReadRules(filepath.Join(top, "ws")); len(good) != 0 || broken[""] == nil || !strings.Contains(broken[""].Error(), "out of the workspace") {
		t.Errorf("%v %v", good, broken)
	}
	if good, broken := ReadRules(filepath.Join(top, "inside")); len(good) != 1 || len(broken) != 0 {
		t.Errorf("%v %v", good, broken)
	}
}
