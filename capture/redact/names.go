package redact

import (
	"bytes"
	"slices"
	"strings"
)

// secretName is the end of a name of variables, fields and parameters whose value is a credential.
type secretName struct {
	end    string // without signs, in lower case
	called string // in the replacement
	value  valueTest
}

// valueTest is the condition for the value.
type valueTest int

const (
	isRandom    valueTest = iota // it is unlikely to occur by chance
	isPlausible                  // it may be a credential
	isMeant                      // anything, as the complete value of a JSON key: a request has credentials of other servers
	isBasic                      // a name and a password, in base64
)

// secretNames are the known names; longer ones come first.
var secretNames = []secretName{
	{"authorizationtoken", "authorization_token", isMeant}, {"awssecretaccesskey", "aws_secret_access_key", isPlausible},
	{"secretaccesskey", "secret_access_key", isPlausible}, {"proxyauthorization", "proxy-authorization", isMeant},
	{"authorization", "authorization", isMeant}, {"xgoogapikey", "x-goog-api-key", isPlausible}, {"xapikey", "x-api-key", isPlausible},
	{"apikey", "api_key", isRandom}, {"apitoken", "api_token", isRandom}, {"accesstoken", "access_token", isRandom},
	{"refreshtoken", "refresh_token", isRandom}, {"sessiontoken", "session_token", isRandom}, {"authtoken", "auth_token", isRandom},
	{"clientsecret", "client_secret", isPlausible}, {"privatekey", "private_key", isRandom}, {"secretkey", "secret_key", isRandom},
	{"signingkey", "signing_key", isRandom}, {"accesskey", "access_key", isRandom}, {"accountkey", "account_key", isRandom},
	{"authkey", "auth_key", isRandom}, {"masterkey", "master_key", isRandom}, {"encryptionkey", "encryption_key", isRandom},
	{"passphrase", "passphrase", isRandom}, {"password", "password", isRandom}, {"passwd", "password", isRandom}, {"pwd", "password", isRandom},
	{"secret", "secret", isRandom}, {"token", "token", isRandom}, {"credentials", "credentials", isRandom}, {"credential", "credentials", isRandom},
	{"subscriptionkey", "subscription-key", isPlausible}, {"pass", "password", isRandom}, {"auth", "auth", isBasic},
}

// plainNames are parts of names with such an end whose value is not a credential: cursors, vocabularies,
// caches.
var plainNames = []string{
	"page", "next", "continu", "cursor", "sync", "csrf", "xsrf", "cancel", "public", "cache", "idempotenc", "primary", "foreign", "sort", "partition",
	"eostoken", "bostoken", "padtoken", "stoptoken", "unktoken", "masktoken", "septoken", "maxtoken", "mintoken", "thought", "resume", "design",
}

// queryNames are additional parameters of a URL whose value is a credential.
var queryNames = map[string]string{
	"key": "key", "sig": "sig", "signature": "signature", "auth": "auth", "code": "code", "subscriptionkey": "subscription-key", "session": "session",
	"assertion": "assertion", "codeverifier": "code_verifier",
}

const maxNameChars = 64 // characters of a name that are compared

var inName = classOf("_-.", "az", "AZ", "09")

// namesBy are the secretNames by their last letter.
var namesBy = func() (list [256][]secretName) {
	for _, name := range secretNames {
		last := name.end[len(name.end)-1]
		list[last] = append(list[last], name)
	}
	return list
}()

// credentialName returns the secretName of a name, if its value is a credential.
func credentialName(name []byte) (known secretName, ok bool) {
	if len(name) == 0 {
		return secretName{}, false
	}
	ends := namesBy[name[len(name)-1]|0x20] // in lower case
	if len(ends) == 0 {
		return secretName{}, false
	}
	said := plainForm(name)
	i := slices.IndexFunc(ends, func(s secretName) bool { return strings.HasSuffix(said, s.end) })
	switch {
	case i >= 0:
		known = ends[i]
	case bytes.HasSuffix(name, []byte("_KEY")) && !containsRange(name, 'a', 'z'): // of an environment
		known = secretName{called: "key"}
	default:
		return secretName{}, false
	}
	if slices.ContainsFunc(plainNames, func(p string) bool { return strings.Contains(said, p) }) {
		return secretName{}, false
	}
	return known, true
}

// plainForm returns a name without signs, in lower case.
func plainForm(name []byte) string {
	var plain [maxNameChars]byte
	n := 0
	for _, c := range name[max(0, len(name)-maxNameChars):] {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if alnum[c] {
			plain[n] = c
			n++
		}
	}
	return string(plain[:n])
}

// assignedName returns the secretName that a value is assigned to, if the text ends like an assignment:
// NAME=, name: , "name":, &name=.
func assignedName(text []byte) (known secretName, ok bool) {
	sign := text[len(text)-1]
	text = bytes.TrimRight(text[:len(text)-1], " \t")
	if n := len(text); n > 0 && strings.IndexByte("\"'`]", text[n-1]) >= 0 {
		text = bytes.TrimRight(text[:n-1], "\"'`")
	}
	n := countTrailing(text, inName)
	name := text[len(text)-n:]
	if len(name) == 0 {
		return secretName{}, false
	}
	known, ok = credentialName(name)
	if before := len(text) - n - 1; sign == '=' && before >= 0 && (text[before] == '?' || text[before] == '&') {
		if known.value == isRandom {
			known.value = isPlausible
		}
		if called := queryNames[plainForm(name)]; called != "" {
			return secretName{called: called, value: isPlausible}, true
		}
	}
	return known, ok
}

// The assigned value, in quotes or not.
const (
	inQuotes = "[^\\x00-\\x1f\"\\\\\\x7f]{8,}"
	inSingle = "[^\\x00-\\x1f\"'`\\\\\\x7f]{8,}"
)

// values are the rules of a value by its valueTest.
var values = []struct{ bare, quoted, single, field *rule }{
	isRandom:    valueRules(looksRandom, looksRandom),
	isPlausible: valueRules(maybeCredential, maybeCredential),
	isMeant:     valueRules(maybeCredential, looksSecret),
	isBasic:     valueRules(isBasicAuth, isBasicAuth),
}

// valueRules returns the rules of a value without quotes, in quotes of two kinds, and of a JSON key.
func valueRules(bare, field secretCheck) (rules struct{ bare, quoted, single, field *rule }) {
	rules.bare = valueRule(rule{shape: visible + `{8,}`, fit: lenWithoutFullStop, is: bare}, "([{", false)
	rules.quoted = valueRule(rule{shape: inQuotes, is: inLine(bare)}, `"`, true)
	rules.single = valueRule(rule{shape: inSingle, is: inLine(bare)}, "'`", true)
	rules.field = valueRule(rule{shape: inQuotes, is: inLine(field)}, `"`, true)
	return rules
}

// valueRule completes the rule of a value. If must is set, one of the ends must follow; otherwise none of
// them may.
func valueRule(r rule, ends string, must bool) *rule {
	r.name, r.after = "value", "="
	r.ends = func(c byte) bool { return strings.IndexByte(ends, c) >= 0 == must }
	return compileRules([]*rule{&r})[0]
}
