package permit

import (
	"path"
	"regexp"
	"strings"
)

var (
	// Directories and files that hold secrets wherever they stand; a name of two
	// parts stands for the second inside the first.
	secretNames = map[string]string{
		".ssh": "SSH keys", ".aws": "AWS credentials", ".gnupg": "GnuPG keys", ".kube": "Kubernetes credentials",
		".azure": "Azure credentials", ".password-store": "a password store", ".netrc": "passwords", "_netrc": "passwords",
		".npmrc": "registry credentials", ".pypirc": "registry credentials", ".git-credentials": "git credentials",
		".pgpass": "passwords", ".my.cnf": "passwords", ".htpasswd": "passwords", ".vault-token": "a token",
		".mozilla": "a browser profile", ".thunderbird": "a mail profile", "keychains": "a keychain", "keyrings": "a keyring",
		"google-chrome": "a browser profile", "chromium": "a browser profile", "bravesoftware": "a browser profile",
		".docker/config.json": "registry credentials", ".config/gh": "GitHub credentials", ".config/gcloud": "Google Cloud credentials",
		".config/hub": "GitHub credentials", ".cargo/credentials.toml": "registry credentials", ".cargo/credentials": "registry credentials",
		"application support/google": "a browser profile", "application support/firefox": "a browser profile",
		"etc/shadow": "password hashes", "etc/gshadow": "password hashes",
		"id_rsa": "an SSH key", "id_dsa": "an SSH key", "id_ecdsa": "an SSH key", "id_ed25519": "an SSH key",
		".bash_history": "a shell history", ".zsh_history": "a shell history",
	}
	secretEnds = map[string]string{
		".env": "environment secrets", ".pem": "a key or certificate", ".key": "a key", ".p12": "a key store", ".pfx": "a key store", ".jks": "a key store",
		".kdbx": "a password database", ".ovpn": "a VPN profile", ".keystore": "a key store",
	}
	procSecrets = map[string]bool{"environ": true, "mem": true, "maps": true, "auxv": true, "pagemap": true, "stack": true, "syscall": true}
	// Names a pattern is tried against, besides those of secretNames.
	secretTries = []string{".env", ".env.local", ".env.production", ".envrc", "secrets", "secrets.yaml", "credentials", "credentials.json", "server.pem", "server.key"}
	// What ends so is source code; a pattern for source code reads no secrets.
	codeEnds = map[string]bool{
		".go": true, ".py": true, ".js": true, ".ts": true, ".tsx": true, ".jsx": true, ".rs": true, ".c": true, ".h": true, ".cc": true,
		".cpp": true, ".java": true, ".kt": true, ".rb": true, ".php": true, ".sh": true, ".md": true, ".css": true, ".html": true,
		".sql": true, ".swift": true, ".cs": true, ".mod": true, ".sum": true, ".proto": true, ".lua": true, ".txt": true,
	}
)

// stage tells .env.local, .env-prod, .env_test and .env~, not .envoy.
var stage = regexp.MustCompile(`^\.env($|[^a-z0-9])`)

// Sensitive says which secrets a file of that path holds by its name; "" if
// none. The path has slashes; for a file of the workspace it counts from there.
// It judges the words only: nothing is opened.
func Sensitive(p string) string {
	parts := strings.Split(strings.ToLower(path.Clean("/" + p))[1:], "/")
	for i, s := range parts {
		what := secretNames[s]
		if i > 0 && what == "" {
			what = secretNames[parts[i-1]+"/"+s]
		}
		switch {
		case what != "":
		case s == ".envrc" || stage.MatchString(s):
			what = "environment secrets"
		case strings.Contains(s, "secrets"):
			what = "secrets"
		case strings.Contains(s, "credentials"):
			what = "credentials"
		default:
			what = secretEnds[path.Ext(s)]
		}
		if what != "" {
			return what + " (" + path.Join(parts[:i+1]...) + ")"
		}
	}
	if n := len(parts); n >= 2 && parts[0] == "proc" && procSecrets[parts[n-1]] {
		return "a process's environment or memory"
	}
	return ""
}

// sensitivePattern is Sensitive for a pattern: whether a file it could match is
// sensitive. A * does not match a leading dot, as in the shell.
func sensitivePattern(pattern string) string { return secretMatch(pattern, false) }

// secretMatch says which secrets the pattern may match; dots: a * matches a leading dot.
func secretMatch(pattern string, dots bool) string {
	for _, s := range strings.Split(pattern, "/") {
		if !strings.ContainsAny(s, "*?[") {
			continue
		}
		s = strings.ToLower(brackets(s))
		end := path.Ext(s)
		tries := append([]string{"secrets" + end, "credentials" + end}, secretTries...)
		for name := range secretNames {
			tries = append(tries, path.Base(name))
		}
		if codeEnds[end] && !strings.ContainsAny(end, "*?") {
			tries = tries[2:]
		}
		for _, t := range tries {
			if !dots && strings.HasPrefix(t, ".") && !strings.HasPrefix(s, ".") {
				continue
			}
			if ok, err := path.Match(s, t); ok || err != nil {
				return "what " + pattern + " may match"
			}
		}
	}
	return Sensitive(pattern)
}

// brackets makes a pattern's segment one that package path reads no narrower
// than the shell: [!a] and [[:alpha:]] mean something else there. A bracket
// becomes ?, and where its end is not plain, all behind it becomes *.
func brackets(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			b.WriteByte(s[i])
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '[':
			set := strings.TrimLeft(s[i+1:], "!^")
			end := strings.IndexByte(set, ']')
			if end <= 0 || strings.ContainsAny(set[:end], `[\`) {
				return b.String() + "*"
			}
			b.WriteByte('?')
			i = len(s) - len(set) + end
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
