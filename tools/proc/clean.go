package proc

import (
	"slices"
	"strings"
)

// Clean returns env without provider variables and *_KEY, *_TOKEN, *_SECRET
// (and the like: *_PASSWORD, *_CREDENTIALS), for attended agents' tools.
func Clean(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		name, _, ok := strings.Cut(e, "=")
		if ok && name != "" && !secret(strings.ToUpper(name)) {
			out = append(out, e)
		}
	}
	return out
}

var (
	providers = []string{
		"ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "GOOGLE_GENAI_", "VERTEXAI_", "OLLAMA_", "OPENROUTER_",
		"GROQ_", "DEEPSEEK_", "MISTRAL_", "XAI_", "COHERE_", "TOGETHER_", "FIREWORKS_", "CEREBRAS_", "PERPLEXITY_",
		"REPLICATE_", "AWS_BEARER_",
	}
	// A name is secret if these are the end of it after an underscore, or all of it.
	secrets = []string{
		"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD",
		"CREDENTIAL", "CREDENTIALS", "CREDS", "PAT", "AUTH", "COOKIE", "KEY_ID", "SECRET_ID",
	}
)

// secret reports whether a variable of that name (upper case) is left out.
func secret(name string) bool {
	switch name {
	case "PWD", "OLDPWD":
		return false
	case "PGPASSWORD", "GOOGLE_APPLICATION_CREDENTIALS":
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
	// A number or a stage behind the word changes nothing: API_KEY_2, TOKEN_PROD.
	for _, s := range []string{"_API_KEY_", "_TOKEN_", "_SECRET_", "_PASSWORD_", "_ACCESS_KEY_"} {
		if strings.Contains("_"+name, s) {
			return true
		}
	}
	return false
}

// ownOptions are variables that make the shell read a command otherwise than it
// is written: where cd goes, what a pattern matches.
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
