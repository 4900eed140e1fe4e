package permission

import (
	"path"
	"strings"
	"testing"
)

// A command that names a file that runs by itself asks in every mode, unless it only reads it, runs it, or has git
// record it. In a sandbox it need not ask: the sandbox protects the file.
func TestDecide_whatRuns(t *testing.T) {
	g := gate(t, Yolo)
	runs := func(p string) string {
		if p = path.Clean(strings.TrimPrefix(p, "/w/")); p == ".claude/settings.json" || p == "check/it" || p == ".claude" || strings.HasPrefix(p, ".claude/set*") {
			return "what runs"
		}
		return ""
	}
	act := func(command string) Action {
		return Action{
			Tool: "bash", Kind: Command, Command: command, Dir: "/w", Runs: runs, Leads: func(string, bool) string { return "" },
			Secrets: func(string, Reach) string { return "" }, Strays: func(string) string { return "" }, Git: func(bool) string { return "" },
			Listed: func([]string) string { return "" },
		}
	}
	for command, want := range map[string]Decision{
		"echo x > .claude/settings.json":                 AskHuman,
		"echo x >> /w/.claude/settings.json":             AskHuman,
		`echo x > .cla"ude"/settings.json`:               AskHuman,
		"cd .claude && echo x > settings.json":           AskHuman,
		"cp evil check/it":                               AskHuman,
		"cd check && echo x > it":                        AskHuman,
		"cd check; mv ../evil it":                        AskHuman,
		"sed -i s/a/b/ check/it":                         AskHuman,
		`python3 -c 'open(".claude/settings.json","w")'`: AskHuman,
		"rm -rf .claude":                                 AskHuman,
		"tee .claude/set*":                               AskHuman,
		"dd if=x of=check/it":                            AskHuman,
		"git checkout evil -- check/it":                  AskHuman,
		"if check/it":                                    AskHuman, // no shell reads it
		"cat .claude/settings.json":                      Allow,
		"check/it":                                       Allow,
		"sh check/it && touch x":                         Allow,
		"sh check/it > check/it":                         AskHuman,
		"git add .claude/settings.json":                  Allow,
		`git commit -m "mend .claude/settings.json"`:     Allow,
		"touch x; rm -rf build":                          Allow,
		"cd /w/check && echo x > it":                     AskHuman,
		"pushd check && echo x > it":                     AskHuman,
		"cd -P check && echo x > it":                     AskHuman,
		"cd a;cd ..;cd a;cd ..;cd check && echo x > it":  AskHuman,
		strings.Repeat("cd a; ", 20) + "touch x":         AskHuman, // the directory is unknown
		"cd a && x; cd ../b && y; cd ../c && z; cd ../d": Allow,
		"git diff --output=.claude/settings.json":        AskHuman,
		"git log --output .claude/settings.json":         AskHuman,
		"git show --outp=.claude/settings.json":          AskHuman,
		"git --no-pager diff --outp check/it":            AskHuman,
		"git push --receive-pack='tee check/it' . x":     AskHuman,
		"GIT_EXTERNAL_DIFF='cp x' git diff check/it":     AskHuman,
		"git diff -- .claude/settings.json":              Allow,
		"git log -p --oneline check/it":                  Allow,
		"sort -o check/it x":                             AskHuman,
		"uniq x check/it":                                AskHuman,
		"sort check/it":                                  Allow,
		"find . -fprint check/it":                        AskHuman,
		"sed -n 'w check/it' x":                          AskHuman,
		"curl -so check/it x":                            AskHuman,
		"tree -o check/it":                               AskHuman,
	} {
		v := g.Decide(act(command))
		if v.Decision != want || v.Guarded != (want == AskHuman) {
			t.Errorf("%s: %s (%s), guarded %v, want %s", command, v.Decision, v.Reason, v.Guarded, want)
		}
	}
	boxed := act("echo x > .claude/settings.json")
	boxed.Boxed = true
	auto := gate(t, Auto)
	if v := auto.Decide(boxed); v.Decision != AskHuman || !v.Guarded {
		t.Errorf("in a sandbox of which none works: %+v", v)
	}
	auto.Boxes(Prevents)
	if v := auto.Decide(boxed); v.Decision != Allow {
		t.Errorf("in a sandbox: %+v", v)
	}
}
