package permission

import "strings"

func set(names string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(names) {
		out[strings.ReplaceAll(n, "_", " ")] = true
	}
	return out
}

var (
	// shells run a text that they are given.
	shells = set("sh bash zsh dash ksh mksh ash fish rbash csh tcsh source . trap")

	// wrappers run the command in the words after their own.
	wrappers = set("env command builtin exec nice nohup time gtime timeout gtimeout stdbuf setsid ionice chrt taskset cpulimit setarch linux32 linux64 xargs parallel watch " +
		"sudo doas su pkexec runuser setpriv busybox toybox chroot unshare nsenter bwrap firejail flock systemd-run at batch entr watchexec rlwrap unbuffer fakeroot " +
		"ssh-agent dbus-run-session xvfb-run caffeinate chronic torsocks proxychains proxychains4 catchsegv faketime hyperfine script expect start-stop-daemon run-parts " +
		"strace ltrace gdb lldb valgrind perf npx bunx pnpx uvx nix-shell ifne retry dumb-init tini gosu su-exec chpst envdir softlimit direnv dotenv ssh tmux screen nodemon eatmydata")

	// runners do so after one of their own words.
	runners = set("poetry_run uv_run pipenv_run pdm_run hatch_run rye_run conda_run mamba_run bundle_exec mise_exec mise_x asdf_exec rtx_exec npm_exec npm_x pnpm_exec pnpm_dlx yarn_exec yarn_dlx bun_x " +
		"op_run doppler_run aws-vault_exec chezmoi_execute nix_run nix_develop nix_shell flatpak_run tox_exec heroku_run")

	// executes are the options after which find and fd name a command.
	executes = set("-exec -execdir -ok -okdir -x -X --exec --exec-batch")

	// gitRuns are words after which git names a command.
	gitRuns = set("foreach run --exec -x --tree-filter --index-filter --msg-filter --env-filter --commit-filter --extcmd -O --open-files-in-pager --upload-pack --receive-pack")

	// readers only read the files that they name.
	readers = set("git cd pushd test [ ls cat head tail wc stat du df file tree which basename dirname realpath readlink diff cmp comm cut tr nl tac rev fold column paste join expand od hexdump " +
		"xxd strings jq md5sum sha1sum sha256sum sha512sum cksum b2sum echo printf pwd true false less more bat sort uniq sed grep egrep fgrep rg fd find")

	// gitReaders are the subcommands of git that change no file.
	gitReaders = set("status diff log show ls-files ls-tree grep blame annotate rev-parse rev-list describe shortlog cat-file check-ignore add commit")

	// gitFronts are options that may come before a subcommand without changing its effect.
	gitFronts = set("--no-pager -P --no-optional-locks --no-replace-objects --literal-pathspecs --help --version --paginate -p")
)

// valued are the options with a value that come before a program's subcommand. For a program that is missing here any
// option may have one.
var valued = map[string]map[string]bool{
	"git":     set("-C -c --git-dir --work-tree --namespace --config-env --exec-path --super-prefix --attr-source"),
	"docker":  set("-H --host -c --context -l --log-level --config -f --file -p --project-name --profile --env-file --project-directory --tlscacert --tlscert --tlskey"),
	"podman":  set("-H --host -c --connection --context --log-level --config --root --url"),
	"kubectl": set("-n --namespace --context --kubeconfig -s --server --cluster --user --token --as --as-group --cache-dir --request-timeout -v --profile"),
	"helm":    set("-n --namespace --kube-context --kubeconfig --registry-config --repository-config"),
	"npm":     set("--prefix -w --workspace -C --userconfig --registry --loglevel --cache"),
	"pnpm":    set("-C --dir --filter -F --reporter --prefix"),
	"yarn":    set("--cwd --cache-folder --registry"),
	"bun":     set("--cwd -c --config --filter"),
	"cargo":   set("--config -Z -C --color --manifest-path"),
	"go":      set("-C"),
	"gh":      set("-R --repo --hostname"),
	"make":    set("-C -f -I -o -W -j -l --directory --file --makefile"),
	"rm":      {},
	"mv":      {},
	"cp":      set("-t --target-directory -S --suffix"),
	"curl":    set("-X -H -d -o -u -A -e -b -c -F -T -m -w -x --request --header --data --output --user"),
	"ls":      {},
	"cat":     {},
}
