package proc

import (
	"regexp"
	"strings"
	"sync"
)

// telling matches values that grant access, whatever the variable is called: tokens that name their issuer at their
// beginning, keys, and texts next to a word for a secret.
var telling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:` + strings.Join([]string{
		`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}`,                                                        // a JSON web token
		`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`, `LS0tLS1CRUdJTi`, `AGE-SECRET-KEY-1`, `PuTTY-User-Key-File-`, // private keys, plain and in base64
		`://[^/\s:@?#]*:[^/\s@]+@`, `://[A-Za-z0-9_.-]{20,}@`, `^[^\s:/@=]+:[^\s@]+@(?:tcp|unix|udp)\(`, // addresses with a password, or with a token for a user
		`(?i:[?&;](?:access_?token|auth|token|sig|signature|x-amz-signature|api_?key|apikey|key|secret|client_secret|password|passwd|pwd)=[^&;\s]{6,})`,
		`(?i:(?:^|[;,:\s"'{])(?:password|passwd|pwd|pass|accountkey|sharedaccesskey|sharedaccesssignature|secret|secret_?key|client_?secret|api_?key|access_?token|refresh_?token|auth_?token|_auth(?:token)?|private_?key|identity_?token|token)"?\s*[=:]\s*"?[^\s"';,]{4,})`,
		`(?i:--?(?:password|passwd|token|secret|api-?key|access-?key)[= ]\S{4,})`,
		`(?i:"auth"\s*:\s*"[^"]{8,}")`, `(?i:\bauthorization\s*:)`, `(?i:\b(?:bearer|basic)\s+[A-Za-z0-9+/_.=-]{12,})`,
		`hooks\.slack\.com/(?:services|workflows)/`, `discord(?:app)?\.com/api/webhooks/`, `\.webhook\.office\.com/`, `chat\.googleapis\.com/v1/spaces/.*key=`,
		`\b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{8,}`, `\bwhsec_[A-Za-z0-9+/=]{16,}`, `\bsk-[A-Za-z0-9_-]{16,}`,
		`\bgh[pousr]_[A-Za-z0-9]{16,}`, `\bgithub_pat_[A-Za-z0-9_]{16,}`, `\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_.-]{12,}`, `\bAT(?:ATT3|BB)[A-Za-z0-9_=-]{16,}`,
		`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}`, `\bABSK[A-Za-z0-9+/=]{20,}`, `\bLTAI[A-Za-z0-9]{12,}`, `\bAIza[A-Za-z0-9_-]{30,}`, `\bya29\.[A-Za-z0-9_-]{10,}`, `\bGOCSPX-[A-Za-z0-9_-]{10,}`, `^1//0[A-Za-z0-9_-]{20,}`,
		`\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{8,}`, `\bxapp-[A-Za-z0-9-]{8,}`, `\bnpm_[A-Za-z0-9]{30,}`, `\bpypi-[A-Za-z0-9_-]{16,}`, `\brubygems_[a-f0-9]{30,}`, `\bdo[opr]_v1_[a-f0-9]{20,}`, `\bhf_[A-Za-z0-9]{20,}`, `\bSG\.[A-Za-z0-9_-]{16,}\.`,
		`\bkey-[0-9a-f]{32}\b`, `\bhv[sbr]\.[A-Za-z0-9_-]{16,}`, `^[sbr]\.[A-Za-z0-9]{24}$`, `\btskey-[a-z]+-[A-Za-z0-9-]{8,}`, `\bdp\.(?:st|pt|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{16,}`, `\bops_[A-Za-z0-9+/=_-]{40,}`, `\bA3-[A-Z0-9]{6}-`,
		`\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{20,}`, `\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{16,}`, `\bEAA[A-Za-z0-9]{40,}`, `\blin_(?:api|oauth)_[A-Za-z0-9]{20,}`, `\b(?:secret|ntn)_[A-Za-z0-9]{30,}`, `\bfig[dou]_[A-Za-z0-9_-]{20,}`, `\bpat-(?:na|eu)\d-[a-f0-9-]{30,}`, `\bNR(?:AK|JS|II|BR)-[A-Za-z0-9]{16,}`,
		`\bdckr_[op]at_[A-Za-z0-9_-]{16,}`, `\bf[mo][12]_[A-Za-z0-9+/=_-]{30,}`, `\bFlyV1 `, `\bsb(?:p|_secret|_publishable)_[A-Za-z0-9_]{20,}`, `\br8_[A-Za-z0-9]{30,}`, `\bgsk_[A-Za-z0-9]{30,}`, `\bxai-[A-Za-z0-9]{30,}`, `\bpplx-[A-Za-z0-9]{30,}`, `\bnvapi-[A-Za-z0-9_-]{30,}`, `\btvly-[A-Za-z0-9-]{20,}`, `\bre_[A-Za-z0-9]{8,}_[A-Za-z0-9]{16,}`,
		`\bv1\.0-[a-f0-9]{24}-`, `\bPMAK-[a-f0-9]{20,}`, `\bpul-[a-f0-9]{30,}`, `\bsntry[su]_[A-Za-z0-9+/=_]{20,}`, `\bgl(?:sa|c)_[A-Za-z0-9+/=_]{20,}`, `\b\d{8,10}:AA[A-Za-z0-9_-]{32,}`, `\b[MNO][A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25,}`, `\bSK[0-9a-f]{32}\b`, `\boauth:[a-z0-9]{28,}`,
		`\.atlasv1\.`, `\bbk[ucra]a?_[A-Za-z0-9]{20,}`, `\bCCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,}`, `\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{16,}`, `\bdapi[0-9a-f]{32}`, `\bsgp_[A-Za-z0-9_]{20,}`, `\bphc?x?_[A-Za-z0-9]{40,}`, `\bexp?o_[A-Za-z0-9_-]{30,}`, `\bnapi_[a-z0-9]{30,}`, `\bCFPAT-[A-Za-z0-9_-]{30,}`, `\bduffel_(?:test|live)_`, `\bEZ[AT]K[A-Za-z0-9]{40,}`, `\bshippo_(?:live|test)_`, `\bfwoa?_[A-Za-z0-9]{20,}`, `\brpa_[A-Z0-9]{30,}`,
	}, "|") + `)`)
})

// opaque are long values of letters of both cases and digits, as random bytes are written.
var opaque = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[A-Za-z]+[-_:])?[A-Za-z0-9+/_-]{32,}={0,2}$`) })

// digests matches hashes of public data.
var digests = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:sha|md|h)[0-9]+[-:]`) })

// looksSecret reports whether a value looks like it grants access.
func looksSecret(value string) bool {
	return telling().MatchString(value) || opaque().MatchString(value) && !digests().MatchString(value) && random(value)
}

// random reports whether a word is random rather than made of words, judging by the changes between capitals, lower
// case and digits. A path begins with a character of its own.
func random(word string) bool {
	if strings.IndexByte("/.~", word[0]) >= 0 {
		return false
	}
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'a' && c <= 'z':
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	var count [4]int
	turns, before := 0, 0
	for i := range len(word) {
		k := kind(word[i])
		count[k]++
		if k != 0 && before != 0 && k != before {
			turns++
		}
		before = k
	}
	return count[1] >= 2 && count[2] >= 4 && count[3] >= 4 && count[0]*8 <= len(word) && turns*5 >= len(word)*2
}
