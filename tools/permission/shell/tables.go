package shell

// forms are the known tools by name. A rule covers an unknown tool by its exact words only.
var forms = join(fileTools, searchTools, buildTools, map[string]form{"git": gitTool})

func join(tables ...map[string]form) map[string]form {
	out := map[string]form{}
	for _, t := range tables {
		for name, f := range t {
			out[name] = f
		}
	}
	return out
}

// risky words make a command without a list ask each time.
var risky = map[string]bool{
	"delete": true, "destroy": true, "drop": true, "purge": true, "prune": true, "remove": true, "uninstall": true, "publish": true, "deploy": true,
	"force": true, "hard": true, "exec": true, "eval": true, "execute": true, "apply": true, "rf": true, "fr": true, "command": true, "cmd": true, "c": true, "e": true, "x": true,
	"upload": true, "token": true, "login": true, "run-script": true, "shell": true, "execdir": true, "ok": true, "okdir": true, "toolexec": true, "vettool": true, "pre": true,
	"ext-diff": true, "textconv": true, "force-with-lease": true, "mirror": true, "f": true, "D": true, "in-place": true, "i": true, "exec-batch": true, "X": true, "open": true,
	"upload-pack": true, "receive-pack": true, "edit": true, "interactive": true, "amend": true, "no-verify": true,
}

// runs says why no rule covers certain commands.
var runs = merge(map[string]string{
	"runs another command": "env command builtin exec nice nohup time timeout stdbuf setsid ionice xargs parallel watch sudo doas su pkexec runuser busybox toybox " +
		"chroot unshare nsenter bwrap firejail setpriv flock taskset chrt cpulimit systemd-run at batch entr watchexec nodemon rlwrap unbuffer fakeroot " +
		"ssh-agent dbus-run-session xvfb-run caffeinate chronic torsocks proxychains proxychains4 catchsegv setarch linux32 linux64 faketime hyperfine " +
		"script expect screen tmux dtach start-stop-daemon run-parts strace ltrace gdb lldb valgrind perf npx bunx pnpx uvx pipx nix nix-shell ifne pee vipe daemonize " +
		"eatmydata retry wait-for-it dumb-init tini s6-setuidgid gosu su-exec chpst envdir softlimit",
	"runs any code": "bash sh zsh dash ksh mksh fish csh tcsh rbash ash pwsh powershell awk gawk mawk nawk ts-node tsx deno irb ghci scala groovy Rscript julia osascript " +
		"sqlite3 psql mysql mariadb mongosh redis-cli ed ex emacs vi vim nvim nano view vimdiff less more most man info pager dc bc m4 jshell erl elixir iex swipl ocaml clojure lein bb wish",
	"changes the shell": "eval source . alias unalias export declare typeset local readonly unset set shopt enable hash trap bind complete compgen compopt history fc read " +
		"mapfile readarray let getopts ulimit umask pushd popd dirs disown jobs fg bg wait suspend logout return break continue caller times",
	"deletes or destroys":              "rm rmdir shred unlink dd truncate wipefs fdisk parted mkswap mke2fs mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs tar zip cpio pax rsync install",
	"changes rights or the system":     "chmod chown chgrp chattr setfacl setcap mount umount insmod rmmod modprobe sysctl systemctl service launchctl crontab useradd usermod userdel passwd visudo iptables nft ufw ip ifconfig hostname hostnamectl timedatectl swapoff swapon losetup chsh chfn update-alternatives ldconfig defaults",
	"ends processes or the machine":    "kill killall pkill xkill reboot shutdown halt poweroff init telinit",
	"reaches the network":              "curl wget http https nc ncat netcat socat telnet ssh scp sftp ftp lftp aria2c rclone mail sendmail mutt dig nslookup host ping openssl gpg ssh-keygen ssh-add ssh-copy-id rsh rlogin finger whois",
	"handles credentials":              "pass secret-tool security keyring vault op bw aws gcloud az kinit",
	"changes what is installed":        "apt apt-get dpkg yum dnf rpm pacman apk brew snap flatpak port gem cpan easy_install",
	"starts a program of the desktop":  "xdg-open open start gnome-open kde-open xterm gnome-terminal konsole code",
	"prints the environment's secrets": "printenv",
})

// merge turns reason → names into name → reason.
func merge(m map[string]string) map[string]string {
	out := map[string]string{}
	for why, names := range m {
		for start := 0; start < len(names); {
			end := start
			for end < len(names) && names[end] != ' ' {
				end++
			}
			if end > start {
				out[names[start:end]] = why
			}
			start = end + 1
		}
	}
	return out
}
