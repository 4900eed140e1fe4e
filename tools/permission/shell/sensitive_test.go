package shell

import (
	"strings"
	"testing"
)

// TestSensitive_variants: every kind of secret under its common names, with the copies that editors and people leave.
func TestSensitive_variants(t *testing.T) {
	for _, p := range strings.Fields(`
		.env1 .env.staging.local .envs/.production/.django prod.env app.env.json .flaskenv .dev.vars .dev.vars.staging worker/.dev.vars
		terraform.tfvars prod.tfvars x.auto.tfvars.json terraform.tfstate terraform.tfstate.backup a/terraform.tfstate.1699999999.backup .terraformrc
		my-serviceaccount.json serviceAccountKey.json gcp-service-account-prod.json service_account.json app-firebase-adminsdk-x1.json client_secret_12.json
		AuthKey_ABC123.p8 cert.p12 cert.pfx putty.ppk vault.kdbx release.asc private.asc upload.jks release.keystore dist.mobileprovision
		kubeconfig kubeconfig.yaml kubeconfig-prod dev.kubeconfig clusters/prod-kubeconfig k3s.yaml
		id_rsa.bak id_rsa~ id_rsa.old id_ed25519.orig id_ed25519_work id_ecdsa.1 .id_rsa.swp #id_rsa# .#id_rsa id_rsa.txt id_rsa-2024 deploy_rsa github_ed25519 ssh_host_rsa_key
		.env.bak .env~ .env.1 .env.save .env.copy prod.tfvars.old terraform.tfstate.bak .npmrc.bak .netrc.old .pgpass~ server.key.bak cert.p12.copy kubeconfig.bak.old
		.git-credentials .git-credentials.bak .netrc.gpg~ .pgpass .htpasswd wp-config.php wp-config.php.bak LocalSettings.php
		.docker/config.json .dockercfg .config/gh/hosts.yml .config/gcloud/x application_default_credentials.json .s3cfg .boto rclone.conf .config/rclone/rclone.conf
		.vault-token home.ovpn wg0.conf .npmrc .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .config/hub composer/auth.json
		.python_history .psql_history .node_repl_history .mysql_history .histfile secret.yaml app-secret.json k8s/db-secret.yml .secret
		.ſsh/config .authinfo .authinfo.gpg .Xauthority wpa_supplicant.conf home.nmconnection .vnc/passwd .rediscli_auth .mbsyncrc .password passphrase.txt recovery-codes.txt wallet.dat mnemonic.txt
		key.json sa-key.json deploy_key.json x.jwk prod.tfplan group_vars/prod/vault.yml oauth_creds.json .rhistory .zhistory session.har bitwarden_export.json ngrok.yml .clasprc.json .sentryclirc
		.databrickscfg kaggle.json .github_token gh_token.txt slack-token.txt openai_api_key.txt .cache/huggingface/token .config/github-copilot/apps.json .cloudflared/x.json .circleci/cli.yml .subversion/auth/x
		passwords.txt .vault_pass.txt token.json github.token api_key.txt my-private-key.txt krb5.keytab logins.json secring.gpg`) {
		if Sensitive(p) == "" {
			t.Errorf("%s is not sensitive", p)
		}
		if up := strings.ToUpper(p); Sensitive(up) == "" {
			t.Errorf("%s is not sensitive", up)
		}
	}
	for _, p := range strings.Fields(`
		id_rsa.pub id_ed25519.pub keys.go crypto_rsa.go id_rsa_test.go kubeconfig.go pkg/kubeconfig/loader.go environment.ts env.ts src/env.d.ts service_account.go serviceaccount.ts
		token.go tokenizer.json tokens.css api_key.rb apikeys_controller.rb passwords_controller.rb private_key.rs wireguard.conf nginx.conf main.tf variables.tf package.json tsconfig.json
		README.md history.md CHANGELOG.md build.gradle gradle.properties auth.json locales/en/auth.json .yarnrc.yml core corekit.go identity.go version.1 libfoo.so.1 page.html.bak
		terraform.lock.hcl .terraform.lock.hcl keymap.json monkey.json turkey.json token password cookies tokens.go vault.go oauth.go keys.json wallet.go plan.tf mnemonic.go har.go .circleci/config.yml monkey.txt signing.md Makefile .envoy envoy.yaml .environment`) {
		if why := Sensitive(p); why != "" {
			t.Errorf("%s is sensitive: %s", p, why)
		}
	}
}

// TestSensitive_code: source code is judged as its words always were.
func TestSensitive_code(t *testing.T) {
	for p, want := range map[string]bool{"secrets.go": true, "credentials_test.go": true, "internal/credentials/x.go": true, "secret.go": false, "kubeconfig_test.go": false} {
		if got := Sensitive(p) != ""; got != want {
			t.Errorf("%s: %t", p, got)
		}
	}
}

func TestSensitivePattern_variants(t *testing.T) {
	for _, p := range []string{"*.tfvars", "prod*.tfvars", "terraform.*", "*.p8", "id_*", "id_*.bak", "kube*", "*.tfstate*", ".dev*", "wg?.conf", "*-account.json", "serv*.json", "[k]ubeconfig", "*.asc", "*", "a/*"} {
		if SensitivePattern(p) == "" {
			t.Errorf("%s matches no secret", p)
		}
	}
	for _, p := range []string{"*.go", "src/*.ts", "*_test.go", "*.md", "docs/*.txt", "*.sh"} {
		if why := SensitivePattern(p); why != "" {
			t.Errorf("%s: %s", p, why)
		}
	}
}

func TestHoldsSecrets(t *testing.T) {
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n"
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"notes", key, true},
		{"a.txt", "\n  " + key, true},
		{"x.go", key, true},
		{"bundle", "Bag Attributes\n    friendlyName: x\nKey Attributes: <No Attributes>\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n", true},
		{"chain.crt", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n", true},
		{"account.json", "{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMII\"}", true},
		{"fixture_test.go", "const x = `{\"private_key\": \"-----BEGIN PRIVATE KEY-----`", false},
		{"/w/appsettings.Production.json", `{"ConnectionStrings":{"x":"Server=h;Password=p"}}`, true},
		{"/w/appsettings.json", `{"Logging":{"Level":"Debug"}}`, false},
		{"/w/application-prod.yml", "spring.datasource.password: p", true},
		{"/w/local.settings.json", `{"Values":{"AzureWebJobsSecret":"p"}}`, true},
		{"pgp", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n", true},
		{"putty", "PuTTY-User-Key-File-3: ssh-ed25519\n", true},
		{"key_test.go", "package x\n\nconst key = `\n" + key + "`\n", false},
		{"x.py", "KEY = '''" + key, false},
		{"ca.crt", "-----BEGIN CERTIFICATE-----\n", false},
		{"id.pub", "ssh-ed25519 AAAA\n", false},
		{"/w/.git/config", "[remote \"origin\"]\n\turl = https://me:ghp_abc@github.com/x/y\n", true},
		{"/w/.git/config", "[remote \"origin\"]\n\turl = https://ghp_0123456789abcdefghij@github.com/x/y\n", true},
		{"/w/.git/config", "[http \"https://h/\"]\n\textraheader = AUTHORIZATION: basic eDp5\n", true},
		{"/w/.git/modules/sub/config", "url = https://u:p@h/x", true},
		{"/w/.git/config", "[remote \"origin\"]\n\turl = git@github.com:x/y.git\n\turl = https://github.com/x/y\n", false},
		{"/w/.gitmodules", "url = https://u:p@h/x", true},
		{"/w/.yarnrc.yml", "npmAuthToken: x", true},
		{"/w/.yarnrc.yml", "nodeLinker: node-modules\n", false},
		{"/w/auth.json", `{"http-basic":{"h":{"username":"u","password":"p"}}}`, true},
		{"/w/locales/auth.json", `{"title":"Sign in"}`, false},
		{"/w/readme.md", "https://u:p@h/x", false},
	} {
		if got := HoldsSecrets(c.name, []byte(c.head)); (got != "") != c.want {
			t.Errorf("%s %q: %q", c.name, c.head, got)
		}
	}
}

func BenchmarkSensitive(b *testing.B) {
	for b.Loop() {
		Sensitive("internal/service/handler_test.go")
	}
}

// TestSensitiveFile: a file called token holds a secret; a package, a directory and a search word of that name do not.
func TestSensitiveFile(t *testing.T) {
	for _, p := range strings.Fields(`token password passwd secret token.txt password.txt passwd.txt secret.txt deploy/token .token token.bak password~ TOKEN a/etc/secret passwd.old src/passwd .env`) {
		if SensitiveFile(p) == "" {
			t.Errorf("%s is not sensitive", p)
		}
	}
	for _, p := range strings.Fields(`token.go tokens tokens/a token/token.go password.rb passwd.c secret.go secret/secret.go secret/README.md etc/passwd /etc/passwd tokenizer main.go`) {
		if why := SensitiveFile(p); why != "" {
			t.Errorf("%s is sensitive: %s", p, why)
		}
	}
}

func TestSensitive(t *testing.T) {
	for _, p := range []string{
		".env", "a/.env", ".env.local", ".ENV", ".envrc", "/home/u/.ssh/id_rsa", "/home/u/.ssh/config", ".ssh", "/home/u/.aws/credentials", "/root/.gnupg/x", "/home/u/.netrc", "x/.kube/config",
		"/home/u/.docker/config.json", "/home/u/.config/gh/hosts.yml", "/home/u/.config/gcloud/x", "secrets.yaml", "my-secrets/x", "app_credentials.json", "Credentials", ".npmrc", ".pypirc",
		"/home/u/.mozilla/firefox/x", "/home/u/.config/google-chrome/Default/Cookies", "/proc/self/environ", "/proc/12/task/12/environ", "/proc/1/mem", "tls/server.key", "a.pem", "/etc/shadow", "id_ed25519",
		"a/../.env", "./.env", "/.env/", "//home//u/.ssh//x", "/Users/u/Library/Application Support/Firefox/x", "/Users/u/Library/Keychains/x",
	} {
		if Sensitive(p) == "" {
			t.Errorf("%s is not sensitive", p)
		}
	}
	for _, p := range []string{
		"main.go", "env.go", "environment.md", "docs/ssh.md", "aws.go", "/etc/hosts", "/proc/cpuinfo", "config.json", "docker/config.json", ".config/x", ".github/workflows/ci.yml", "keyboard.go", "", ".", "environ", ".gitignore",
	} {
		if why := Sensitive(p); why != "" {
			t.Errorf("%s is sensitive: %s", p, why)
		}
	}
}
