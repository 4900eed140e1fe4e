package proc

import (
	"slices"
	"strings"
	"testing"
)

// Random letters, so that they are not taken for a leaked key.
const (
	mixed = "qZ8rT2vLx0Ab9KdW3nYc7EfGhJ5mPs6U"
	small = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + mixed
)

// TestClean_secrets: no command gets a variable that looks like a secret, by its name or by its value, and each gets
// the others.
func TestClean_secrets(t *testing.T) {
	gone := []string{
		// by their names
		"BW_SESSION=x", "OP_SESSION_my=x", "OP_SESSION=x", "JWT=x", "APP_JWT=x", "GITHUB_TOKEN=x", "GH_TOKEN=x", "NPM_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=x", "AWS_ACCESS_KEY_ID=x", "STRIPE_API_KEY=x", "API_KEY_2=x", "TOKEN_PROD=x",
		"DB_PASSWORD=x", "PGPASSWORD=x", "MYSQL_PWD=x", "REDIS_PASS=x", "SMTP_PASSWD=x", "GPG_PASSPHRASE=x", "authToken=x", "githubToken=x", "CLIENT_SECRET=x", "SESSION_COOKIE=x", "SESSION_SECRET=x", "SIGNING_KEY=x", "APP_PRIVATE_KEY_BASE64=x", "TLS_KEY_PEM=x",
		"JIRA_PAT=x", "NPM_AUTH=x", "HTTP_AUTHORIZATION=x", "API_BEARER=x", "VAULT_SECRET_ID=x", "WALLET_MNEMONIC=x", "OTP=x", "DOCKER_AUTH_CONFIG=x", "GOOGLE_APPLICATION_CREDENTIALS=/k", "AZURE_CREDENTIALS=x", "DB_CREDS=x", "ENCRYPTION_KEYS=x", "SUDO_PASS=x", "RAILS_MASTER_KEY=x",
		// by their values
		"A=" + token, "A=Bearer " + token, "A=" + "gh" + "p_" + mixed, "A=" + "github" + "_pat_" + mixed, "A=" + "glp" + "at-" + mixed[:20], "A=" + "sk" + "_live_" + mixed, "A=" + "sk" + "_test_" + mixed, "A=" + "rk" + "_live_" + mixed, "A=" + "sk" + "-ant-api03-" + mixed, "A=" + "sk" + "-proj-" + mixed,
		"A=" + "AK" + "IAIOSFODNN7EXAMPLE", "A=" + "AS" + "IAIOSFODNN7EXAMPLE", "A=" + "AI" + "za" + mixed + "abc", "A=ya29." + mixed, "A=" + "xo" + "xb-1234567890-" + mixed, "A=" + "xa" + "pp-1-" + mixed, "A=" + "np" + "m_" + mixed + "abcd", "A=" + "py" + "pi-AgEI" + mixed, "A=" + "do" + "p_v1_" + small + small,
		"A=" + "hf" + "_" + mixed, "A=" + "SG" + "." + mixed[:22] + "." + mixed, "A=hvs." + mixed, "A=" + "ts" + "key-auth-" + mixed, "A=dp.st.prd." + mixed, "A=" + "sh" + "pat_" + small, "A=lin_api_" + mixed, "A=" + "ntn_" + mixed, "A=" + "dckr" + "_pat_" + mixed, "A=sbp_" + small, "A=gsk_" + mixed, "A=" + "NRAK" + "-" + strings.ToUpper(small),
		"A=123456789:AA" + mixed + "a", "A=" + "dapi" + small, "A=" + "AT" + "ATT3" + mixed, "A=PMAK-" + small, "A=glsa_" + mixed, "A=" + "SK" + small, "A=oauth:" + small,
		"DATABASE_URL=postgres://u:p@h/d", "DATABASE=mysql://root:hunter2@db:3306/x", "REDIS_URL=redis://:pass@h:6379", "HTTPS_PROXY=http://u:p@proxy:3128", "GOPROXY=https://me:tok@proxy.example,direct", "PIP_INDEX_URL=https://__token__:x1y2@pypi.example/simple", "SENTRY_DSN=https://" + small + "@o1.ingest.sentry.io/1",
		"REPO=https://" + mixed + "@github.com/x/y", "DSN=user:pass@tcp(127.0.0.1:3306)/db", "CONN=Server=h;User Id=u;Password=p4ss;", "CONN=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + mixed + "==", "CONN=host=h user=u password=hunter2 dbname=d", "SAS=https://a.blob.core.windows.net/c?sv=1&sig=" + mixed,
		"HOOK=https://hooks.slack.com/services/T0/B0/x", "HOOK=https://discord.com/api/webhooks/1/x", "URL=https://api.example/?access_token=" + mixed, "OPTS=--password=hunter2", "OPTS=--token hunter22", "HEADER=Authorization: Basic dTpw", "CURL_OPTS=-H 'Authorization: token x'",
		"CERT=-----BEGIN RSA PRIVATE KEY-----\nMII", "CERT=-----BEGIN OPENSSH PRIVATE KEY-----", "CERT=-----BEGIN PGP PRIVATE KEY BLOCK-----", "CERT=LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk", "AGE=AGE-SECRET-KEY-1" + strings.ToUpper(mixed), `SA={"type":"service_account","private_key":"x123"}`, `AUTHS={"auths":{"h":{"auth":"dTpwYXNzd29yZA=="}}}`, "NPMRC=//registry.example/:_authToken=" + mixed,
		"BLOB=" + mixed + mixed + "==", "BLOB=" + mixed + "+" + mixed[3:] + "/a=", "ID=prod_" + mixed,
	}
	stay := []string{
		"PATH=/usr/local/sbin:/usr/bin:/home/u/.cargo/bin", "HOME=/home/u", "PWD=/home/u/Projects/AcmeSuperProject2Backend3/Src", "OLDPWD=/", "USER=u", "LOGNAME=u", "SHELL=/bin/zsh", "LANG=en_US.UTF-8", "LC_ALL=C", "TERM=xterm-256color", "COLORTERM=truecolor", "EDITOR=vi", "VISUAL=code --wait", "PAGER=less", "LESS=-R",
		"SSH_AUTH_SOCK=/run/user/1000/ssh-agent", "SSH_AGENT_PID=1", "SSH_CONNECTION=10.0.0.1 50000 10.0.0.2 22", "SSH_TTY=/dev/pts/1", "GPG_TTY=/dev/pts/1", "XDG_SESSION_ID=3", "XDG_SESSION_TYPE=wayland", "XDG_SESSION_CLASS=user", "XDG_SESSION_DESKTOP=gnome", "DESKTOP_SESSION=gnome", "GDMSESSION=gnome", "XDG_RUNTIME_DIR=/run/user/1000", "XDG_CONFIG_HOME=/c",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus,guid=" + small, "SESSION_MANAGER=local/h:@/tmp/.ICE-unix/1,unix/h:/tmp/.ICE-unix/1", "TERM_SESSION_ID=w0t0p0:2B5F1A0E-9C3D-4E8F-A1B2-C3D4E5F60718", "ITERM_SESSION_ID=w0t0p0:2B5F1A0E-9C3D-4E8F-A1B2-C3D4E5F60718", "TERM_PROGRAM=iTerm.app", "TERM_PROGRAM_VERSION=3.5.0", "SHELL_SESSION_ID=2b5f1a0e-9c3d-4e8f-a1b2-c3d4e5f60718",
		"LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:*.tar=01;31:*.pem=01;31", "GREP_COLORS=mt=01;31", "LSCOLORS=ExFxCxDxBxegedabagacad", "EXA_COLORS=da=1;34", "INVOCATION_ID=" + small, "JOURNAL_STREAM=8:12345", "SYSTEMD_EXEC_PID=1", "MANAGERPID=1", "WINDOWID=1", "COLORFGBG=15;0", "DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0",
		"GIT_AUTHOR_EMAIL=a.b+c@example.com", "GIT_AUTHOR_NAME=Jane Q. Doe", "GIT_COMMITTER_EMAIL=noreply@example.com", "EMAIL=u@h.example", "GIT_SSH_COMMAND=ssh -i ~/.ssh/id -o IdentitiesOnly=yes", "GIT_EDITOR=vi", "GIT_COMMIT=" + small + "01234567", "SOURCE_DATE_EPOCH=1700000000", "CI_COMMIT_SHA=" + small + "01234567", "BUILD_TAG=jenkins-AcmeSuperProject-Backend-1234",
		"NIX_STORE=/nix/store", "NIX_PATH=nixpkgs=/nix/store/0a1b2c3d4e5f6g7h8i9j0k1l2m3n4p5q-source", "NIX_PROFILES=/nix/var/nix/profiles/default /home/u/.nix-profile", "out=/nix/store/zx8r2vlx0ab9kdw3nyc7efghj5mps6u1-hello-2.12", "outputHash=sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "IMAGE=registry.example/app@sha256:" + small + small, "GOSUM=h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "BUILD_ID=" + small + small,
		"GOPATH=/home/u/go", "GOFLAGS=-mod=mod", "GOPROXY=https://proxy.example,direct", "GOPRIVATE=github.com/acme/*", "CARGO_HOME=/home/u/.cargo", "RUSTFLAGS=-C target-cpu=native", "JAVA_HOME=/usr/lib/jvm/java-21", "JAVA_TOOL_OPTIONS=-Dfile.encoding=UTF-8 -Xmx2g", "MAVEN_OPTS=-Xmx1g", "NODE_OPTIONS=--max-old-space-size=4096", "NODE_ENV=test", "NVM_DIR=/home/u/.nvm", "NVM_INC=/home/u/.nvm/versions/node/v20/include/node",
		"VIRTUAL_ENV=/home/u/p/.venv", "PYTHONPATH=src:tests", "CONDA_DEFAULT_ENV=base", "CONDA_PROMPT_MODIFIER=(base) ", "PS1=\\u@\\h:\\w\\$ ", "HISTFILE=/home/u/.zsh_history", "HISTSIZE=1000", "HISTCONTROL=ignoredups:erasedups", "NO_PROXY=localhost,127.0.0.1", "HTTPS_PROXY=http://proxy.example:3128", "DOCKER_HOST=unix:///run/docker.sock", "DOCKER_BUILDKIT=1", "KUBECONFIG=/home/u/.kube/config",
		"DATABASE_URL=postgres://localhost:5432/dev", "DATABASE_URL=postgres://dev@localhost/dev", "REDIS_URL=redis://localhost:6379/0", "REPO=git@github.com:acme/app.git", "REPO=ssh://git@github.com/acme/app.git", "HOMEPAGE=https://example.com/a?b=c&page=2", "SENTRY_ENVIRONMENT=dev", "FOO=MyVeryLongProjectNameWithVersion2AndMore", "CLASS=com.acme.backend.SuperProjectApplicationFactory2", "MODULE=AcmeSuperProjectBackendServiceImplementationFactory1",
		"CC=clang", "CFLAGS=-O2 -g -fstack-protector-strong", "LDFLAGS=-L/usr/lib -Wl,-rpath,/usr/lib", "PKG_CONFIG_PATH=/usr/lib/pkgconfig", "CMAKE_PREFIX_PATH=/opt/qt6", "MAKEFLAGS=-j8", "TZ=Europe/Berlin", "SHLVL=2", "_=/usr/bin/env", "HOSTNAME=host-1.example", "HOSTTYPE=x86_64", "MACHTYPE=x86_64-pc-linux-gnu", "OSTYPE=linux-gnu", "UID=1000", "DEBUG=app:*", "FORCE_COLOR=1", "TMUX_PANE=%1", "STARSHIP_SHELL=zsh", "STARSHIP_SESSION_KEY_=",
		"FZF_DEFAULT_OPTS=--height 40% --bind ctrl-k:up", "RIPGREP_CONFIG_PATH=/home/u/.rgrc", "BAT_THEME=GitHub", "AUTHOR=Jane", "AUTHORS=a,b", "MONKEY=1", "KEYBOARD=us", "KEYMAP=de", "TOKENIZERS_PARALLELISM=false", "PASSENGER_APP=1", "SECRETARY=Jo", "COMPASS_DIR=/c", "UUID=2b5f1a0e-9c3d-4e8f-a1b2-c3d4e5f60718", "MSG=the password is asked for", "NOTE=token: see the manual",
	}
	stay = slices.DeleteFunc(stay, func(e string) bool { return strings.HasPrefix(e, "STARSHIP_SESSION") || strings.HasPrefix(e, "NOTE=") })
	for _, e := range gone {
		if got := Clean([]string{e}, nil); len(got) > 0 {
			t.Errorf("%q is given to commands", e)
		}
	}
	for _, e := range stay {
		if got := Clean([]string{e}, nil); len(got) == 0 {
			t.Errorf("%q is kept from commands", e)
		}
	}
	t.Logf("%d secrets, %d innocent ones", len(gone), len(stay))
}
