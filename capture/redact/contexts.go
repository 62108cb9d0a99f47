package redact

import (
	"bytes"
	"slices"
	"strings"
)

const (
	bearing = `[\w.~+/=-]`                                        // a token in a header
	visible = "[^\\x00-\\x20\"'`\\\\<>[\\](){}&;,|$^\\x7f-\\xff]" // a value in a line of text
)

// word and sqlText are values of a command line and of SQL.
const (
	word        = "[^\\x00-\\x20\"'`\\\\<>\\x7f-\\xff]"
	pgpassField = "[^:\\x00-\\x20\"'`\\\\]{0,62}"
	sqlText     = "[^\\x00-\\x1f\"'\\\\\\x7f]{8,}"
)

// contexts are the secrets that are recognised by the text before them. That text is public: it stays,
// and is not held back.
var contexts = []*rule{
	{name: "bearer", after: "Bearer ", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Bearer  {40}", miss: "Bearer token-based-authentication", from: "K"},
	{name: "bearer", after: "bearer ", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "bearer {40}", miss: "bearer of-bad-news-and-worse", from: "K"},
	{name: "bearer", after: "BEARER ", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "BEARER {40}", miss: "BEARER OF-BAD-NEWS-AND-WORSE", from: "K"},
	{name: "bearer", after: "Bearer\t", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Bearer\t{40}", miss: "Bearer\ttoken-based-authentication", from: "K"},
	{name: "bearer", after: "bearer\t", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "bearer\t{40}", miss: "bearer\tof-bad-news-and-worse", from: "K"},
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
	{name: "userinfo", after: " -u ", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl -u \"admin:{16}\" https://h.example", miss: "sort -u names:of-all-the-things", from: "G"},
	{name: "userinfo", after: " --user ", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl --user 'admin:{16}' https://h.example", miss: "--user 1000:1000", from: "G"},
	{name: "userinfo", after: " --user=", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl --user=admin:{16} https://h.example", miss: "--user=1000:1000", from: "G"},
	{name: "userinfo", after: " -U ", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl -U proxy:{16} https://h.example", miss: "psql -U postgres:of-all", from: "K"},
	{name: "userinfo", after: " -a ", where: commandOf("http "), expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "http -a admin:{16} h.example", miss: "ls -a names:of-all-the-things", from: "K"},
	{name: "cookie", after: " -b ", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl -b sid={32} https://h.example", miss: "git checkout -b name=of-the-branch", from: "K"},
	{name: "cookie", after: " --cookie ", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl --cookie 'sid={32}' https://h.example", miss: "--cookie name=of-the-cookie", from: "K"},
	{name: "cookie", after: " --cookie=", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl --cookie=sid={32} https://h.example", miss: "--cookie=name=of-the-cookie", from: "K"},
	{name: "password", after: " -p", expects: looseQuote, shape: word + `{6,}`, where: commandOf("mysql", "mariadb"), is: looksPassword, hit: "mysql -u root -p{16} shop", miss: "mysql -u root -pinternationalization", from: "K"},
	{name: "password", after: " -a ", expects: looseValue, shape: word + `{8,}`, where: commandOf("redis-cli"), is: looksPassword, hit: "redis-cli -h h.example -a {24} ping", miss: "redis-cli -a internationalization", from: "K"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("sshpass"), is: looksPassword, hit: "sshpass -p '{16}' ssh u@h.example", miss: "sshpass -p internationalization ssh u@h.example", from: "K"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("login"), is: looksPassword, hit: "docker login -u u -p {24} r.example", miss: "docker login -u u -p internationalization", from: "K"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("mongo"), is: looksPassword, hit: "mongosh -u u -p {24} db", miss: "mongosh -u u -p internationalization", from: "K"},
	{name: "password", after: " -w ", expects: looseValue, shape: word + `{8,}`, where: commandOf("ldap"), is: looksPassword, hit: "ldapsearch -D cn=a -w {16} -b dc=b", miss: "ldapsearch -D cn=a -w internationalization", from: "K"},
	{name: "password", after: " -P ", expects: looseValue, shape: word + `{8,}`, where: commandOf("sqlcmd"), is: looksPassword, hit: "sqlcmd -S h -U sa -P {16}", miss: "sqlcmd -S h -U sa -P internationalization", from: "K"},
	{name: "password", after: "PASSWORD '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u PASSWORD '{16}';", miss: "CREATE USER u PASSWORD 'internationalization'", from: "K"},
	{name: "password", after: "password '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u password '{16}';", miss: "CREATE USER u password 'internationalization'", from: "K"},
	{name: "password", after: "Password '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u Password '{16}';", miss: "CREATE USER u Password 'internationalization'", from: "K"},
	{name: "password", after: "IDENTIFIED BY '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u IDENTIFIED BY '{16}';", miss: "CREATE USER u IDENTIFIED BY 'internationalization'", from: "K"},
	{name: "password", after: "identified by '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u identified by '{16}';", miss: "CREATE USER u identified by 'internationalization'", from: "K"},
	{name: "password", after: ":", where: isPgpassHost, shape: `[A-Za-z_*]` + pgpassField + `:[A-Za-z_]` + pgpassField + ":" + word + `{8,}`, is: isPgpassRest, hit: "db.example:5432:shop:app:{16}", miss: "db.example:5432:shop:app:internationalization", from: "K"},
	{name: "ldap-hash", after: "{SSHA}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA}{38}==", miss: "{SSHA}{8}", from: "K"},
	{name: "ldap-hash", after: "{SSHA256}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA256}{38}==", miss: "{SSHA256}{8}", from: "K"},
	{name: "ldap-hash", after: "{SSHA512}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA512}{38}==", miss: "{SSHA512}{8}", from: "K"},
	{name: "terraform-token", after: ".atlasv1.", shape: `[\w=-]{60,70}`, is: mixedCheck(3), hit: "{14}.atlasv1.{67}", miss: "{14}.atlasv1.{9}", from: "G"},
	{name: "discord-webhook", after: "discord.com/api/webhooks/", shape: `[0-9]{17,20}/[\w-]{60,}`, is: isVaried, hit: "https://discord.com/api/webhooks/{d18}/{68}", miss: "https://discord.com/api/webhooks/{d18}/slack", from: "K"},
	{name: "discord-webhook", after: "discordapp.com/api/webhooks/", shape: `[0-9]{17,20}/[\w-]{60,}`, is: isVaried, hit: "https://discordapp.com/api/webhooks/{d18}/{68}", miss: "https://discordapp.com/api/webhooks/{d18}/slack", from: "K"},
	{name: "teams-webhook", after: "webhook.office.com/webhookb2/", shape: `[\w@/-]{60,}`, is: isVaried, hit: "https://a.webhook.office.com/webhookb2/{x8}-{x4}-{x4}-{x4}-{x12}@{x8}-{x4}-{x4}-{x4}-{x12}/IncomingWebhook/{x32}/{x36}", miss: "https://a.webhook.office.com/webhookb2/new", from: "G"},
	{name: "signature", after: "Signature=", shape: `[0-9a-f]{64}`, is: isVaried, hit: "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={x64}", miss: "Signature={x12}", from: "K"},
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

// commandOf requires a program in the line.
func commandOf(programs ...string) func(tail []byte) bool {
	return func(tail []byte) bool {
		line := tail[bytes.LastIndexByte(tail, '\n')+1:]
		return slices.ContainsFunc(programs, func(p string) bool { return bytes.Contains(line, []byte(p)) }) &&
			bytes.IndexByte(line[:len(line)-2], ' ') >= 0 && bytes.HasSuffix(bytes.TrimRight(line, "apPw "), []byte(" -"))
	}
}

// isPgpassHost requires host:port: at the beginning of a line.
func isPgpassHost(tail []byte) bool {
	port := countTrailing(tail[:len(tail)-1], digits)
	if port < 4 || port > 5 {
		return false
	}
	host := tail[:len(tail)-1-port]
	if len(host) < 2 || host[len(host)-1] != ':' {
		return false
	}
	n := countTrailing(host[:len(host)-1], inHost)
	before := host[:len(host)-1-n]
	return countTrailing(host[:len(host)-1], lowerHex) < n && (len(before) == 0 || strings.IndexByte("\n\"'`", before[len(before)-1]) >= 0)
}

var inHost = classOf("*._-", "az", "AZ", "09")

// isPgpassRest checks the password after database:user:.
func isPgpassRest(text []byte) bool {
	fields := bytes.SplitN(text, []byte(":"), 3)
	return isPasswordOrRandom(fields[2])
}

var digits = classOf("", "09")

func isQuote(c byte) bool { return c == '\'' }

// afterEquals requires a random value after a name.
func afterEquals(text []byte) bool {
	_, value, ok := bytes.Cut(text, []byte("="))
	return ok && looksRandom(value)
}
