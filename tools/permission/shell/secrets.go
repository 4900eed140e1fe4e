package shell

// secretPlaces are files and directories that hold secrets wherever they are, with everything below them. In a name
// with a slash the first part is the directory of the second. Names are lower case and separated by a comma; a *
// matches any letters.
var secretPlaces = names([][2]string{
	{"environment secrets", ".env,.envrc,.envs,*.env"},
	{"secrets", "*secrets*"},
	{"credentials", "*credentials*"},
	{"SSH keys", ".ssh,.vagrant.d,.putty"},
	{"an SSH key", "id_rsa,id_dsa,id_ecdsa,id_ed25519"},
	{"GnuPG keys", ".gnupg"},
	{"AWS credentials", ".aws"},
	{"Google Cloud credentials", ".config/gcloud,gcloud/legacy_credentials"},
	{"Kubernetes credentials", ".kube"},
	{"cloud credentials", ".azure,.oci,.aliyun,.bluemix,.config/doctl,.config/hcloud,.config/rclone,.config/heroku,.config/linode-cli,.config/scw,.config/github-copilot,.cloudflared,.snowsql,.subversion/auth,.fly,.railway"},
	{"GitHub credentials", ".config/gh,.config/hub"},
	{"GitLab credentials", ".config/glab-cli"},
	{"registry credentials", ".npmrc,.pypirc,.docker/config.json,.cargo/credentials,.cargo/credentials.toml"},
	{"passwords", ".netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.purple,.irssi"},
	{"password hashes", "etc/shadow,etc/gshadow"},
	{"a token", ".vault-token"},
	{"a password store", ".password-store,.config/op"},
	{"a keychain", "keychains"},
	{"a keyring", "keyrings"},
	{"a browser profile", ".mozilla,google-chrome,chromium,bravesoftware,application support/google,application support/firefox"},
	{"a mail profile", ".thunderbird"},
	{"a shell history", ".bash_history,.zsh_history"},
	{"a key or certificate", "*.pem"},
	{"a key", "*.key,.chef"},
	{"a key store", "*.p12,*.pfx,*.jks,*.keystore"},
	{"a password database", "*.kdbx"},
	{"a VPN profile", "*.ovpn"},
})

// secretFiles hold secrets, judging by the name of the file alone. Names of source code don't count, except those that
// are listed in full.
var secretFiles = names([][2]string{
	{"environment secrets", "*.env.*,env.local,env.production,env.prod,.flaskenv,.dev.vars,*.dev.vars,.dev.vars.*,.prod.vars"},
	{"Terraform variables", "*.tfvars,*.tfvars.json"},
	{"Terraform state", "*.tfstate,*.tfstate.*,*.tfplan"},
	{"Terraform credentials", ".terraformrc,terraform.rc,credentials.tfrc.json"},
	{"Packer variables", "*.pkrvars.hcl,*.pkrvars.json"},
	{"Kubernetes credentials", "kubeconfig*,*.kubeconfig,*-kubeconfig,*_kubeconfig,*kubeconfig.yaml,*kubeconfig.yml,*kubeconfig.json,kube_config*,kube-config*,k3s.yaml"},
	{"a vault's password", "vault_pass*,.vault_pass*,.vault-pass*,vault-pass*,vault.yml,vault.yaml"},
	{"a service account's key", "*serviceaccount*.json,*service-account*.json,*service_account*.json,*firebase-adminsdk*.json,*firebase_adminsdk*.json,gcp-key*.json,gcloud*.json"},
	{"an OAuth client's secret", "client_secret*.json,client-secret*.json,oauth*.json"},
	{"secrets", "*secret*.json,*secret*.yml,*secret*.yaml,*secret*.toml,*secret*.ini,*secret*.txt,*secret*.properties,*secret*.conf,*secret*.cfg,.secret,*.secret"},
	{"API keys", "api_key*,apikey*,api-key*,*.apikey,*api_key*.txt,*api-key*.txt,*apikey*.txt,googleservice-info.plist,google-services.json"},
	{"AWS credentials", "accesskeys*.csv,*_accesskeys.csv,*.aws.csv"},
	{"cloud credentials", ".s3cfg,.boto,.passwd-s3fs,.mc/config.json,rclone.conf,*.publishsettings,*.cscfg,.tugboat,heroku.json,access_tokens.db,accesstokens.json,azureprofile.json,msal_token_cache.*"},
	{"a token", "token.json,*.token,.*_token,.*-token,*_token.txt,*-token.txt,huggingface/token,.huggingface/token,.clasprc.json,.sentryclirc,.databrickscfg,kaggle.json,ngrok.yml,ngrok.yaml,.circleci/cli.yml,token.txt,access_token,.access_token,refresh_token,.token"},
	{"GitHub credentials", "gh/hosts.yml,.gitrobrc"},
	{"git credentials", ".git-credentials*,git-credentials,git/credentials"},
	{"registry credentials", "composer/auth.json,.composer/auth.json,.dockercfg*,.dockerconfigjson,settings-security.xml,.npmrc*,.pypirc*,.gem/credentials"},
	{"passwords", ".netrc*,_netrc*,netrc,.authinfo*,authinfo.gpg,.rediscli_auth,.vnc/passwd,wpa_supplicant*.conf,*.nmconnection,.password,.passwd,passphrase*.txt,.passphrase*,.pgpass*,pgpass.conf,.my.cnf*,.mylogin.cnf,*.htpasswd,htpasswd*,.htpasswd*,passwords*,passwords.txt,password.txt,passwd.txt,password.json,.smbcredentials," +
		"sitemanager.xml,filezilla.xml,recentservers.xml,.ftpconfig,sftp.json,sftp-config*.json,.remote-sync.json,webservers.xml,.esmtprc,.msmtprc,.fetchmailrc,.mbsyncrc,.offlineimaprc,.getmailrc,bitwarden*.json,bitwarden*.csv,lastpass*.csv,1password*.csv,*recovery-codes*.txt,*recovery_codes*.txt,*backup-codes*.txt,*backup_codes*.txt,.muttrc,ventrilo_srv.ini"},
	{"password hashes", "passwd-,shadow-,proftpdpasswd,pwd.db,spwd.db,master.passwd"},
	{"a database's password", "wp-config.php,localsettings.php,.dbeaver-data-sources.xml,datasources.local.xml,robomongo.json"},
	{"a password database", "*.psafe3,*.kdb,*.kdbx,*.agilekeychain,*.opvault,*.1pif,*.kwallet,key3.db,key4.db,logins.json"},
	{"a keychain", "*.keychain,*.keychain-db"},
	{"cookies", "cookies.sqlite,cookies.txt,*.har"},
	{"an SSH key", "id_rsa*,id_dsa*,id_ecdsa*,id_ed25519*,id_xmss*,*_rsa,*_dsa,*_ecdsa,*_ed25519,ssh_host_*_key"},
	{"a key", "*.jwk,key.json,keyfile.json,*-key.json,*_key.json,*.p8,*.pkcs8,*.pk8,*.ppk,*.asc,*.pvk,*.bek,*.fve,*.age-key,*.private,*private*key*.txt,*privatekey*,*private_key*,*private-key*,*.agekey,*.snk,secring.gpg,keys.txt"},
	{"a key store", "*.pkcs12,*.jceks,*.bks,*.truststore,*.bcfks"},
	{"a key store's password", "keystore.properties,key.properties,signing.properties"},
	{"a wallet", "wallet.dat,*.wallet,mnemonic*.txt,seed-phrase*.txt,seed_phrase*.txt,utc--*"},
	{"a session's key", ".xauthority,.iceauthority,pulse/cookie"},
	{"Kerberos keys", "*.keytab,krb5cc_*"},
	{"a VPN profile", "wg*.conf,*.wgconf,*.tblk,*.pcf"},
	{"a remote desktop's password", "*.rdp"},
	{"a signing profile", "*.mobileprovision,*.provisionprofile"},
	{"a history", ".*_history,.*-history,.histfile,.zhistory,.rhistory,fish_history,consolehost_history.txt,.lesshst,.viminfo"},
})

// bareFiles are secret as files: a directory, a package or a word of that name is none.
var bareFiles = names([][2]string{
	{"a token", "token"},
	{"a password", "password,passwd"},
	{"a secret", "secret"},
})

// leftovers are suffixes that editors and people add to the name of a copy: the copy holds the same secrets.
var leftovers = []string{
	"~", ".bak", ".bk", ".back", ".backup", ".old", ".orig", ".original", ".save", ".saved", ".copy", ".tmp", ".temp", ".swp", ".swo", ".swn", ".rej", ".dist", ".prev",
	"-bak", "_bak", "-backup", "_backup", "-old", "_old", "-copy", "_copy", " copy", " (copy)", ".disabled", ".off", ".new",
}

// doubtful files may hold credentials, and many of them do not: they are secret if they do.
var doubtful = names([][2]string{
	{"git's configuration", ".gitconfig,.gitmodules,git/config,config.worktree"},
	{"a tool's configuration", ".yarnrc.yml,.yarnrc,.bunfig.toml,bunfig.toml,nuget.config,pip.conf,pip.ini,.condarc,auth.json,settings.xml,gradle.properties,database.yml,database.yaml,appsettings*.json,local.settings.json,web.config,application-*.y*ml,application-*.properties,profiles.yml,hgrc,.hgrc,.aider.conf.yml,.curlrc,.wgetrc,.mcp.json"},
})
