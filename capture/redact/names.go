package redact

import (
	"bytes"
	"slices"
	"strings"
)

// secretName is a name, or the end of a name, whose value is a credential. It may name a header, a parameter of a
// URL, a field of a body, an environment variable or a flag.
type secretName struct {
	end    string // the name or its end, without separators and in lower case
	called string // the name in the replacement
	value  valueTest
	at     nameBorder
	in     nameScope
}

// nameBorder says how much of a name must match the end in a secretName.
type nameBorder int

const (
	anyEnd   nameBorder = iota // the last letters
	wordEnd                    // the last words
	fullName                   // all of it
)

// nameScope says where a name may occur.
type nameScope uint8

const (
	inText    nameScope = 1 << iota // assignments in text, environments and command lines
	inKey                           // keys of JSON
	inRequest                       // headers, and parameters of a URL, where the name alone suffices

	everywhere        = inText | inKey | inRequest
	ofRequestsAndKeys = inRequest | inKey
)

// secretNames are the names of credentials. Longer names come first.
var secretNames = []secretName{
	{"openaiinsecureapikey", "openai-insecure-api-key", isPlausible, anyEnd, everywhere},
	{"awssecretaccesskey", "aws_secret_access_key", isPlausible, anyEnd, everywhere}, {"authorizationtoken", "authorization_token", isMeant, anyEnd, everywhere},
	{"proxyauthorization", "proxy-authorization", isMeant, anyEnd, everywhere}, {"openaiorganization", "openai-organization", isPrivate, fullName, inRequest},
	{"connectionstring", "connection_string", isRandom, anyEnd, everywhere}, {"subscriptionkey", "subscription-key", isPlausible, anyEnd, everywhere},
	{"secretaccesskey", "secret_access_key", isPlausible, anyEnd, everywhere}, {"clientassertion", "client_assertion", isRandom, anyEnd, everywhere},
	{"awsaccesskeyid", "aws_access_key_id", isPlausible, anyEnd, inRequest}, {"authentication", "authentication", isPlausible, wordEnd, inRequest},
	{"authorization", "authorization", isMeant, anyEnd, everywhere}, {"openaiproject", "openai-project", isPrivate, fullName, inRequest},
	{"honeycombteam", "honeycomb-team", isRandom, anyEnd, everywhere}, {"encryptionkey", "encryption_key", isRandom, anyEnd, everywhere},
	{"xgoogapikey", "x-goog-api-key", isPlausible, anyEnd, everywhere}, {"presharedkey", "preshared_key", isRandom, anyEnd, everywhere},
	{"refreshtoken", "refresh_token", isRandom, anyEnd, everywhere}, {"sessiontoken", "session_token", isRandom, anyEnd, everywhere},
	{"codeverifier", "code_verifier", isRandom, anyEnd, everywhere}, {"samlresponse", "saml_response", isRandom, anyEnd, everywhere},
	{"accesstoken", "access_token", isRandom, anyEnd, everywhere}, {"clientsecret", "client_secret", isPlausible, anyEnd, everywhere},
	{"credentials", "credentials", isRandom, anyEnd, everywhere}, {"privatekey", "private_key", isRandom, anyEnd, everywhere},
	{"signingkey", "signing_key", isRandom, anyEnd, everywhere}, {"accountkey", "account_key", isRandom, anyEnd, everywhere},
	{"passphrase", "passphrase", isPassword, anyEnd, everywhere}, {"credential", "credentials", isRandom, anyEnd, everywhere},
	{"devicecode", "device_code", isRandom, anyEnd, everywhere}, {"jsessionid", "session", isSession, anyEnd, everywhere},
	{"setcookie", "set-cookie", isCookies, wordEnd, everywhere}, {"signature", "signature", isPlausible, wordEnd, inRequest},
	{"secretkey", "secret_key", isRandom, anyEnd, everywhere}, {"accesskey", "access_key", isRandom, anyEnd, everywhere},
	{"masterkey", "master_key", isRandom, anyEnd, everywhere}, {"sessionid", "session", isSession, anyEnd, everywhere},
	{"assertion", "assertion", isPlausible, wordEnd, ofRequestsAndKeys}, {"authtoken", "auth_token", isRandom, anyEnd, everywhere},
	{"apitoken", "api_token", isRandom, anyEnd, everywhere}, {"password", "password", isPassword, anyEnd, everywhere}, {"xapikey", "x-api-key", isPlausible, anyEnd, everywhere},
	{"authkey", "auth_key", isRandom, anyEnd, everywhere}, {"session", "session", isSession, wordEnd, ofRequestsAndKeys},
	{"apikey", "api_key", isRandom, anyEnd, everywhere}, {"passwd", "password", isPassword, anyEnd, everywhere}, {"bearer", "bearer", isRandom, wordEnd, everywhere},
	{"secret", "secret", isPassword, anyEnd, everywhere}, {"cookie", "cookie", isCookies, wordEnd, everywhere},
	{"token", "token", isRandom, anyEnd, everywhere}, {"pass", "password", isPassword, anyEnd, everywhere}, {"auth", "auth", isBasic, anyEnd, everywhere},
	{"code", "code", isCode, fullName, ofRequestsAndKeys}, {"pwd", "password", isPassword, anyEnd, everywhere}, {"key", "key", isPlausible, wordEnd, inRequest},
	{"dsn", "dsn", isRandom, wordEnd, everywhere}, {"jwt", "jwt", isRandom, wordEnd, everywhere}, {"pat", "pat", isRandom, wordEnd, everywhere}, {"sig", "sig", isPlausible, wordEnd, inRequest},
	{"dp", "jwk", isKeyPart, fullName, inKey}, {"dq", "jwk", isKeyPart, fullName, inKey}, {"qi", "jwk", isKeyPart, fullName, inKey},
	{"validationkey", "validation_key", isRandom, anyEnd, everywhere}, {"decryptionkey", "decryption_key", isRandom, anyEnd, everywhere},
	{"psk", "preshared_key", isPassword, wordEnd, everywhere}, {"mnemonic", "mnemonic", isPhrase, wordEnd, everywhere}, {"seedphrase", "seed_phrase", isPhrase, anyEnd, everywhere},
	{"recoveryphrase", "recovery_phrase", isPhrase, anyEnd, everywhere}, {"hashsalt", "salt", isRandom, wordEnd, everywhere},
	{"authsalt", "salt", isRandom, wordEnd, everywhere}, {"loggedinsalt", "salt", isRandom, wordEnd, everywhere}, {"noncesalt", "salt", isRandom, wordEnd, everywhere},
	{"secretstring", "secret", isPassword, anyEnd, everywhere}, {"keystring", "api_key", isRandom, wordEnd, everywhere}, {"servicerolekey", "api_key", isRandom, anyEnd, everywhere},
	{"appkey", "api_key", isRandom, wordEnd, everywhere}, {"passcode", "password", isPassword, wordEnd, everywhere}, {"passkey", "password", isRandom, wordEnd, everywhere},
	{"licensekey", "license_key", isRandom, anyEnd, everywhere}, {"activationkey", "license_key", isRandom, anyEnd, everywhere}, {"storagekey", "account_key", isRandom, wordEnd, everywhere},
	{"adminkey", "api_key", isRandom, wordEnd, everywhere}, {"applicationkey", "api_key", isRandom, wordEnd, everywhere},
	{"fernetkey", "encryption_key", isRandom, anyEnd, everywhere}, {"recoverycode", "recovery_code", isRandom, wordEnd, everywhere}, {"rootpw", "password", isPassword, wordEnd, everywhere},
	{"jfrogartapi", "api_key", isPlausible, wordEnd, inRequest}, {"hmac", "signature", isPlausible, wordEnd, inRequest}, {"ticket", "ticket", isRandom, wordEnd, inRequest},
	{"totp", "totp", isRandom, wordEnd, everywhere}, {"hmackey", "hmac_key", isRandom, anyEnd, everywhere}, {"aeskey", "aes_key", isRandom, anyEnd, everywhere},
	{"consumerkey", "consumer_key", isRandom, anyEnd, everywhere}, {"deploykey", "deploy_key", isRandom, anyEnd, everywhere},
	{"passwordhash", "password", isRandom, anyEnd, everywhere}, {"passwordconfirmation", "password", isPassword, anyEnd, everywhere}, {"passwordconfirm", "password", isPassword, anyEnd, everywhere},
	{"dockerconfigjson", "credentials", isRandom, anyEnd, inKey | inText},
	{"pw", "password", isPassword, wordEnd, everywhere}, {"passwordsalt", "salt", isRandom, wordEnd, everywhere}, {"tokensalt", "salt", isRandom, wordEnd, everywhere},
	{"secretsalt", "salt", isRandom, wordEnd, everywhere},
	{"sessid", "session", isRandom, anyEnd, everywhere}, {"sid", "session", isRandom, fullName, inRequest}, {"otp", "otp", isRandom, wordEnd, everywhere},
	{"appid", "api_key", isRandom, fullName, inRequest},
	{"backupcode", "recovery_code", isRandom, wordEnd, everywhere}, {"bwsession", "session", isRandom, fullName, everywhere}, {"fastlanesession", "session", isRandom, fullName, everywhere},
	{"instrumentationkey", "api_key", isRandom, anyEnd, everywhere},
	{"userpwd", "password", isBasic, anyEnd, everywhere}, {"sessionkey", "session", isRandom, anyEnd, everywhere}, {"secretid", "secret_id", isRandom, fullName, everywhere},

	{"d", "jwk", isKeyPart, fullName, inKey}, {"k", "jwk", isKeyPart, fullName, inKey}, {"p", "jwk", isKeyPart, fullName, inKey}, {"q", "jwk", isKeyPart, fullName, inKey},
}

// plainBefore are words that make a name ordinary if they are directly before key, token or auth. Such names are used
// for cursors, vocabularies and caches, for example.
var plainBefore = wordSet(`page next continue continuation cursor sync csrf xsrf csrfmiddleware cancel cancellation public publishable cache
	idempotency idempotence primary foreign sort partition eos bos pad stop unk mask sep max min thought resume design websocket surrogate call`)

// plainAnywhere are words that make a name ordinary wherever they are in it, unless the name contains password or
// secret. A name that ends with one of plainNames is an ordinary word.
var (
	plainAnywhere = wordSet("public publishable csrf xsrf")
	plainNames    = strings.Fields("bypass compass trespass surpass encompass clientrequesttoken changetoken lifecycleactiontoken vapidkey sitekey")
)

// addedWords are words after the name of a credential that don't change its meaning, as in secret_key_base. Numbers
// and versions don't change it either.
var addedWords = wordSet("value base text raw new old prev previous current prod production dev development staging test live default v b")

// vendors are the words before _key that show that a name is for the key of a service.
var vendors = wordSet(`openai anthropic claude gemini google mistral groq cohere deepseek openrouter xai perplexity replicate huggingface together fireworks
	cerebras tavily azure aws gcp stripe sendgrid twilio mailgun mailchimp resend github gitlab slack notion linear sentry datadog algolia pinecone
	supabase elastic rapidapi deepgram elevenlabs langsmith langfuse helicone voyage jina serper brave firecrawl exa moonshot dashscope zhipu`)

// addedEnds are the last characters of addedWords and numbers.
var addedEnds = func() *[256]bool {
	ends := *digits
	for word := range addedWords {
		ends[word[len(word)-1]], ends[word[len(word)-1]-'a'+'A'] = true, true
	}
	return &ends
}()

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

const maxNameChars = 64 // maximum number of characters of a name that are compared

var inName = classOf("_-.", "az", "AZ", "09")

// namesBy holds the secretNames by their last letter.
var namesBy = func() (list [256][]secretName) {
	for _, name := range secretNames {
		last := name.end[len(name.end)-1]
		list[last] = append(list[last], name)
	}
	return list
}()

// pairSet is a set of two letters in lower case.
type pairSet [1 << 16]bool

// addEnd adds the last two letters of a word.
func (l *pairSet) addEnd(word string) {
	if n := len(word); n > 1 {
		l[pairOf(word[n-2], word[n-1])] = true
	}
}

// hasEnd reports whether the set has the last two characters of a text, without regard to case. The text has at least
// two characters.
func (l *pairSet) hasEnd(text []byte) bool {
	return l[pairOf(text[len(text)-2]|0x20, text[len(text)-1]|0x20)]
}

// addedPairs are the last two letters of addedWords. namePairs also has those of secretNames and of "value".
var addedPairs, namePairs = func() (added, names pairSet) {
	for word := range addedWords {
		added.addEnd(word)
		names.addEnd(word)
	}
	for _, name := range secretNames {
		names.addEnd(name.end)
	}
	names.addEnd("value")
	return added, names
}()

// endsName reports whether the last characters of a name may end the name of a credential.
func endsName(name []byte) bool {
	n := len(name)
	if b := name[n-1]; n == 1 || b <= '9' || !alnum[name[n-2]] {
		return addedEnds[b] || len(namesBy[b|0x20]) > 0
	}
	return namePairs.hasEnd(name) || name[n-1]|0x20 == 's'
}

// nameTriples are the last three letters of secretNames, each with five bits of its code.
var nameTriples = func() (is [1 << 15]bool) {
	for _, name := range secretNames {
		if n := len(name.end); n > 2 {
			is[tripleOf(name.end[n-3], name.end[n-2], name.end[n-1])] = true
		} else if n == 2 && name.at != fullName {
			for c := byte('a'); c <= 'z'; c++ {
				is[tripleOf(c, name.end[0], name.end[1])] = true
			}
		}
	}
	return is
}()

func tripleOf(a, b, c byte) uint16 { return uint16(a&31)<<10 | uint16(b&31)<<5 | uint16(c&31) }

// mayBeCredential reports whether the last three letters of a name, without separators, may end the name of a
// credential.
func mayBeCredential(name []byte) bool {
	var last [3]byte
	n := 0
	for i := len(name) - 1; i >= 0 && n < 3; i-- {
		if alnum[name[i]] {
			last[n] = name[i]
			n++
		}
	}
	return n < 3 || nameTriples[tripleOf(last[2], last[1], last[0])]
}

// credentialName returns the secretName that matches a name in a scope. The result ok is false if the value of such a
// name is not a credential.
func credentialName(name []byte, scope nameScope) (known secretName, ok bool) {
	if name = name[max(0, len(name)-maxNameChars):]; len(name) == 0 || !endsName(name) {
		return secretName{}, false
	}
	if name = trimAddedWords(name, scope); len(name) == 0 {
		return secretName{}, false
	}
	ends := namesBy[name[len(name)-1]|0x20] // in lower case
	if len(ends) == 0 || !mayBeCredential(name) {
		return secretName{}, false
	}
	said := plainForm(name)
	i := slices.IndexFunc(ends, func(s secretName) bool {
		return strings.HasSuffix(said, s.end) && s.in&scope != 0 && s.hasBorder(name, said)
	})
	switch {
	case i >= 0:
		known = ends[i]
	case strings.HasSuffix(said, "key") && isServiceKey(name):
		known = secretName{end: "key", called: "key", value: isRandom}
	default:
		return secretName{}, false
	}
	return known, !isPlainName(name, said, known, scope)
}

// orRandom returns the name of an object whose field is a credential. In an object, that is seldom a name and a
// password in base64, or a line of cookies.
func (s secretName) orRandom() secretName {
	if s.value == isBasic || s.value == isCookies {
		s.value = isRandom
	}
	return s
}

// hasBorder reports whether the matched end of a name begins where the secretName allows it.
func (s *secretName) hasBorder(name []byte, said string) bool {
	switch s.at {
	case fullName:
		return len(said) == len(s.end)
	case wordEnd:
		return startsWord(name, len(s.end))
	}
	return true
}

// isServiceKey reports whether a name that ends in key is that of an environment variable, of a service's key, or of
// a header that begins with x-.
func isServiceKey(name []byte) bool {
	if bytes.HasSuffix(name, []byte("_KEY")) && !containsRange(name, 'a', 'z') {
		return true
	}
	before, _ := splitWord(name)
	_, service := splitWord(before)
	if run := before[:len(before)-countTrailing(before, signs)]; bytes.HasSuffix(run, []byte("AI")) { // OpenAI
		service = strings.ToLower(string(run[len(run)-countTrailing(run, alnum):]))
	}
	return vendors[service] || len(name) > 2 && name[0]|0x20 == 'x' && name[1] == '-'
}

// isPlainName reports whether the words of a name show that its value is not a credential.
func isPlainName(name []byte, said string, known secretName, scope nameScope) bool {
	if slices.ContainsFunc(plainNames, func(end string) bool { return strings.HasSuffix(said, end) }) {
		return true
	}
	weak := known.end == "token" || known.end == "key" || known.end == "auth"
	if strings.Contains(said, "secret") || strings.Contains(said, "password") || scope == inRequest && !weak {
		return false
	}
	before := name[:endIndex(name, len(known.end))]
	whole := startsWord(name, len(known.end))
	for first := true; ; first = false {
		rest, word := splitWord(before)
		switch {
		case word == "":
			return false
		case weak && first && (plainBefore[word] || !whole && endsPlain(word)) && (scope != inRequest || !plainAnywhere[word]), scope != inRequest && plainAnywhere[word]:
			return true
		}
		before = rest
	}
}

// endsPlain reports whether a word, which may be several words written together, ends in one of plainBefore.
func endsPlain(word string) bool {
	for plain := range plainBefore {
		if strings.HasSuffix(word, plain) {
			return true
		}
	}
	return false
}

// trimAddedWords removes numbers and addedWords from the end of a name. For a JSON field, it also removes a plural s.
func trimAddedWords(name []byte, scope nameScope) []byte {
	for mayEndAdded(name) {
		rest, word := splitWord(name)
		if len(rest) == 0 || word[0] > '9' && !addedWords[word] {
			break
		}
		name = rest[:len(rest)-countTrailing(rest, signs)]
	}
	if one := name[:max(0, len(name)-1)]; scope == inKey && len(name) > 0 && name[len(one)]|0x20 == 's' {
		for _, end := range []string{"key", "token", "secret", "password", "cookie"} {
			if n := len(one) - len(end); n >= 0 && strings.EqualFold(string(one[n:]), end) {
				return one
			}
		}
	}
	return name
}

// mayEndAdded reports whether the last word of a name may be a number or one of addedWords.
func mayEndAdded(name []byte) bool {
	n := len(name)
	if n < 2 || !addedEnds[name[n-1]] {
		return n == 1
	}
	return name[n-1] <= '9' || addedPairs.hasEnd(name) || isWordStart(name, n-1)
}

// splitWord cuts the last word from a name, and returns the word in lower case. Words in a name may be separated by
// signs, digits or capitals.
func splitWord(name []byte) (before []byte, word string) {
	name = name[:len(name)-countTrailing(name, signs)]
	n := len(name)
	i := n - 1
	for i > 0 && !isWordStart(name, i) {
		i--
	}
	if n == 0 {
		return nil, ""
	}
	return name[:i], strings.ToLower(string(name[i:]))
}

var signs = func() *[256]bool {
	var c [256]bool
	for i := range c {
		c[i] = !alnum[i]
	}
	return &c
}()

// isWordStart reports whether a word of a name starts at i.
func isWordStart(name []byte, i int) bool {
	if i == 0 || !alnum[name[i-1]] {
		return true
	}
	a, b := sortOf(name[i-1]), sortOf(name[i])
	switch {
	case a == 0 || b == 0:
		return a != b
	case a == b:
		return b == 1 && i+1 < len(name) && alnum[name[i+1]] && sortOf(name[i+1]) == 2
	}
	return b == 1
}

// startsWord reports whether the last n letters of a name start a word.
func startsWord(name []byte, n int) bool { return isWordStart(name, endIndex(name, n)) }

// endIndex returns the index where the last n letters and digits of a name start.
func endIndex(name []byte, n int) int {
	i := len(name)
	for n > 0 && i > 0 {
		if i--; alnum[name[i]] {
			n--
		}
	}
	return i
}

// plainForm returns a name without separators, in lower case.
func plainForm(name []byte) string {
	var plain [maxNameChars]byte
	n := 0
	for _, c := range name {
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

// keyMeaning says what a JSON key implies for its value.
type keyMeaning struct {
	secret  bool // the value is a credential
	name    secretName
	list    bool // the value is a list of credentials
	each    bool // if the value is an object, each of its strings is a credential
	index   bool // the value is the number of one of several parallel texts
	text    bool // the value is a delta of a text that continues in the same place in the next document
	whole   bool // if the value is an object, its strings are not deltas
	version bool // the value is the version of an object in Kubernetes
	data    bool // the value is the data of such an object
	kind    bool // the value may say that the object holds a credential
	names   bool // the value is the name for another field's value
	value   bool // the value belongs to the name in another field
	sample  bool // the value is an example or a default of the object's name
	holder  bool // if the value is an object, its field "key" is a credential
	secrets bool // if the value is an object, each of its strings is a credential of Kubernetes
	keyName bool // the value is the name of a key, which is in the field "value" of the same object
}

// keyMeanings caches the known keys by their hash. Most documents of a stream have the same keys.
type keyMeanings map[uint64]keyMeaning

const maxFields = 4096 // maximum number of cached keys

func (f *keyMeanings) meaningOf(hash uint64, name []byte) keyMeaning {
	known, ok := (*f)[hash]
	if !ok {
		if *f == nil || len(*f) == maxFields {
			*f = keyMeanings{}
		}
		known = fieldOf(name)
		(*f)[hash] = known
	}
	return known
}

// textKeys are parts of keys, in lower case. A stream sends texts with such keys in deltas.
var textKeys = strings.Fields("text content delta json arg think reason input output summar refus transcript response completion plan code message value data")

// exactKeys are keys of JSON whose value is a credential if it is random. Such words are ordinary in other places.
var exactKeys = wordSet(`access refresh plaintext recovery_codes recoverycodes backup_codes backupcodes key1 key2 keys_base64 unseal_keys_b64
	unseal_keys_hex recovery_keys_b64 recovery_keys_hex`)

// holders are the names of objects whose field "key" is a credential.
var holders = wordSet("encryption cipher jwt hmac signing")

func fieldOf(name []byte) keyMeaning {
	lower := bytes.ToLower(name)
	var f keyMeaning
	if f.name, f.secret = credentialName(name, inKey); !f.secret && exactKeys[string(lower)] {
		f.name, f.secret = secretName{end: string(lower), called: "secret", value: isRandom}, true
	}
	f.list = f.secret && (bytes.HasSuffix(lower, []byte("s")) || bytes.Contains(lower, []byte("keys_"))) && !strings.HasSuffix(f.name.end, "s")
	f.each = f.list && (f.name.end != "token" || string(lower) == "tokens" || string(lower) == "jointokens") // js-tokens is a package
	for _, end := range []string{"index", "item_id", "toolcallid", "jsonpath"} {
		f.index = f.index || bytes.HasSuffix(lower, []byte(end))
	}
	for _, piece := range textKeys {
		f.text = f.text || bytes.Contains(lower, []byte(piece))
	}
	if f.secret && f.name.value == isCode { // error codes of several documents would look like one random code
		f.text = false
	}
	f.names, f.value, f.holder = isNameName(name), isValueName(name), holders[string(lower)]
	switch string(lower) {
	case "apiversion":
		f.version = true
	case "data":
		f.data = true
	case "stringdata":
		f.secrets = true
	case "keyname":
		f.kind, f.keyName = true, true
	case "type", "kind", "object":
		f.kind = true
	case "new_value", "newvalue", "stringvalue", "s":
		f.value = true
	case "default", "const", "enum", "example", "examples", "key":
		f.sample = true
	case "args", "arguments", "input", "parameters", "result", "structuredcontent":
		f.whole = true
	}
	return f
}
