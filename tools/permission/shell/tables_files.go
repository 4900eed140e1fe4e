package shell

// none is a tool whose rules name all its words.
var none = form{}

// quiet is a tool that only prints or compares its words.
var quiet = form{opens: true, tame: true, names: true, check: func([]Word) string { return "" }}

// Tools that read files by name and print their contents or properties.
var fileTools = map[string]form{
	"true": quiet, "false": quiet, ":": quiet, "echo": quiet,
	"printf": {opens: true, args: "template..."},
	"exit":   {opens: true, args: "num"}, "sleep": {opens: true, args: "num..."}, "seq": {opens: true, opts: "-w -s=text", args: "num..."},
	"pwd": {opens: true, opts: "-LP"}, "cd": {opens: true, writes: true, args: "path"},
	"test": {opens: true, names: true, check: denyTest}, "[": {opens: true, names: true, check: denyTest},

	"ls": {
		opens: true, names: true, tame: true, args: "path...",
		opts: "-aAbBcCdfFgGhiklmnNopqQrRsStuUvxX1 -I=text -w=num -T=num --all --almost-all --author --directory --classify[word] --color[word] --file-type --format=word " +
			"--full-time --group-directories-first --no-group --hide=text --human-readable --ignore=text --indicator-style=word --inode --numeric-uid-gid --quote-name " +
			"--recursive --reverse --si --size --sort=word --time=word --time-style=text --width=num --block-size=word",
	},
	"cat": {
		opens: true, tame: true, args: "path...",
		opts: "-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank",
	},
	"head": {opens: true, tame: true, args: "path...", opts: "-# -qv -n=num -c=num --lines=num --bytes=num --quiet --silent --verbose"},
	"tail": {opens: true, tame: true, args: "path...", wide: "-fF --follow[word] --retry", opts: "-# -qv -n=num -c=num --lines=num --bytes=num --quiet --silent --verbose"},
	"wc":   {opens: true, names: true, tame: true, args: "path...", opts: "-clmLw --bytes --chars --lines --words --max-line-length"},
	"stat": {opens: true, names: true, tame: true, args: "path...", opts: "-ft -c=text --format=text --printf=text --file-system --terse"},
	"du": {
		opens: true, names: true, tame: true, args: "path...",
		opts: "-0abcghklmPsSx -d=num -B=word -t=num --all --apparent-size --bytes --total --human-readable --max-depth=num --summarize --one-file-system --exclude=text --time[word] --si --threshold=num --separate-dirs --inodes",
	},
	"df":   {opens: true, names: true, tame: true, args: "path...", opts: "-ahHiklPT -t=word -B=word --human-readable --inodes --print-type --total --all"},
	"file": {opens: true, names: true, args: "path...", opts: "-bEhikLNnr0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --extension"},
	"tree": {
		opens: true, names: true, style: apart, args: "path...",
		opts: "-adfipsughDFnCAJXtrUvc -L=num -I=text -P=text --dirsfirst --noreport --du --gitignore --prune --filelimit=num --charset=word --si --sort=word",
	},
	"which": {opens: true, names: true, args: "path...", opts: "-a"}, "whereis": {opens: true, names: true, args: "path..."},
	"basename": {opens: true, names: true, args: "path...", opts: "-az -s=text"}, "dirname": {opens: true, names: true, args: "path...", opts: "-z"},
	"realpath": {opens: true, names: true, args: "path...", opts: "-emsqz --relative-to=path --relative-base=path"}, "readlink": {opens: true, names: true, args: "path...", opts: "-femnqsvz"},
	"sha1sum": sums, "sha256sum": sums, "sha512sum": sums, "md5sum": sums, "b2sum": sums, "cksum": {opens: true, names: true, args: "path..."},

	"sort": {
		opens: true, args: "path...",
		opts: "-bdfgiMhnRrVcCmsuz -k=key -t=text -S=num --ignore-leading-blanks --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --reverse --version-sort " +
			"--sort=word --check[word] --key=key --field-separator=text --stable --unique --zero-terminated --parallel=num",
	},
	"uniq": {
		opens: true, args: "path", // the second operand is written
		opts: "-cdDiuz -f=num -s=num -w=num --count --repeated --all-repeated[word] --group[word] --ignore-case --unique --skip-fields=num --skip-chars=num --check-chars=num",
	},
	"cut": {
		opens: true, args: "path...",
		opts: "-nsz -b=word -c=word -d=text -f=word --bytes=word --characters=word --delimiter=text --fields=word --complement --only-delimited --output-delimiter=text",
	},
	"tr":   {opens: true, args: "text text", opts: "-cCdst --complement --delete --squeeze-repeats --truncate-set1"},
	"nl":   {opens: true, args: "path...", opts: "-p -b=word -f=word -h=word -n=word -s=text -v=num -i=num -w=num"},
	"tac":  {opens: true, args: "path..."},
	"rev":  {opens: true, args: "path..."},
	"comm": {opens: true, args: "path path", opts: "-123 --nocheck-order --check-order --total"},
	"cmp":  {opens: true, args: "path path num num", opts: "-bls -n=num -i=num"},
	"fold": {opens: true, args: "path...", opts: "-bs -w=num"}, "paste": {opens: true, args: "path...", opts: "-sz -d=text"},
	"column": {opens: true, args: "path...", opts: "-tx -s=text -o=text -c=num"},
	"sed":    {opens: true, check: denySed},

	"diff": none, "cp": none, "mv": none, "ln": none, "tee": none, "strings": none, "od": none, "hexdump": none,

	"mkdir": {opens: true, names: true, writes: true, args: "new...", opts: "-pv --parents --verbose"},
	"touch": {opens: true, names: true, writes: true, args: "new...", opts: "-acm --no-create"},

	"ps": {opens: true, check: denyPs}, "whoami": {opens: true}, "arch": {opens: true},
	"id": {opens: true, args: "word", opts: "-Ggnruz"}, "groups": {opens: true, args: "word"}, "uname": {opens: true, opts: "-asnrvmpio"},
	"uptime": {opens: true, opts: "-ps"}, "free": {opens: true, opts: "-bkmghtwv"}, "nproc": {opens: true, opts: "--all"},
	"date": {opens: true, args: "format", opts: "-uR -I[word] -d=text -r=path --date=text --iso-8601[word] --rfc-3339=word --rfc-email --utc --universal --reference=path"},
}

var sums = form{opens: true, names: true, args: "path...", opts: "-btz --binary --text --tag --zero"}

// Search tools. grep -r and ripgrep print matches in any file.
var searchTools = map[string]form{
	"grep": greps, "egrep": greps, "fgrep": greps,
	// --json would bring back the lines that -l leaves out.
	"rg": {
		opens: true, args: "text path...", pattern: "-e --regexp --files",
		coded: "-t --type -g --glob --iglob", hidden: "--hidden -. --no-ignore -u --unrestricted", wide: "-.u --hidden --no-ignore --unrestricted --json",
		narrow: "-t --type -g --glob --iglob -l --files-with-matches --files-without-match -c --count --count-matches -q --quiet --files",
		opts: "-0abcFHiIlnNopPqsSUvwx -A=num -B=num -C=num -d=num -e=text -E=word -g=glob -j=num -m=num -M=num -r=text -t=type -T=type --after-context=num --before-context=num " +
			"--case-sensitive --color=word --column --context=num --context-separator=text --count --count-matches --crlf --encoding=word --files --files-with-matches --files-without-match " +
			"--fixed-strings --glob=glob --iglob=glob --heading --ignore-case --invert-match  --line-number --line-regexp --max-columns=num --max-count=num --max-depth=num " +
			"--max-filesize=word --multiline --multiline-dotall --no-config --no-filename --no-heading --no-line-number --no-messages --null --only-matching --passthru --pcre2 --pretty " +
			"--quiet --regexp=text --replace=text --smart-case --sort=word --sortr=word --stats --text --threads=num --trim --type=type --type-not=type --vimgrep --with-filename --word-regexp",
	},
	"fd": {
		opens: true, names: true, args: "text path...",
		opts: "-0aFgips -c=word -d=num -e=word -E=text -j=num -S=word -t=word --absolute-path --changed-within=word --changed-before=word --color=word --exact-depth=num --exclude=text " +
			"--extension=word --fixed-strings --full-path --glob --ignore-case --max-depth=num --max-results=num --min-depth=num --print0 --size=word --threads=num --type=word",
	},
	"find": {
		opens: true, names: true, style: find, args: "path...",
		opts: "-H -P -a -and -o -or -not -amin=num -atime=num -cmin=num -ctime=num -cnewer=path -anewer=path -daystart -depth -empty -executable -false -group=word -iname=text " +
			"-ilname=text -inum=num -ipath=text -iregex=text -iwholename=text -links=num -lname=text -ls -maxdepth=num -mindepth=num -mmin=num -mount -mtime=num -name=text " +
			"-newer=path -newermt=text -newerct=text -nogroup -nouser -nowarn -path=text -perm=word -print -print0 -printf=text -prune -quit -readable -regex=text " +
			"-regextype=word -samefile=path -size=num -true -type=word -uid=num -user=word -wholename=text -writable -xdev -xtype=word",
	},
	"jq": {
		opens: true, args: "jq path...", least: 1,
		opts: "-aceCjMnrsS --ascii-output --color-output --compact-output --exit-status --indent=num --join-output --monochrome-output --null-input --raw-output --slurp --sort-keys --tab",
	},
}

// After --exclude, --include no longer excludes all other files.
var greps = form{
	opens: true, args: "text path...", pattern: "-e --regexp", least: 1,
	deep: "-r --recursive", coded: "--include", narrow: "--include -l --files-with-matches -L --files-without-match -c --count -q --quiet --silent",
	opts: "-# -abcEFGhHiIlLnoPqrsTUvwxyzZ -A=num -B=num -C=num -e=text -m=num --after-context=num --basic-regexp --before-context=num --binary-files=word --byte-offset --color[word] " +
		"--colour[word] --context=num --count --exclude-dir=text --extended-regexp --files-with-matches --files-without-match --fixed-strings --ignore-case --include=glob " +
		"--initial-tab --invert-match --line-buffered --line-number --line-regexp --max-count=num --no-filename --no-messages --null --only-matching --perl-regexp --quiet --recursive " +
		"--regexp=text --silent --text --with-filename --word-regexp",
}
