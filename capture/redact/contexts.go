package redact

import "bytes"

const (
	bearing = `[\w.~+/=-]`                                        // a token in a header
	visible = "[^\\x00-\\x20\"'`\\\\<>[\\](){}&;,|$^\\x7f-\\xff]" // a value in a line of text
)

// contexts are the secrets that are recognised by the text before them. That text is public: it stays,
// and is not held back.
var contexts = []*rule{
	{name: "bearer", after: "Bearer ", shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Bearer {40}", miss: "Bearer token-based-authentication", from: "K"},
	{name: "bearer", after: "bearer ", shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "bearer {40}", miss: "bearer of-bad-news-and-worse", from: "K"},
	{name: "basic", after: "Basic ", shape: `[A-Za-z0-9+/]{8,}={0,2}`, is: isBasicAuth, hit: "Authorization: Basic dXNlcjpodW50ZXIyaHVudGVyMg==", miss: "Basic authentication", from: "T"},
	{name: "basic", after: "basic ", shape: `[A-Za-z0-9+/]{8,}={0,2}`, is: isBasicAuth, hit: "authorization: basic dXNlcjpodW50ZXIyaHVudGVyMg==", miss: "basic principles12", from: "T"},
	{name: "token", after: "Authorization: token ", shape: `[\w.-]{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Authorization: token {40}", miss: "Authorization: token required-for-everybody", from: "K"},
	{name: "userinfo", after: "://", shape: "[^\\x00-\\x20\"'`\\\\<>[\\]/?#@:\\x7f-\\xff]*:[^\\x00-\\x20\"'`\\\\<>[\\]/?#\\x7f-\\xff]+", fit: userinfoLen, hit: "postgres://app:{16}@db:5432/x", miss: "https://example.com:8080/a@b:c", from: "T"},
	{name: "telegram-token", after: ":", shape: `A[\w-]{34}`, where: botID, is: mixedCheck(3), hit: "bot{d9}:A{34}", miss: "line:A{34}", from: "G"},
	{name: "zai-key", after: ".", shape: `[A-Za-z0-9]{16}`, where: keyID, is: mixedCheck(2), hit: "{x32}.{16}", miss: "{x12}.{16}", from: "K"},
	{name: "azure-client-secret", after: "Q~", shape: `[\w~.-]{31,34}`, is: mixedCheck(3), hit: "{3}8Q~{34}", miss: "8Q~short", from: "G"},
	{name: "slack-webhook", after: "hooks.slack.com/services/", shape: `[A-Za-z0-9+/]{30,60}`, hit: "https://hooks.slack.com/services/T{u8}/B{u8}/{24}", miss: "https://hooks.slack.com/services/new", from: "G"},
	{name: "slack-webhook", after: "hooks.slack.com/workflows/", shape: `[A-Za-z0-9+/]{30,90}`, hit: "https://hooks.slack.com/workflows/T{u8}/A{u8}/{d18}/{24}", miss: "https://hooks.slack.com/workflows/a", from: "G"},
	{name: "slack-webhook", after: "hooks.slack.com/triggers/", shape: `[A-Za-z0-9+/]{30,90}`, hit: "https://hooks.slack.com/triggers/T{u8}/{d13}/{32}", miss: "https://hooks.slack.com/triggers/a", from: "G"},
	{name: "x-amz-signature", after: "X-Amz-Signature=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Signature={x64}", miss: "X-Amz-Signature=x", from: "K"},
	{name: "x-amz-credential", after: "X-Amz-Credential=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Credential=GOOG1E{u30}/20260101/eu-west-1/s3/aws4_request", miss: "X-Amz-Credential=x", from: "K"},
	{name: "x-amz-security-token", after: "X-Amz-Security-Token=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Security-Token={120}", miss: "X-Amz-Security-Token=x", from: "K"},
	{name: "password", after: " password ", shape: visible + `{8,}`, where: isNetrcLine, fit: lenWithoutFullStop, is: looksRandom, hit: "machine h.example login u password {16}", miss: "the password must-be-at-least-8-characters-long", from: "G T"},
	{name: "userinfo", after: " -u ", shape: `[\w.@-]+:` + visible + `{8,}`, is: afterColon, hit: "curl -u admin:{16} https://h.example", miss: "sort -u names:of-all-the-things", from: "G"},
	{name: "userinfo", after: " --user ", shape: `[\w.@-]+:` + visible + `{8,}`, is: afterColon, hit: "curl --user admin:{16} https://h.example", miss: "--user 1000:1000", from: "G"},
	{name: "token", after: " --token ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --token {24}", miss: "login --token from-the-environment", from: "K"},
	{name: "password", after: " --password ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --password {16}", miss: "login --password from-the-environment", from: "K"},
	{name: "api_key", after: " --api-key ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --api-key {24}", miss: "login --api-key from-the-environment", from: "K"},
}

// botID requires a bot's number before the colon.
func botID(tail []byte) bool {
	n := countTrailing(tail[:len(tail)-1], classOf("", "09"))
	return n >= 5 && n <= 16
}

// keyID requires 32 hexadecimal digits before the full stop.
func keyID(tail []byte) bool {
	return countTrailing(tail[:len(tail)-1], classOf("", "09", "af")) == 32 && countTrailing(tail[:len(tail)-1], alnum) == 32
}

// isNetrcLine requires a line of a .netrc file.
func isNetrcLine(tail []byte) bool {
	return bytes.Contains(tail, []byte("login ")) || bytes.Contains(tail, []byte("machine "))
}

// countTrailing returns how many characters of a class a text ends with.
func countTrailing(text []byte, class *[256]bool) (n int) {
	for n < len(text) && class[text[len(text)-1-n]] {
		n++
	}
	return n
}
