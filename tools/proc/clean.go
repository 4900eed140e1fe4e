package proc

import (
	"slices"
	"strings"

	"fantail/tools/secret"
)

// Each started program gets its environment from one of these: Own is for the human's own programs (an editor,
// notify-send), Clean for commands of attended agents and for those the human types, Bare for commands of unattended
// agents. Each has less than the one before.

// Own returns env without the variables that may hold a key, and without those whose value holds one, plain or encoded.
func Own(env []string, keys *secret.Keys) []string {
	return less(env, func(name, value string) bool { return !keys.Named(name) && !keys.Within(value) })
}

// Clean returns Own without provider variables and *_KEY, *_TOKEN, *_SECRET (and the like: *_PASSWORD, *_CREDENTIALS),
// and without values that look like secrets, whatever their names.
func Clean(env []string, keys *secret.Keys) []string {
	return less(Own(env, keys), func(name, value string) bool {
		return !guarded(strings.ToUpper(name)) && !keys.Judge(value, looksSecret)
	})
}

// Ours reports whether a variable gives the program itself a key, or holds one: a model provider's.
func Ours(name, value string, keys *secret.Keys) bool {
	up := strings.ToUpper(name)
	return len(Own([]string{name + "=" + value}, keys)) == 0 ||
		slices.ContainsFunc(providers, func(p string) bool { return strings.HasPrefix(up, p) })
}

// Bare reduces an environment from Clean to what a command needs: the user and the home directory, the language, the
// terminal, and the places of toolchains. It leaves out a proxy or an index whose address holds a password.
func Bare(env []string) []string {
	return less(env, func(name, value string) bool {
		at := strings.Index(value, "://")
		return harmless(name) && (at < 0 || !strings.Contains(value[at:], "@"))
	})
}

// less returns the variables of env for which keep returns true.
func less(env []string, keep func(name, value string) bool) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		name, value, ok := strings.Cut(e, "=")
		if ok && name != "" && keep(name, value) {
			out = append(out, e)
		}
	}
	return out
}

// plain are the variables that Bare keeps, besides LC_* and the proxies in lower case. No directory of sockets is among
// them (XDG_RUNTIME_DIR, SSH_AUTH_SOCK): programs that listen there act for the user.
var plain = strings.Fields(`
	HOME HOSTNAME LANG LANGUAGE LOGNAME PATH PWD SHELL TEMP TMP TMPDIR TZ USER
	CI CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS FORCE_COLOR LINES NO_COLOR TERM TERMINFO TERMINFO_DIRS
	XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_STATE_HOME
	HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_DIR SSL_CERT_FILE NIX_PATH NIX_SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS PIP_CERT
	CGO_CFLAGS CGO_CPPFLAGS CGO_CXXFLAGS CGO_ENABLED CGO_LDFLAGS GO111MODULE GOAMD64 GOARCH GOARM GOBIN GOCACHE GODEBUG GOENV
	GOEXPERIMENT GOFLAGS GOINSECURE GOMAXPROCS GOMODCACHE GONOPROXY GONOSUMDB GOOS GOPATH GOPRIVATE GOPROXY GOROOT GOSUMDB
	GOTMPDIR GOTOOLCHAIN GOVCS GOWORK
	AR AS CC CFLAGS CMAKE_GENERATOR CMAKE_PREFIX_PATH CPATH CPP CPPFLAGS CXX CXXFLAGS C_INCLUDE_PATH CPLUS_INCLUDE_PATH LD LDFLAGS
	LD_LIBRARY_PATH DYLD_LIBRARY_PATH LIBRARY_PATH MAKEFLAGS NM PKG_CONFIG_PATH RANLIB SDKROOT DEVELOPER_DIR
	CARGO_BUILD_JOBS CARGO_HOME CARGO_INCREMENTAL CARGO_TARGET_DIR RUSTFLAGS RUSTUP_HOME RUSTUP_TOOLCHAIN RUST_BACKTRACE
	BUN_INSTALL COREPACK_HOME DENO_DIR FNM_DIR NODE_ENV NODE_PATH NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NVM_BIN NVM_DIR PNPM_HOME
	VOLTA_HOME npm_config_cache npm_config_prefix
	CONDA_DEFAULT_ENV CONDA_PREFIX PIPX_HOME PIP_CACHE_DIR PIP_FIND_LINKS PIP_INDEX_URL POETRY_HOME PYENV_ROOT PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONHOME
	PYTHONPATH PYTHONUNBUFFERED UV_CACHE_DIR VIRTUAL_ENV
	ANDROID_HOME ANDROID_SDK_ROOT GRADLE_USER_HOME JAVA_HOME JAVA_TOOL_OPTIONS KOTLIN_HOME M2_HOME MAVEN_HOME MAVEN_OPTS SDKMAN_DIR
	BUNDLE_PATH GEM_HOME GEM_PATH RBENV_ROOT RUBYLIB COMPOSER_HOME DOTNET_ROOT NUGET_PACKAGES ERL_LIBS MIX_HOME HEX_HOME GHCUP_INSTALL_BASE_PREFIX
	OPAMROOT PERL5LIB ZIG_GLOBAL_CACHE_DIR`)

// harmless reports whether Bare keeps a variable of that name.
func harmless(name string) bool {
	if strings.HasPrefix(name, "LC_") || slices.Contains(plain, name) {
		return true
	}
	return strings.HasSuffix(name, "_proxy") && slices.Contains(plain, strings.ToUpper(name))
}

var (
	providers = []string{
		"ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "GOOGLE_GENAI_", "VERTEXAI_", "OLLAMA_", "OPENROUTER_",
		"GROQ_", "DEEPSEEK_", "MISTRAL_", "XAI_", "COHERE_", "TOGETHER_", "FIREWORKS_", "CEREBRAS_", "PERPLEXITY_",
		"REPLICATE_", "AWS_BEARER_",
	}
	// A name is secret if it is one of these, or ends in one after an underscore.
	secrets = []string{
		"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD",
		"CREDENTIAL", "CREDENTIALS", "CREDS", "PAT", "AUTH", "COOKIE", "COOKIES", "KEY_ID", "SECRET_ID",
		"JWT", "BEARER", "AUTHORIZATION", "PASSCODE", "OTP", "TOTP", "MNEMONIC", "SEED_PHRASE", "PRIVATE", "PEM", "SESSION", "TOKEN_BASE64", "KEY_BASE64", "KEY_B64", "KEY_PEM", "KEY_DATA",
	}
)

// guarded reports whether Clean leaves out a variable of that name (upper case).
func guarded(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "DESKTOP_SESSION":
		return false
	case "PGPASSWORD", "MYSQL_PWD", "GOOGLE_APPLICATION_CREDENTIALS", "DOCKER_AUTH_CONFIG", "NETRC_CONTENT":
		return true
	}
	for _, p := range providers {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, s := range secrets {
		if name == s || strings.HasSuffix(name, "_"+s) {
			return true
		}
	}
	// Written together, or in letters of both cases: GITHUBTOKEN, authToken.
	for _, s := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	// A number or a stage after the word changes nothing: API_KEY_2, TOKEN_PROD.
	for _, s := range []string{"_API_KEY_", "_TOKEN_", "_SECRET_", "_PASSWORD_", "_ACCESS_KEY_", "_PRIVATE_KEY_", "_SIGNING_KEY_", "_ENCRYPTION_KEY_", "_OP_SESSION_", "_BW_SESSION_"} {
		if strings.Contains("_"+name, s) {
			return true
		}
	}
	return false
}

// ownOptions are variables that change how the shell reads a command: where cd goes, what a pattern matches.
var ownOptions = []string{"CDPATH=", "BASHOPTS=", "SHELLOPTS=", "GLOBIGNORE="}

// forShell returns env, with dir as the working directory, as a command's shell gets it.
func forShell(env []string, dir string) []string {
	out := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !slices.ContainsFunc(ownOptions, func(o string) bool { return strings.HasPrefix(e, o) }) {
			out = append(out, e)
		}
	}
	if dir != "" {
		out = append(out, "PWD="+dir)
	}
	return out
}
