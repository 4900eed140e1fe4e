package shell

import (
	"path"
	"strings"
	"sync"
)

// homeSecrets are the files and directories in which users' programs keep secrets, by their paths from a home
// directory, with everything below them. Each counts at any depth: any directory may be a home directory, or a copy of
// one.
var homeSecrets = [][2]string{
	{"an assistant's login", ".claude/.credentials.json,.claude.json,.claude/.claude.json,.codex/auth.json,.codex/.env,.gemini/oauth_creds.json,.gemini/.env,.gemini/mcp-oauth-tokens.json,.gemini/mcp-oauth-tokens-v2.json,.qwen/oauth_creds.json,.qwen/.env," +
		".local/share/opencode/auth.json,.local/share/opencode/mcp-auth.json,.local/share/crush/crush.json,.config/crush/crush.json,.config/goose/secrets.yaml,.aider/oauth-keys.env,.continue/config.json,.continue/config.yaml,.continue/.env,.config/github-copilot,.copilot/config.json,.copilot/mcp-oauth-config," +
		".cursor/auth.json,.cursor/cli-config.json,.config/cursor/auth.json,.config/Cursor/User/globalStorage,.config/Code/User/globalStorage,.config/Code - Insiders/User/globalStorage,.config/VSCodium/User/globalStorage,.config/Windsurf/User/globalStorage,.codeium,.config/amp/settings.json,.local/share/amp/secrets.json," +
		".factory/auth.json,.factory/auth.encrypted,.pi/agent/auth.json,.kimi/credentials,.kimi/config.toml,.grok/user-settings.json,.openai,.config/openai,.config/anthropic,.config/io.datasette.llm/keys.json,.config/aichat,.config/shell_gpt,.config/mods/mods.yml,.config/fabric/.env,.config/Claude,.config/kilocode,.local/share/amazon-q,.config/warp-terminal,.local/state/warp-terminal"},
	{"a model hub's token", ".cache/huggingface/token,.cache/huggingface/stored_tokens,.huggingface,.kaggle,.config/kaggle,.config/wandb,.config/replicate,.modal.toml,.config/runpod,.runpod,.vast_api_key,.config/vastai,.lambda_cloud,.comet.config,.config/together,.lightning/credentials.json,.clearml.conf,clearml.conf,.cache/civitai,.config/openml,.openml/config"},
	{"a notebook's password", ".jupyter/jupyter_server_config.json,.jupyter/jupyter_notebook_config.json,.jupyter/jupyter_server_config.py,.jupyter/jupyter_notebook_config.py,.jupyter/jupyter_cookie_secret,.local/share/jupyter/runtime,.ipython/profile_default/security,.ipython/profile_default/history.sqlite"},
	{"encryption keys", ".config/sops,.config/age,.local/share/age,.config/agenix,.config/chezmoi/key.txt,.config/chezmoi/chezmoi.toml,.minisign,.signify,.step,.local/share/mkcert,.acme.sh,.config/letsencrypt,.certbot,.pki,.putty,.config/putty,.ecryptfs,.cryfs,.config/gocryptfs,.yubico,.config/Yubico,.tomb,.config/gnupg,.local/share/gnupg,.ssh,.gnupg,.config/syncthing,.local/state/syncthing,.local/share/atuin/key,.config/ente,.config/cosign"},
	{"a password store", ".password-store,.local/share/password-store,.local/share/gopass,.config/gopass,.config/Bitwarden,.config/Bitwarden CLI,.config/bitwarden-cli,.config/bitwarden,.config/1Password,.1password,.config/op,.op,.config/keepassxc,.keepass,.config/KeePass,.keepassxc,.lpass,.local/share/lpass,.config/lpass,.config/Enpass,.local/share/Enpass,.config/rbw,.local/share/rbw,.cache/rbw,.dashlane," +
		".local/share/dashlane-cli,.config/bws,.local/share/keyrings,.local/share/kwalletd,.kde/share/apps/kwallet,.kde4/share/apps/kwallet,.config/buttercup,.config/Authy Desktop,.local/share/Authenticator,.authenticator,.config/pass-cli,.config/proton-pass,.config/Proton Pass,.config/NordPass,.config/keeper,.keeper,.gnome2/keyrings,.google_authenticator"},
	{"a wallet", ".bitcoin,.litecoin,.dogecoin,.ethereum,.electrum,.electrum-ltc,.electron-cash,.bitmonero,.monero,.config/monero-project,.zcash,.dashcore,.config/solana,.solana,.near-credentials,.brownie/accounts,.foundry/keystores,.cardano,.config/Exodus,.config/atomic,.config/Ledger Live,.config/@trezor,.config/com.liberty.jaxx,.multibit,.armory,.walletwasabi,.sparrow,.sui/sui_config,.aptos,.starknet_accounts,.starkli-wallets," +
		".chia_keys,.lnd,.local/share/Bisq,.gaia,.tezos-client,.octez-client,.local/share/polkadot,.config/Phantom,.config/Rabby,.avalanche-cli/key,.config/stellar,.config/soroban,.flow-cli,.local/share/io.parity.ethereum,.peercoin,.config/Coinomi"},
	{"a browser profile", ".mozilla,.config/mozilla,.config/google-chrome,.config/google-chrome-beta,.config/google-chrome-unstable,.config/chromium,.config/BraveSoftware,.config/microsoft-edge,.config/microsoft-edge-beta,.config/microsoft-edge-dev,.config/vivaldi,.config/vivaldi-snapshot,.config/opera,.config/opera-beta,.opera,.librewolf,.config/librewolf,.waterfox,.floorp,.config/zen,.config/thorium,.config/yandex-browser,.local/share/qutebrowser,.config/qutebrowser," +
		".local/share/torbrowser,.tor-browser,.local/share/epiphany,.config/epiphany,.config/falkon,.local/share/falkon,.config/net.imput.helium,.config/Arc,.moonchild productions,.palemoon,.w3m/cookie,.elinks,.cookies,.config/nyxt,.local/share/nyxt,snap/firefox,snap/chromium,snap/brave,snap/opera,snap/thunderbird,.var/app/org.mozilla.firefox,.var/app/org.mozilla.Thunderbird,.var/app/com.google.Chrome,.var/app/org.chromium.Chromium,.var/app/com.brave.Browser,.var/app/com.microsoft.Edge,.var/app/com.vivaldi.Vivaldi,.var/app/io.gitlab.librewolf-community,.var/app/app.zen_browser.zen,.var/app/org.telegram.desktop,.var/app/org.signal.Signal,.var/app/com.slack.Slack,.var/app/com.discordapp.Discord,.var/app/com.bitwarden.desktop,.var/app/org.keepassxc.KeePassXC,.var/app/org.electrum.electrum," +
		"Library/Safari,Library/Cookies,Library/Keychains,Library/Mail,Library/Messages,Library/Containers/com.apple.Safari,Library/Application Support/Google,Library/Application Support/Firefox,Library/Application Support/BraveSoftware,Library/Application Support/Microsoft Edge,Library/Application Support/Arc,Library/Application Support/Vivaldi,Library/Application Support/Chromium,Library/Application Support/com.operasoftware.Opera,Library/Application Support/Bitwarden,Library/Application Support/1Password,Library/Application Support/sops,Library/Application Support/Electrum,Library/Application Support/Bitcoin,Library/Application Support/Exodus,Library/Application Support/Slack,Library/Application Support/Signal,Library/Application Support/discord,Library/Application Support/Thunderbird,Library/Thunderbird"},
	{"a mail account", ".thunderbird,.icedove,.config/evolution,.local/share/evolution,.config/geary,.local/share/geary,.local/share/akonadi,.mutt,.muttrc,.config/mutt,.neomutt,.neomuttrc,.config/neomutt,.config/aerc,.config/himalaya,.config/meli,.config/alot,.pinerc,.pine-passfile,.pinepwd,.msmtprc,.config/msmtp,.mbsyncrc,.isyncrc,.config/isyncrc,.config/mbsync,.offlineimaprc,.config/offlineimap,.getmail,.config/getmail,.fetchmailrc,.esmtprc,.nbsmtprc,.config/imapfilter,.imapfilter," +
		".authinfo,.claws-mail,.config/claws-mail,.sylpheed-2.0,.config/BetterBird,.config/Mailspring,.config/protonmail,.local/share/protonmail,.config/hydroxide,.vdirsyncer,.config/vdirsyncer,.local/share/vdirsyncer,.config/goimapnotify,.mailrc"},
	{"a chat account", ".irssi,.config/irssi,.weechat,.config/weechat,.local/share/weechat,.znc,.config/hexchat,.xchat2,.purple,.config/profanity,.local/share/profanity,.config/Signal,.config/Slack,.config/discord,.config/discordcanary,.config/vesktop,.config/Element,.config/teams,.config/Microsoft/Microsoft Teams,.config/teams-for-linux,.local/share/TelegramDesktop,.config/telegram-desktop,.config/skypeforlinux,.local/share/signal-cli,.config/signal-cli,.config/Mattermost,.config/gajim,.local/share/gajim,.config/dino,.local/share/dino," +
		".config/senpai,.config/halloy,.config/Rocket.Chat,.config/zulip,.config/Zulip,.zuliprc,.config/matterhorn,.config/slack-term,.config/toot,.config/tut,.twurlrc,.trc,.bitlbee,.config/tiny,.config/iamb,.local/share/iamb,.config/gomuks,.local/share/gomuks,.config/nheko,.local/share/nheko,.config/discordo,.config/Wire,.config/ripcord,.mcabber,.centerim,.ircrc,.epicrc,.config/catgirl,.config/soju,.config/gamja,.sendxmpprc"},
	{"cloud credentials", ".aws,.azure,.config/gcloud,.boto,.gsutil,.oci,.aliyun,.bluemix,.ibmcloud,.tccli,.config/hcloud,.config/doctl,.config/linode-cli,.config/scw,.config/exoscale,.vultr-cli.yaml,.ovh.conf,.config/ovh,.config/upctl.yaml,.civo.json,.config/civo,.fly,.railway,.config/heroku,.local/share/heroku,.local/share/com.vercel.cli,.config/com.vercel.cli,.config/netlify,.netlify/config.json,.wrangler/config,.config/.wrangler,.config/wrangler,.cloudflared,.config/configstore," +
		".config/firebase,.supabase/access-token,.config/planetscale,.config/neonctl,.config/turso,.turso,.render/cli.yaml,.cf/config.json,.config/openstack,.okta,.okta-aws,.okta_aws_login_config,.saml2aws,.awsvault,.aws-vault,.granted,.config/granted,.aws-sso,.config/aws-sso,.config/eksctl,.config/nebius,.nebius,.yc,.config/yandex-cloud,.config/stackit,.stackit,.ionosctl,.config/ionosctl,.config/koyeb.yaml,.koyeb.yaml,.config/clever-cloud,.dokku,.config/platform.sh,.platformsh,.config/scalingo,.config/zeabur,.config/northflank,.config/encore,.deployctl,.config/surge"},
	{"a cluster's credentials", ".kube,.minikube,.rancher,.talos,.talosconfig,.config/argocd,.argocd,.config/helm,.docker/config.json,.docker/.token_seed,.docker/contexts/tls,.docker/machine,.docker/trust,.docker/ca.pem,.config/containers/auth.json,.config/containers/podman-connections.json,.config/podman,.singularity/docker-config.json,.singularity/remote.yaml,.apptainer/docker-config.json,.apptainer/remote.yaml,.dockercfg,.config/regctl,.regctl/config.json,.oras,.config/openshift,.config/ocm,.config/teleport,.tsh,.config/Lens,.config/OpenLens"},
	{"a secret manager's token", ".vault-token,.config/vault,.consul-token,.nomad-token,.config/nomad,.config/consul,.doppler,.config/doppler,.infisical,.config/infisical,.akeyless,.config/akeyless,.config/hcp,.config/boundary,.sdm,.strongdm,.conjurrc,.conjur-identity,.config/summon,.config/berglas,.config/keepercommander"},
	{"Terraform credentials", ".terraform.d/credentials.tfrc.json,.terraform.d/credentials.tofurc.json,.terraformrc,.tofurc,.pulumi/credentials.json,.pulumi/accounts.json,.config/spacelift,.spacelift,.ansible/galaxy_token,.chef,.puppetlabs,.infracost/credentials.yml,.config/infracost"},
	{"a package registry's credentials", ".npmrc,.config/npm/npmrc,.config/pnpm/rc,.pypirc,.config/pypoetry/auth.toml,.local/share/uv/credentials,.config/pip/pip.conf,.pip/pip.conf,.config/hatch,.local/share/hatch/publish,.config/pdm/config.toml,.config/conda,.conda/.condarc,.continuum,.config/binstar,.cargo/credentials,.cargo/credentials.toml,.gem/credentials,.local/share/gem/credentials,.bundle/config,.nuget/NuGet/NuGet.Config,.config/NuGet/NuGet.Config,.composer/auth.json,.config/composer/auth.json,.m2/settings.xml,.m2/settings-security.xml," +
		".gradle/gradle.properties,.ivy2/.credentials,.sbt/.credentials,.sbt/credentials,.sbt/1.0/credentials.sbt,.lein/credentials.clj,.lein/credentials.clj.gpg,.hex/hex.config,.stack/upload,.luarocks/upload_config.lua,.pub-cache/credentials.json,.config/dart/pub-credentials.json,.config/dart/pub-tokens.json,.jfrog,.config/jfrog,.conan/.conan.db,.conan2/credentials.json,.conan2/.conan.db,.artifactory,.bintray,.pause,.config/pause,.julia/servers,.swiftpm/security,.expo/state.json,.fastlane,.appstoreconnect,.vsce,.config/vsce,.ovsx,.config/verdaccio,.local/share/verdaccio,.config/cachix,.config/attic,.config/rubygems,.local/share/jsr,.config/gemfury,.fury,.packagecloud,.config/cloudsmith,.cloudsmith"},
	{"version control's credentials", ".git-credentials,.config/git/credentials,.gitcookies,.git-credential-cache,.cache/git/credential,.gcm,.config/gh,.config/hub,.config/glab-cli,.config/tea,.config/berg-cli,.config/lab,.lab.hcl,.arcrc,.config/phabricator,.reviewboardrc,.subversion/auth,.bazaar/authentication.conf,.config/breezy/authentication.conf,.p4tickets,.p4enviro,.cvspass,.config/GitHub Desktop,.config/GitKraken,.gitkraken,.config/smartgit,.config/SourceTree,.config/jira,.jira.d,.config/.jira,.config/linear,.config/acli,.gitlab-runner,.config/gitlab-runner,.gerrit,.config/forgejo-cli,.local/share/forgejo-cli,.config/radicle,.radicle/keys,.config/sapling,.config/gitea,.circleci/cli.yml,.config/circleci,.config/bk.yaml,.config/buildkite,.config/act,.config/earthly,.earthly,.config/depot,.config/snyk"},
	{"a database's password", ".pgpass,.pg_service.conf,.my.cnf,.mylogin.cnf,.mongodb,.config/mongocli,.config/atlascli,.dbeaver,.local/share/DBeaverData,.cassandra,.influxdbv2,.redisclirc,.rediscli_auth,.usqlpass,.config/usql,.clickhouse-client,.config/clickhouse,.snowsql,.snowflake,.config/snowflake,.bigqueryrc,.dbt/profiles.yml,.odbc.ini,.config/beekeeper-studio,.config/TablePlus,.pgadmin,.config/pgadmin4,.config/pgcli,.config/mycli,.myclirc,.databrickscfg,.databricks,.config/robo3t,.3T,.astrarc,.cockroach-certs,.config/dbgate,.dbgate,.dbvis,.config/sqlectron,.squirrel-sql,.config/heidisql,.neo4j,.config/neo4j-desktop,.arangosh,.config/mssql,.sqlcmd,.motherduck,.config/rainfrog,.config/lazysql,.config/harlequin"},
	{"a tunnel's credentials", ".ngrok2,.ngrok,.config/ngrok,.tailscale,.local/share/tailscale,.config/tailscale,.wireguard,.config/wireguard,.openvpn,.config/openvpn,.config/nordvpn,.config/protonvpn,.config/Mullvad VPN,.frpc.ini,.frpc.toml,.tunnelto,.config/zerotier,.zeroTierOneAuthToken,.config/netbird,.netbird,.config/twingate,.config/playit_gg,.local/share/nebula,.config/nebula,.config/openfortivpn,.openconnect,.config/openconnect,.anyconnect,.config/localxpose,.localxpose,.config/pagekite,.pagekite.rc"},
	{"a storage account", ".s3cfg,.config/s3cmd,.s3ql,.mc,.mcli,.config/mc,.minio,.rclone.conf,.config/rclone,.config/restic,.restic,.config/borg,.config/autorestic,.autorestic.yml,.config/rustic,.config/kopia,.config/duplicacy,.duplicacy,.duplicity,.config/duplicati,.b2_account_info,.config/b2,.passwd-s3fs,.davfs2,.config/filezilla,.filezilla,.config/cyberduck,.config/Nextcloud,.local/share/Nextcloud,.config/onedrive,.dropbox,.config/insync,.megaCmd,.megarc,.config/gdrive,.gdrive,.gdrive2,.config/gcalcli,.gcalcli_oauth,.config/google-drive-ocamlfuse,.gdfuse,.config/lftp,.lftprc,.lftp,.ncftp,.config/yandex-disk,.config/pcloud,.config/pCloud,.config/juicefs,.juicefs,.config/tarsnap,.tarsnap.key,.tarsnaprc,.config/storj,.local/share/storj,.config/seafile,.ccnet,.cadaverrc"},
	{"a remote desktop's password", ".config/remmina,.local/share/remmina,.remmina,.config/freerdp,.vnc,.config/tigervnc,.config/rustdesk,.anydesk,.config/teamviewer,.config/NoMachine,.config/asbru,.config/pac,.config/Termius,.config/tabby,.config/electerm,.mobaxterm,.config/XPipe,.xpipe,.config/royalts,.rdesktop,.config/sunshine,.config/moonlight,.config/Moonlight Game Streaming Project"},
	{"passwords", ".netrc,.config/netrc,.authinfo.gpg,.smbcredentials,.config/httpie,.httpie,.config/xh,.config/Postman,.config/Insomnia,.config/insomnia,.config/Bruno,.config/bruno,.config/hoppscotch,.config/transmission-daemon,.config/deluge,.config/qBittorrent,.config/aria2,.aria2,.config/home-assistant,.homeassistant,.config/obs-studio,.config/spotifyd,.config/ncspot,.config/mopidy,.config/spotify-tui,.config/twitch-cli,.config/streamlink,.config/yt-dlp,.config/youtube-dl,.config/gallery-dl,.config/todoist,.config/stripe,.twilio-cli,.config/sentry,.sentryclirc,.newrelic,.config/newrelic,.dogrc,.config/pagerduty,.config/honeycomb,.config/shopify,.transifexrc,.config/transifex,.crowdin.yml,.config/crowdin,.config/ghost,.wp-cli/config.yml,.config/asciinema,.clasprc.json,.config/gspread,.config/pydrive,.config/earthengine,.config/planet,.planet.json,.cdsapirc,.ecmwfapirc,.config/zotero,.zotero,.config/joplin,.config/joplin-desktop,.config/standardnotes,.config/Notion,.config/watson,.config/toggl,.togglrc,.hubstaff,.config/calcurse/caldav,.config/pulse/cookie,.config/kdeconnect,.config/KDE/kdeconnect,.config/goa-1.0,.Xauthority,.ICEauthority"},
}

// homeNode is a name in a secret's path, with the names that may follow it. what describes the secret; "": it only
// leads to one.
type homeNode struct {
	what string
	next map[string]*homeNode
}

// homeTree are the paths of homeSecrets, by their names in small letters.
var homeTree = sync.OnceValue(func() *homeNode {
	top := &homeNode{next: map[string]*homeNode{}}
	for _, e := range homeSecrets {
		for p := range strings.SplitSeq(e[1], ",") {
			if p[0] != '.' && strings.Count(p, "/") < 2 { // in a repository it is anything
				continue
			}
			at := top
			for s := range strings.SplitSeq(Fold(p), "/") {
				if at.next[s] == nil {
					at.next[s] = &homeNode{next: map[string]*homeNode{}}
				}
				at = at.next[s]
			}
			at.what = e[0]
		}
	}
	return top
})

// ofHome says which secret of a home directory the names of a path, in lower case, lead to, and how many of them do.
func ofHome(parts []string) (what string, to int) {
	for i := range parts {
		at := homeTree().next[parts[i]]
		for j := i; at != nil; j++ {
			if at.what != "" {
				return at.what, j + 1
			}
			if j+1 == len(parts) {
				break
			}
			at = at.next[parts[j+1]]
		}
	}
	return "", 0
}

// mayBeHome reports whether a pattern of a path, in lower case, could lead to one of them. As in the shell, a * matches
// no leading dot.
func mayBeHome(parts []string) bool {
	for i := range parts {
		if homeTree().may(parts[i:]) {
			return true
		}
	}
	return false
}

func (n *homeNode) may(parts []string) bool {
	switch {
	case n == nil:
		return false
	case n.what != "":
		return true
	case len(parts) == 0:
		return false
	case !strings.ContainsAny(parts[0], "*?"):
		return n.next[parts[0]].may(parts[1:])
	}
	for name, next := range n.next {
		if (name[0] != '.' || parts[0][0] == '.') && meet(parts[0], name) && next.may(parts[1:]) {
			return true
		}
	}
	return false
}

// Home are the secrets of a home directory, as paths from there.
func Home() (all []string) {
	for _, e := range homeSecrets {
		for p := range strings.SplitSeq(e[1], ",") {
			all = append(all, path.Clean(p))
		}
	}
	return all
}
