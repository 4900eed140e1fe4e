package shell

import "testing"

// TestTracks: git may record what branches track only in a command that does nothing but make, rename, delete or send
// branches.
func TestTracks(t *testing.T) {
	for command, want := range map[string]string{
		"git checkout -b feat origin/dev":                               "yes",
		"git checkout dev":                                              "yes",
		"git checkout --track origin/dev 2>&1 | tail -3":                "yes",
		"git switch -c x origin/y && git status -sb":                    "yes",
		"git switch --create x --track=direct origin/y >/dev/null 2>&1": "yes",
		"git branch -m old new; git branch -vv":                         "yes",
		"git branch -D x || true":                                       "yes",
		"git branch --set-upstream-to=origin/x x":                       "yes",
		"git branch -u origin/x && echo 'done: it tracks'":              "yes",
		"git push":                "origin",
		"git push -u origin HEAD": "origin",
		"git push --set-upstream fork a:b && git log --oneline -1": "fork",
		"git push -u origin a && git push origin b":                "origin",
		"git push -u origin a && git push fork a":                  "no",
		"git push ../x a":                               "no",
		"git push ./x a":                                "no",
		"git push https://example.com/a.git a":          "no",
		"git push git@example.com:a.git a":              "no",
		"git push ext::x a":                             "no",
		"git push --receive-pack=x origin a":            "no",
		"git push --exec=x origin a":                    "no",
		"git push --repo=x":                             "no",
		"git push -o x origin":                          "no",
		"git status":                                    "no",
		"git branch -v && git log --output=.git/config": "no",
		"git branch x && git log --outp .git/config":    "no",
		"git branch x && git diff":                      "no",
		"git branch x && git grep -Ox y":                "no",
		"git branch --edit-description x":               "no",
		"git branch --edit x":                           "no",
		"git checkout -p":                               "no",
		"git checkout --recurse-submodules x":           "no",
		"git checkout -m x":                             "no",
		"git -C sub checkout x":                         "no",
		"git -c core.hooksPath=x checkout x":            "no",
		"git --git-dir=x checkout x":                    "no",
		"cd sub && git checkout x":                      "no",
		"GIT_DIR=x git checkout x":                      "no",
		"export GIT_DIR=x; git checkout x":              "no",
		"git checkout x && make":                        "no",
		"git checkout x && ./test.sh":                   "no",
		"git checkout x & sleep 1":                      "no",
		"sleep 1 & git checkout x":                      "no",
		"git checkout x > .git/config":                  "no",
		"git checkout x >> log":                         "no",
		"cat x > .git/config; git checkout x":           "no",
		"git checkout $(./x)":                           "no",
		"git checkout `./x`":                            "no",
		"git checkout \"$BRANCH\"":                      "no",
		"git checkout *":                                "no",
		"git checkout x < y":                            "no",
		"git checkout x | sh":                           "no",
		"git checkout x | xargs rm":                     "no",
		"git commit -m x && git checkout y":             "no",
		"git config branch.x.remote origin":             "no",
		"git rebase x":                                  "no",
		"git pull":                                      "no",
		"./git checkout x":                              "no",
		"/tmp/git checkout x":                           "no",
		"git":                                           "no",
		"":                                              "no",
		"for b in a b; do git checkout $b; done":        "no",
		"git() { ./x; }; git checkout x":                "no",
		"alias git=./x; git checkout x":                 "no",
		"sudo git checkout x":                           "no",
		"eval git checkout x":                           "no",
	} {
		tracks, remote := Tracks(command)
		got := "no"
		if tracks && remote == "" {
			got = "yes"
		} else if tracks {
			got = remote
		}
		if got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
