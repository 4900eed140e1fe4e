package shell

// A value in brackets never is the next word: git branch --abbrev 7 makes the
// branch 7.

// Git's output about commits without the contents of files, which a patch shows.
const (
	gitSums  = "--stat --numstat --shortstat --name-only --name-status --summary --dirstat --compact-summary"
	gitSum   = "--stat[word] --numstat --shortstat --name-only --name-status --summary --dirstat[word] --compact-summary --diff-filter=word "
	gitDates = "--since=text --until=text --after=text --before=text --date=text --author=text --committer=text --grep=text "
	gitWalk  = "-# -n=num --max-count=num --skip=num --all --branches[text] --tags[text] --remotes[text] --first-parent --merges --no-merges --reverse --topo-order --date-order " +
		"--left-right --cherry-pick --cherry-mark --right-only --left-only --boundary --ancestry-path --full-history --simplify-merges --parents --children "
	gitLook = "--oneline --decorate[word] --no-decorate --abbrev-commit --no-abbrev-commit --abbrev[num] --graph --format[pretty] --pretty[pretty] --color[word] --no-color --relative-date "
)

var gitTool = form{
	front: "--no-pager -P --no-optional-locks --no-replace-objects",
	subs: map[string]form{
		"status": {
			opens: true, args: "path...",
			opts: "-sbz -u[word] --short --branch --porcelain[word] --long --show-stash --untracked-files[word] --ignored[word] --ahead-behind --no-ahead-behind --renames --no-renames",
		},
		"log": {
			opens: true, args: "text...",
			opts: gitSum + gitDates + gitWalk + gitLook + "-iEFMCz -S=text -G=text --pickaxe-regex --follow --raw --no-patch --no-renames --find-renames[num] --source --no-mailmap -q -s",
		},
		"show": {opens: true, args: "tip...", one: gitSums + " --no-patch -s", opts: gitSum + gitLook + "-sM --no-patch --date=text"},
		// -U, --word-diff, --binary and the like bring the patch back next to --stat.
		"diff":     {opens: true, args: "tip...", narrow: gitSums + " --quiet", after: &form{args: "source...", least: 1}, opts: gitSum + "-bwMCz --cached --staged --color[word] --no-color --quiet --exit-code --merge-base --ignore-all-space --ignore-space-change --ignore-blank-lines --no-renames --find-renames[num] --minimal --patience --histogram"},
		"ls-files": {opens: true, args: "path...", opts: "-cdkmostuivz --cached --deleted --modified --others --stage --unmerged --ignored --killed --exclude-standard --full-name --error-unmatch --eol --deduplicate"},
		"ls-tree":  {opens: true, args: "text path...", opts: "-drtlz --name-only --name-status --long --full-name --full-tree"},
		"rev-parse": {
			opens: true, args: "text...",
			opts: "-q --abbrev-ref[word] --short[num] --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir " +
				"--is-bare-repository --is-shallow-repository --verify --quiet --symbolic --symbolic-full-name --all --branches[text] --tags[text] --remotes[text]",
		},
		"rev-list":     {opens: true, args: "text...", opts: gitDates + gitWalk + "--count --oneline --abbrev-commit"},
		"describe":     {opens: true, args: "text...", opts: "--tags --always --dirty[word] --long --all --contains --exact-match --first-parent --abbrev[num] --match=text --exclude=text"},
		"shortlog":     {opens: true, args: "text...", opts: gitDates + "-sne --all --no-merges --summary --numbered --email"},
		"merge-base":   {opens: true, args: "text...", opts: "-a --all --is-ancestor --fork-point --octopus --independent"},
		"name-rev":     {opens: true, args: "text...", opts: "--tags --name-only --always --refs=text"},
		"show-ref":     {opens: true, args: "text...", opts: "-dqs --heads --tags --head --dereference --quiet --verify --abbrev[num] --hash[num]"},
		"cherry":       {opens: true, args: "text...", opts: "-v --abbrev[num]"},
		"check-ignore": {opens: true, args: "path...", opts: "-vnq --verbose --quiet --non-matching --no-index"},
		"blame": {
			opens: true, args: "text...",
			opts: "-bceflnpstw -M[num] -C[num] -L=text --porcelain --line-porcelain --show-email --show-name --show-number --date=text --since=text --abbrev[num] --color-lines --color-by-age",
		},
		"grep": {
			opens: true, args: "text", after: &form{args: "source...", least: 1}, pattern: "-e",
			narrow: "-l -L -c -q --files-with-matches --name-only --files-without-match --count --quiet",
			opts: "-aiwvhHEGFPnlLzcqpW -# -A=num -B=num -C=num -e=text -m=num --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --fixed-strings --perl-regexp " +
				"--line-number --column --files-with-matches --name-only --files-without-match --count --quiet --only-matching --color[word] --no-color --break --heading --show-function --function-context " +
				"--context=num --after-context=num --before-context=num --cached --max-depth=num --threads=num -I",
		},
		"branch":        {opens: true, opts: "-arv --all --remotes --list --verbose --show-current --contains=text --no-contains=text --merged=text --no-merged=text --points-at=text --sort=word --color[word] --no-color --column[word] --no-column --ignore-case --abbrev[num]"},
		"tag":           {subs: map[string]form{"-l": gitTags, "--list": gitTags}},
		"stash":         {subs: map[string]form{"list": {opens: true, opts: gitLook + gitDates + "-# -n=num --stat[word] --name-only"}}},
		"worktree":      {subs: map[string]form{"list": {opens: true, opts: "-vz --verbose --porcelain"}}},
		"count-objects": {opens: true, opts: "-vH --verbose --human-readable"},
		// With -N a plain git diff prints the whole of a file that git did not know.
		"add": {opens: true, writes: true, args: "path...", opts: "-Auv --all --no-all --update --verbose --ignore-errors --ignore-missing --refresh"},
		"commit": {
			opens: true, writes: true, args: "path...", one: "-m --message -F --file",
			opts: "-aqs -F=input --file=input -m=prose --all --message=prose --quiet --signoff --allow-empty --no-gpg-sign",
		},
	},
	never: merge(map[string]string{
		"changes what git runs": "config", "runs commands of the repository": "submodule", "may run any command": "bisect rebase", "runs any command": "filter-branch alias",
		"runs any code": "filter-repo", "runs a tool": "difftool mergetool p4 svn", "deletes files": "clean", "discards work": "reset", "deletes history": "gc prune",
		"changes history": "update-ref replace fast-import symbolic-ref", "changes what git sees": "update-index", "serves the network": "daemon instaweb upload-pack receive-pack cvsserver",
		"sends mail": "send-email", "may run a command elsewhere": "archive", "writes files": "bundle", "runs hooks on foreign input": "am", "prints credentials": "credential",
		"runs hooks": "hook", "schedules commands": "maintenance", "opens a browser": "web--browse", "opens a window": "gui citool", "runs commands": "shell",
		"opens a pager": "help", "runs filters": "lfs", "may take a template with hooks": "init", "takes foreign configuration": "clone", "prints the configuration": "var",
	}),
}

var gitTags = form{opens: true, args: "text...", opts: "-i -n[num] --sort=word --contains=text --no-contains=text --merged=text --no-merged=text --points-at=text --column[word] --color[word] --ignore-case"}
