package redact

import "strings"

// kind is how the end of a secret is found, and what makes it one.
type kind int

const (
	run      kind = iota // the anchor and then at least min characters of the class
	token                // a JSON web token: the second part must have begun
	pem                  // a private key, up to its last line
	exact                // a secret that is known by value: its text
	field                // the whole string, because the JSON key before it says what it is
	userinfo             // a name and a password between the anchor and the last @ before the host ends
)

// rule describes one sort of secret: a text that always stands at its beginning, and what may follow.
type rule struct {
	name   string
	anchor string
	kind   kind
	class  *[256]bool
	min    int  // characters behind the anchor
	bound  bool // a letter or digit before the anchor means that it is something else: "task-force"
	keep   int  // so many characters of the anchor are no part of what is replaced
}

var (
	alnum   = classOf("", "az", "AZ", "09")
	wordish = classOf("_-", "az", "AZ", "09")
	scored  = classOf("_", "az", "AZ", "09")
	upper   = classOf("", "AZ", "09")
	dotted  = classOf("_-.", "az", "AZ", "09")
	bearing = classOf("_-.~+/=", "az", "AZ", "09")
	armour  = classOf("+/=-:,\\ \t\r\n", "az", "AZ", "09")
	urlUser = except("\"'`\\<>[]/?#")
	urlPart = except("\"'`\\<>[]/?#(){}&$|^")
	any256  = func() *[256]bool {
		var c [256]bool
		for i := range c {
			c[i] = true
		}
		return &c
	}()
)

// except is all that is printed but spaces and the characters of single.
func except(single string) *[256]bool {
	c := classOf("", "!~")
	for i := range len(single) {
		c[single[i]] = false
	}
	return c
}

func classOf(single string, ranges ...string) *[256]bool {
	var c [256]bool
	for i := range len(single) {
		c[single[i]] = true
	}
	for _, r := range ranges {
		for b := r[0]; b <= r[1]; b++ {
			c[b] = true
		}
	}
	return &c
}

// patterns are the secrets that are known by how they look. The lengths are the shortest that the makers hand out,
// or shorter; a pattern whose anchor is also the end of an English word needs a boundary before it.
var patterns = append([]*rule{
	{name: "anthropic-key", anchor: "sk-ant-", class: wordish, min: 20},
	{name: "openai-key", anchor: "sk-proj-", class: wordish, min: 20},
	{name: "openai-key", anchor: "sk-svcacct-", class: wordish, min: 20},
	{name: "openrouter-key", anchor: "sk-or-v1-", class: wordish, min: 20},
	{name: "openai-key", anchor: "sk-", class: wordish, min: 20, bound: true},
	{name: "google-key", anchor: "AIza", class: wordish, min: 35, bound: true},
	{name: "xai-key", anchor: "xai-", class: wordish, min: 20, bound: true},
	{name: "groq-key", anchor: "gsk_", class: scored, min: 20, bound: true},
	{name: "huggingface-token", anchor: "hf_", class: alnum, min: 20, bound: true},
	{name: "aws-key-id", anchor: "AKIA", class: upper, min: 16, bound: true},
	{name: "aws-key-id", anchor: "ASIA", class: upper, min: 16, bound: true},
	{name: "github-token", anchor: "ghp_", class: alnum, min: 20, bound: true},
	{name: "github-token", anchor: "gho_", class: alnum, min: 20, bound: true},
	{name: "github-token", anchor: "ghu_", class: alnum, min: 20, bound: true},
	{name: "github-token", anchor: "ghs_", class: alnum, min: 20, bound: true},
	{name: "github-token", anchor: "ghr_", class: alnum, min: 20, bound: true},
	{name: "github-token", anchor: "github_pat_", class: scored, min: 20},
	{name: "jwt", anchor: "eyJ", kind: token, class: dotted, bound: true},
	{name: "private-key", anchor: "-----BEGIN ", kind: pem, class: armour},
	{name: "bearer", anchor: "Bearer ", class: bearing, min: 16, bound: true, keep: len("Bearer ")},
	{name: "bearer", anchor: "bearer ", class: bearing, min: 16, bound: true, keep: len("bearer ")},
	{name: "userinfo", anchor: "://", kind: userinfo, class: urlUser, keep: len("://")},
	{name: "x-amz-signature", anchor: "X-Amz-Signature=", class: urlPart, min: 8, keep: len("X-Amz-Signature=")},
	{name: "x-amz-credential", anchor: "X-Amz-Credential=", class: urlPart, min: 8, keep: len("X-Amz-Credential=")},
	{name: "x-amz-security-token", anchor: "X-Amz-Security-Token=", class: urlPart, min: 8, keep: len("X-Amz-Security-Token=")},
}, placed()...)

// placed are the secrets that are known, in any text, by what stands before them: the name of a query parameter in a URL,
// or that of a header in a command line.
func placed() (list []*rule) {
	add := func(name, anchor string) {
		list = append(list, &rule{name: name, anchor: anchor, class: urlPart, min: knownMin, bound: alnum[anchor[0]], keep: len(anchor)})
	}
	for _, name := range []string{"key", "api_key", "apikey", "api-key", "access_token", "refresh_token", "token", "client_secret", "sig", "signature"} {
		add(name, "?"+name+"=")
		add(name, "&"+name+"=")
	}
	for _, name := range []string{"x-api-key", "X-Api-Key", "X-API-Key", "api-key", "Api-Key", "x-goog-api-key", "X-Goog-Api-Key"} {
		add(strings.ToLower(name), name+": ")
	}
	return list
}

// fieldRule takes a whole string. What is shorter than its min is a placeholder.
var fieldRule = &rule{name: "field", kind: field, class: any256, min: 8}

// exactRule is how a known secret goes on of which the beginning is replaced already.
var exactRule = &rule{name: "secret", kind: exact}

// secretFields are the JSON keys of provider requests whose value is a credential of somebody else's server: the
// authorization_token of Anthropic's MCP connector, the authorization and the headers of an MCP tool of OpenAI's
// Responses, and what such servers call the same thing.
var secretFields = []string{
	"authorization_token", "authorization", "Authorization", "Proxy-Authorization", "api_key", "apiKey", "access_token",
	"x-api-key", "X-Api-Key", "X-API-Key", "api-key", "Api-Key", "x-goog-api-key", "X-Goog-Api-Key",
	"refresh_token", "client_secret", "secret_access_key", "aws_secret_access_key", "session_token", "private_key",
}

// secretHeaders are the headers whose value is a credential; true means that the value is looked for in bodies too.
var secretHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "x-goog-api-key": true,
	"ocp-apim-subscription-key": true, "cookie": true, "set-cookie": true, "x-amz-security-token": true,
	"x-amz-signature": true, "openai-organization": false, "openai-project": false,
}

// plainHeaders end as a credential's name does and are none.
var plainHeaders = map[string]bool{"idempotency-key": true, "sec-websocket-key": true, "surrogate-key": true}

// secretHeader tells whether the value of a header (lower case name) is replaced, and whether it is looked for later.
func secretHeader(name string) (replaced, sought bool) {
	if sought, ok := secretHeaders[name]; ok {
		return true, sought
	}
	if plainHeaders[name] {
		return false, false
	}
	for _, end := range []string{"-token", "-secret", "-key", "_token", "_secret", "_key", "-password"} {
		if strings.HasSuffix(name, end) {
			return true, true
		}
	}
	return false, false
}

// secretQuery tells whether the value of a query parameter is a credential.
func secretQuery(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "key", "api_key", "apikey", "api-key", "token", "sig", "signature", "secret", "password", "auth",
		"subscription-key", "code_verifier":
		return true
	}
	for _, end := range []string{"_token", "_secret", "_key", "-token", "-secret", "-key"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") && strings.Contains(name, "sig")
}
