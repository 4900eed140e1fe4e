package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/.ci/long"
	"fantail/tools/permission/shell"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	os.Exit(m.Run())
}

const canary = "CANARY"

// logins are where programs store their credentials, besides all of the table: also names that only look like it.
var logins = strings.Fields(`
	.claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json .local/share/opencode/auth.json .cache/huggingface/token .config/sops/age/keys.txt .m2/settings.xml .gradle/gradle.properties .kaggle/kaggle.json
	.jupyter/jupyter_server_config.json .bitcoin/wallet.dat .electrum/wallets/default_wallet .config/solana/id.json .ethereum/keystore/a .password-store/a.gpg .local/share/gopass/stores/a .mozilla/firefox/a/logins.json .config/chromium/Default/Cookies
	.config/google-chrome/Default/a .config/BraveSoftware/a .aws/credentials .aws/config .azure/a.json .config/gcloud/a.db .oci/config .kube/config .terraform.d/credentials.tfrc.json .terraformrc .npmrc .yarnrc.yml_ .pypirc .config/pip/pip.conf .cargo/credentials.toml
	.gem/credentials .nuget/NuGet/NuGet.Config .composer/auth.json .docker/config.json .config/containers/auth.json .config/helm/repositories.yaml .config/gh/hosts.yml .config/glab-cli/config.yml .config/hub .config/rclone/rclone.conf .s3cfg .config/ngrok/ngrok.yml
	.doppler/.doppler.yaml .vault-token .config/op/config .config/Bitwarden/data.json .config/age/keys.txt .gnupg/private-keys-v1.d/a.key .ssh/id_ed25519 .ssh/config .netrc .pgpass .my.cnf .irssi/config .config/weechat/irc.conf .weechat/sec.conf .muttrc .config/mutt/muttrc
	.config/some-tool/credentials.json .config/some-tool/token.json .some-tool/api_key.txt .some-tool/secrets.yaml .bash_history .config/Slack/Cookies .databrickscfg .snowflake/connections.toml .pulumi/credentials.json .fly/config.yml .config/configstore/a.json .git-credentials`)

// needed are files that commands can still read.
var needed = strings.Fields(`
	.gitconfig .config/git/config .config/git/ignore .cache/pip/a .npm/_cacache/a .cargo/config.toml .cargo/bin/tool .rustup/settings.toml .pyenv/version .nvm/nvm.sh .local/bin/tool .local/share/applications/a .m2/repository/a.jar .gradle/caches/a .bashrc .profile
	.config/nvim/init.lua .config/htop/htoprc .terraform.d/plugins/a .docker/cli-plugins/a .claude/settings.json .codex/config.toml .gemini/settings.json .jupyter/custom/a .cache/huggingface/hub/a .config/starship.toml .vimrc .tmux.conf .config/fish/config.fish .gem/ruby/a .composer/vendor/a projects/other/main.go`)

// TestGround_secrets: no command can read files in which the user's programs store credentials, and the gate asks
// about each; files that commands need stay readable.
func TestGround_secrets(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "home")
	secrets := slices.DeleteFunc(slices.Concat(shell.Home(), logins), func(p string) bool { return strings.HasSuffix(p, "_") })
	put := func(rel, text string) {
		at := filepath.Join(home, rel)
		if i, err := os.Stat(at); err == nil && i.IsDir() {
			at = filepath.Join(at, "inside")
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return // what is above it is a file, and hidden itself
		}
		if err := os.WriteFile(at, []byte(text+" "+rel+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") }) // deeper paths come first
	for _, s := range secrets {
		put(s, canary)
	}
	for _, n := range needed {
		put(n, "NEEDED")
	}
	put("moved/xdg/opencode/auth.json", canary)
	put("moved/claude/.credentials.json", canary)
	put("moved/kube.yaml", canary)
	for _, d := range []string{"work", "scratch"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".ssh", filepath.Join(home, "keys")); err != nil {
		t.Fatal(err)
	}
	list := ""
	for _, p := range slices.Concat(secrets, needed, []string{"keys/id_ed25519"}) {
		list += filepath.Join(home, p) + "\n" + filepath.Join(home, p, "inside") + "\n"
	}
	if err := os.WriteFile(filepath.Join(base, "work/list"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/usr/bin:/bin", "HOME=" + home, "XDG_DATA_HOME=" + home + "/moved/xdg", "CLAUDE_CONFIG_DIR=" + home + "/moved/claude", "KUBECONFIG=" + home + "/moved/kube.yaml"}
	g := sandbox.Workspace{Root: filepath.Join(base, "work"), Home: home, Environ: env, Scratch: filepath.Join(base, "scratch"), Secret: shell.SensitiveFile, Secrets: shell.Home()}
	found := false
	for _, k := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.Landlock} {
		if found && !long.Wanted() {
			break // a short run tries one kind
		}
		w := sandbox.Find(t.Context(), k)
		if w.Level() == sandbox.None {
			t.Logf("no sandbox of the kind %s here: %s", k, w.Why())
			continue
		}
		found = true
		for _, p := range []sandbox.Profile{sandbox.Command, sandbox.Observer, sandbox.Server, sandbox.Vendor} {
			leave := sandbox.Leave{}
			if p == sandbox.Vendor {
				leave.Write = []string{filepath.Join(home, ".codex") + "/"}
			}
			box, err := w.Box(g, p, leave, g.Root)
			if err != nil {
				t.Fatal(err)
			}
			r, err := proc.Run(t.Context(), proc.Spec{
				Shell: "{ cat ~/keys/*; xargs -d '\\n' cat < list; find -L ~ -type f -exec cat {} +; } 2>/dev/null", Dir: g.Root, Env: env, Box: box, Head: 1 << 20, Tail: 1 << 20,
			})
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(r.Text) {
				if path, is := strings.CutPrefix(strings.TrimSpace(line), canary+" "); is && (p != sandbox.Vendor || !strings.HasPrefix(path, ".codex/")) {
					t.Errorf("%s, %s: %s is read", k, p, path)
				}
			}
			for _, n := range needed {
				if !strings.Contains(r.Text, "NEEDED "+n+"\n") {
					t.Errorf("%s, %s: %s is not read", k, p, n)
				}
			}
			if own := strings.Contains(r.Text, canary+" .codex/auth.json\n"); own != (p == sandbox.Vendor) {
				t.Errorf("%s, %s: it reads the login of its own: %v", k, p, own)
			}
		}
	}
	for _, s := range secrets {
		if asks := shell.Sensitive("/home/u/"+s) != ""; !asks && (s[0] == '.' || strings.Count(s, "/") > 1) {
			t.Errorf("the gate does not ask about ~/%s", s)
		}
	}
	for _, n := range needed {
		if why := shell.Sensitive("/home/u/" + n); why != "" {
			t.Errorf("the gate asks about ~/%s: %s", n, why)
		}
	}
	t.Logf("%d secrets, %d that are needed", len(secrets), len(needed))
	if !found {
		t.Skip("no sandbox works here")
	}
}
