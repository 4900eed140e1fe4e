package schedule

import (
	"strings"
	"testing"
)

// TestParse holds the second barrier: commands that are never a check, by their name, even if the sandbox would stop
// them; and that a check is an argv, which no shell reads.
// Spec: O-69, O-70, O-72.
func TestParse(t *testing.T) {
	for _, text := range []string{
		"test go test ./...", "test net=api.github.com gh run list --limit 1", "ci net=https://ci.example.org/x curl -fsS https://ci.example.org/x",
		"unit python3 -m pytest -c setup.cfg", "script bash ./check.sh -c", "words printf '%s %s' 'a b' c", "status git status --short", "node node test.js -e",
		"perm ls -R .", "mode chmod 600 x",
	} {
		if c, err := ParseCheck(text); err != nil || len(c.Argv) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"x rm -rf .": "destroys", "x /bin/rm f": "destroys", "x RM f": "destroys", "x mkfs.ext4 /dev/sda": "destroys", "x dd if=/dev/zero of=f": "destroys",
		"x shred f": "destroys", "x reboot": "destroys", "x sudo ls": "somebody else", "x doas ls": "somebody else",
		"x env rm f": "another program", "x xargs rm": "another program", "x timeout 5 rm f": "another program", "x find . -delete": "another program",
		"x bash -c 'rm f'": "any text", "x sh -ec 'rm f'": "any text", "x bash -s": "any text", "x bash": "any text", "x python3 -c 'import os'": "any text",
		"x perl -ne 1": "any text", "x node -e 1": "any text", "x ruby -e 1": "any text", "x php -r 1": "any text", "x deno eval 1": "any text", "x python -": "any text",
		"x curl https://x": "net=HOST", "x wget x": "net=HOST", "x ssh h": "net=HOST", "x nc h 1": "net=HOST", "x dig h": "net=HOST", "x rsync a b": "net=HOST",
		"x chmod -R 777 .": "whole trees", "x chown -hR u .": "whole trees", "x chmod --recursive 7 .": "whole trees",
		"x git push --force": "publishes", "x git -C d push": "publishes", "x git reset --hard": "destroys", "x git clean -fd": "destroys",
		"x psql --execute='DROP TABLE users'": "tables", "x mysql --execute 'truncate table a'": "tables",
		"x curl x | bash": "no shell reads", "x go test; rm f": "no shell reads", "x go test > f": "no shell reads", "x cat < f": "no shell reads", "x go test >> f": "no shell reads", "x go test 2> f": "redirects", "x CI=1 go test": "sets a variable",
		"x cat <<< y": "given a text", "x go test &": "background", "x ls & ls": "more than one",
		"x ls *.go": "quote it", "x ls $HOME": "no shell reads", "x ls $(rm f)": "no shell reads", "x": "missing", "x net=h": "missing", "x net=a/b ls": "names no host", "x net= ls": "names no host",
		"0x ls": "does not do", "ä ls": "does not do", "x 'a": "read the command",
	} {
		if c, err := ParseCheck(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %q; want %q", text, err, c.Argv, want)
		}
	}
	if c, _ := ParseCheck(`w net=h:80 echo 'a  b' "c d" e\ f`); strings.Join(c.Argv, "|") != "echo|a  b|c d|e f" || c.Net != "h:80" {
		t.Errorf("%+v", c)
	}
}
