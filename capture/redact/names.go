package redact

import (
	"bytes"
	"slices"
	"strings"
)

// secretName is the end of the names of variables, fields and parameters whose value is a credential.
type secretName struct {
	end    string // without signs, in lower case
	called string // in the replacement
	sure   bool   // a value that is plausible is enough, it need not be random
}

// secretNames are those that are known; what is longer comes first.
var secretNames = []secretName{
	{"authorizationtoken", "authorization_token", true}, {"awssecretaccesskey", "aws_secret_access_key", true},
	{"secretaccesskey", "secret_access_key", true}, {"proxyauthorization", "proxy-authorization", true}, {"authorization", "authorization", true},
	{"xgoogapikey", "x-goog-api-key", true}, {"xapikey", "x-api-key", true}, {"apikey", "api_key", false}, {"apitoken", "api_token", false},
	{"accesstoken", "access_token", false}, {"refreshtoken", "refresh_token", false}, {"sessiontoken", "session_token", false},
	{"authtoken", "auth_token", false}, {"clientsecret", "client_secret", true}, {"privatekey", "private_key", false},
	{"secretkey", "secret_key", false}, {"signingkey", "signing_key", false}, {"accesskey", "access_key", false},
	{"accountkey", "account_key", false}, {"authkey", "auth_key", false}, {"masterkey", "master_key", false},
	{"encryptionkey", "encryption_key", false}, {"passphrase", "passphrase", false}, {"password", "password", false},
	{"passwd", "password", false}, {"pwd", "password", false}, {"secret", "secret", false}, {"token", "token", false},
	{"credentials", "credentials", false}, {"credential", "credentials", false},
}

// plainNames are what names that end so have in them when their value is no credential: cursors, vocabularies, caches.
var plainNames = []string{
	"page", "next", "continu", "cursor", "sync", "csrf", "xsrf", "cancel", "public", "cache", "idempotenc", "primary", "foreign", "sort", "partition",
	"eostoken", "bostoken", "padtoken", "stoptoken", "unktoken", "masktoken", "septoken", "maxtoken", "mintoken", "thought", "resume", "design",
}

// queryNames are parameters of a URL whose value is a credential, beyond those that are called so anywhere.
var queryNames = map[string]string{
	"key": "key", "sig": "sig", "signature": "signature", "auth": "auth", "code": "code", "subscriptionkey": "subscription-key", "session": "session",
	"assertion": "assertion", "codeverifier": "code_verifier",
}

const nameLimit = 64 // characters of a name that are looked at

var inName = classOf("_-.", "az", "AZ", "09")

// credentialName is what a name says about its value, if that is a credential.
func credentialName(name []byte) (known secretName, ok bool) {
	var plain [nameLimit]byte
	n := 0
	upper := true
	for _, c := range name[max(0, len(name)-nameLimit):] {
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z':
			upper = false
		case c < '0' || c > '9':
			continue
		}
		plain[n] = c
		n++
	}
	said := plain[:n]
	i := slices.IndexFunc(secretNames, func(s secretName) bool { return bytes.HasSuffix(said, []byte(s.end)) })
	switch {
	case slices.ContainsFunc(plainNames, func(p string) bool { return bytes.Contains(said, []byte(p)) }):
		return secretName{}, false
	case i >= 0:
		return secretNames[i], true
	case upper && bytes.HasSuffix(name, []byte("_KEY")): // of an environment
		return secretName{called: "key"}, true
	}
	return secretName{}, false
}

// assigned is what the text says about the value that follows, when it ends as an assignment to a credential does: NAME=,
// name: , "name":, &name=.
func assigned(text []byte) (known secretName, ok bool) {
	sign := text[len(text)-1]
	text = bytes.TrimRight(text[:len(text)-1], " \t")
	if n := len(text); n > 0 && strings.IndexByte("\"'`]", text[n-1]) >= 0 {
		text = bytes.TrimRight(text[:n-1], "\"'`")
	}
	n := trailing(text, inName)
	name := text[len(text)-n:]
	if len(name) == 0 {
		return secretName{}, false
	}
	known, ok = credentialName(name)
	if before := len(text) - n - 1; sign == '=' && before >= 0 && (text[before] == '?' || text[before] == '&') {
		known.sure = true
		if called := queryNames[strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(string(name)))]; called != "" {
			return secretName{called: called, sure: true}, true
		}
	}
	return known, ok
}

// The value that is assigned, in quotes or not.
const (
	inQuotes = "[^\\x00-\\x1f\"\\\\\\x7f]{8,}"
	inSingle = "[^\\x00-\\x1f\"'`\\\\\\x7f]{8,}"
)

var (
	bareRule   = valueRule(visible+`{8,}`, inSentence(random), "([{", false)
	bareSure   = valueRule(visible+`{8,}`, inSentence(plausible), "([{", false)
	quotedRule = valueRule(inQuotes, inLine(random), `"`, true)
	quotedSure = valueRule(inQuotes, inLine(plausible), `"`, true)
	singleRule = valueRule(inSingle, inLine(random), "'`", true)
	singleSure = valueRule(inSingle, inLine(plausible), "'`", true)
)

// bare, quoted and single are the rules of a value after that name.
func (s secretName) bare() *rule   { return either(s.sure, bareSure, bareRule) }
func (s secretName) quoted() *rule { return either(s.sure, quotedSure, quotedRule) }
func (s secretName) single() *rule { return either(s.sure, singleSure, singleRule) }

func either(sure bool, yes, no *rule) *rule {
	if sure {
		return yes
	}
	return no
}

// valueRule is the rule of a value that one of the ends follows, or none of them does.
func valueRule(shape string, f fit, ends string, must bool) *rule {
	return compiled([]*rule{{name: "value", after: "=", shape: shape, fit: f, ends: func(c byte) bool { return strings.IndexByte(ends, c) >= 0 == must }}})[0]
}
