package redact

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// isSource matches the source of a rule: a web page, a standard, a manual, or a note about where the shape was seen.
var isSource = regexp.MustCompile(`^(?:[\w-]+(?:\.[\w-]+)+[/:]|[\w-]+(?:\.[\w-]+)+$|RFC [0-9]{4}|man |shape seen in )`)

var blank = regexp.MustCompile(`\{([xXudlbBk]?)(\d+)\}`)

// sample returns a sample text with its blanks filled in. The result for a text is always the same.
func sample(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	return blank.ReplaceAllStringFunc(text, func(s string) string {
		m := blank.FindStringSubmatch(s)
		alphabet := map[string]string{
			"": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "x": "0123456789abcdef", "X": "0123456789ABCDEF",
			"u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "d": "123456789",
			"l": "abcdefghijklmnopqrstuvwxyz", "b": "abcdefghijklmnopqrstuvwxyz234567", "k": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
			"B": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
		}[m[1]]
		n, _ := strconv.Atoi(m[2])
		out := make([]byte, n)
		for i := range out {
			out[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(out)
	})
}

// written are texts as programs or people write them, with a secret. The secret is in the blank.
var written = []rule{
	{name: "secret", hit: "export STRIPE_WEBHOOK_SECRET={32}", miss: "export STRIPE_WEBHOOK_SECRET=$OTHER_SECRET_2"},
	{name: "token", hit: "GH_TOKEN: {40}", miss: "max_token: 200000000"},
	{name: "password", hit: "DB_PASSWORD=hunter2{12}", miss: "DB_PASSWORD=changeme123456"},
	{name: "key", hit: "COHERE_KEY={40}", miss: "PUBLIC_KEY={40}"},
	{name: "api_key", hit: "CO_API_KEY={40}", miss: "CO_API_KEY=${CO_API_KEY_2026}"},
	{name: "api_key", hit: `{"mistral_api_key": "{32}"}`, miss: `{"mistral_api_key": "YOUR_API_KEY_0123456"}`},
	{name: "client_secret", hit: "client_secret: {40}", miss: "client_secret: required-for-all"},
	{name: "client_secret", hit: "grant_type=client_credentials&client_secret={40}&scope=a", miss: "client_secret=undefined"},
	{name: "client_secret", hit: "a=b&client_secret={20}%2B{20}%3D&c=d", miss: "a=b&client_secret=%24%7BSECRET%7D&c=d"},
	{name: "aws_secret_access_key", hit: "aws_secret_access_key = {20}/{19}", miss: "aws_secret_access_key = os.environ(1)"},
	{name: "refresh_token", hit: "refresh_token={50}&grant_type=refresh_token", miss: "grant_type=refresh_token&refresh_token="},
	{name: "account_key", hit: "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={86}==;EndpointSuffix=core", miss: "AccountKey=<yours0123456789>"},
	{name: "access_key", hit: "Endpoint=sb://a.example/;SharedAccessKeyName=Root;SharedAccessKey={43}=", miss: "SharedAccessKeyName=RootManageSharedAccessKey2"},
	{name: "password", hit: "Server=db;User=sa;Password={16};Encrypt=true", miss: "Server=db;User=sa;Password=;Encrypt=true"},
	{name: "auth_token", hit: "//registry.example/:_authToken={36}", miss: "//registry.example/:_authToken=${NPM_TOKEN}"},
	{name: "password", hit: "SMTP_PASS={20}", miss: "SMTP_PASS=$SMTP_PASSWORD_1"},
	{name: "subscription-key", hit: "Ocp-Apim-Subscription-Key: {32}", miss: "Ocp-Apim-Subscription-Key: required"},
	{name: "token", hit: `see "token": "{120}"`, miss: `{"token": "it was said of the tokens of old, as of AB12CD34EF56, that they were longer than a line and had many more words"}`},
	{name: "auth", hit: `{"auths":{"r.example":{"auth":"dXNlcjpodW50ZXIyaHVudGVyMg=="}}}`, miss: `{"auth":"{40}"}`},
	{name: "sig", hit: "https://a.example/x?sv=2024-01-01&sig={43}%3D", miss: "https://a.example/x?sig=up"},
	{name: "key", hit: "https://a.example/x?key={39}", miss: "https://a.example/x?key=created_at_desc"},
	{name: "token", hit: "token: '{30}'", miss: "token: 'internationalization'"},
	{name: "password", hit: "password := \"{20}\"", miss: "password := readPassword2(prompt)"},
	{name: "x-api-key", hit: "curl -H 'X-Api-Key: {32}' https://a.example", miss: "curl -H 'X-Api-Key: anything' https://a.example"},
	{name: "password", hit: "id,user,password\n1,\"b, c\",\"{16}\"\n2,d,{16}\n", miss: "see user,password\n1,Aa1Bb2Cc3Dd4Ee5\n"},
	{name: "api_key", hit: "user\tapi_key\trole\r\nbob\t{24}\tadmin\r\n", miss: "user\tapi_name\trole\r\nbob\tAa1Bb2Cc3Dd4Ee5\tadmin\r\n"},
	{name: "password", hit: "INSERT INTO users (id, password) VALUES (1, '{16}');", miss: "INSERT INTO users (password, id) VALUES (NULL, 'Aa1Bb2Cc3Dd4Ee5');"},
	{name: "password", hit: "insert into users (id, password) VALUES\n  (1, null), (2, '{16}');", miss: "insert into users (password) VALUES (null);\nselect ',', 'Aa1Bb2Cc3Dd4Ee5';"},
	{name: "password", hit: "(id, password) VALUES (1, '{16}');", miss: "password) VALUES (1, 'Aa1Bb2Cc3Dd4Ee5');"},
	{name: "password", hit: "id,user,password\n1,b,{l16}\n", miss: "| id | password |\n|---|---|\n| 1 | kqzvhwxtjbmrplgd |\n"},
	{name: "password", hit: "id,user,password\n1,b,'{8}, {12}'\n", miss: "password\n1st line\nkqzvhwxtjbmrplgd\n"},
	{name: "password", hit: "DB_PASSWORD={l16}\n", miss: "DB_PASSWORD = kqzvhwxtjbmrplgd\n"},
	{name: "password", hit: "user=a password={l16}\n", miss: "user= password=kqzvhwxtjbmrplgd\n"},
	{name: "private-key", hit: "-----BEGIN PRIVATE KEY-----\n{64}\n{64}\n{20}==\n-----END PRIVATE KEY-----", miss: "x = \"-----BEGIN PRIVATE KEY-----\"; y = 1"},
	{name: "private-key", hit: "-----BEGIN RSA PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,{u8}\r\n\r\n{64}\r\n{30}\r\n-----END RSA PRIVATE KEY-----", miss: "-----BEGIN CERTIFICATE-----\n{64}\n-----END CERTIFICATE-----"},
	{name: "private-key", hit: "-----BEGIN PRIVATE KEY-----\n{u64}\n{u20}", miss: "-----BEGIN PRIVATE KEY-----\nABCDEFGHIJKLMNOPQRSTUVWXYZ"},
	{name: "private-key", hit: "key: |\n    -----BEGIN PRIVATE KEY-----\n    {64}\n    {64}\n    {64}\n    {64}\n    {64}\n    {64}\n    {64}\n    {64}\n    {64}\n    {64}\n    {20}\n", miss: "-----BEGIN PRIVATE KEY-----\n    kept in the safe of the office"},
	{name: "private-key", hit: "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{64}\n{64}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----", miss: "-----BEGIN PRIVATE KEY----- is how the file begins"},
	{name: "private-key", hit: "KEY=\"-----BEGIN PRIVATE KEY----- {64} {64} {64} {64} {64} {64} {64} {64} {64} {20}= -----END PRIVATE KEY-----\"", miss: "grep -r 'BEGIN PRIVATE KEY-----' ."},
}

// allRules returns all kinds of secrets, with their samples.
func allRules() []rule {
	var list []rule
	for _, r := range slices.Concat(shapes, contexts) {
		list = append(list, *r)
	}
	return append(list, written...)
}

// cutAt returns a text in two parts, or undivided if at is not inside it.
func cutAt(text string, at int) []string {
	if at <= 0 || at >= len(text) {
		return []string{text}
	}
	return []string{text[:at], text[at:]}
}

// kindsIn redacts a text in each place where it may occur, and returns the result for each place.
func kindsIn(t *testing.T, text string, cut int) map[string]string {
	t.Helper()
	r := redactor
	ask := `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":` + quoted(text) + `}]}]}`
	args := `{"command":` + quoted(text) + `}`
	deep := `{"command":` + quoted(`{"stdout":`+quoted(text)+`}`) + `}`
	from := strings.Index(args, strings.Trim(quoted(text), `"`))
	return map[string]string{
		"text":            r().Text(text),
		"tool result":     body(r(), ask),
		"text deltas":     textSaid(t, r(), 7, cutAt(text, cut)...),
		"arguments":       argsSaid(t, r(), 1<<20, cutAt(args, from+cut)...),
		"deep arguments":  argsSaid(t, r(), 11, cutAt(deep, from+cut)...),
		"object argument": through(r(), `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x":`+quoted(text)+`}}}]}}]}`, 1<<20),
	}
}

// TestKinds checks that every kind of secret is found in every place, even if it is cut in the middle. A text that
// only resembles a secret must stay.
func TestKinds(t *testing.T) {
	names := map[string]bool{}
	for _, rule := range allRules() {
		hit, miss := sample(rule.hit), sample(rule.miss)
		names[rule.name] = true
		secret := secretIn(rule.hit)
		for place, got := range kindsIn(t, hit, strings.Index(hit, secret)+len(secret)/2) {
			if strings.Contains(got, secret) || !strings.Contains(got, "[redacted:"+rule.name+":") {
				t.Errorf("%s, %s in %s: %s", rule.name, hit, place, got)
			}
		}
		plain := kindsIn(t, "a", 0)
		for place, got := range kindsIn(t, miss, len(miss)/2) {
			if strings.Contains(got, "[redacted") || !strings.Contains(got, strings.Trim(quoted(miss), `"`)) && place != "deep arguments" && strings.Trim(got, `"`) != miss {
				t.Errorf("%s, %s in %s: %s (%s)", rule.name, miss, place, got, plain[place])
			}
		}
	}
	for _, rule := range slices.Concat(shapes, contexts) {
		if !isSource.MatchString(rule.from) || rule.hit == "" || rule.miss == "" {
			t.Errorf("%s has the hit %q, the near miss %q and the source %q", rule.name, rule.hit, rule.miss, rule.from)
		}
	}
	if len(names) < 60 {
		t.Errorf("%d kinds", len(names))
	}
	t.Logf("%d rules, %d kinds", len(allRules()), len(names))
}

// TestKindForms checks that every kind is found in a sentence, as a variable and as a field, wherever the text is
// cut. Without TOOLSCOPE_LONG=1, it tries only every third place. In a sentence, the near miss must stay.
func TestKindForms(t *testing.T) {
	for _, rule := range shapes {
		hit, secret := sample(rule.hit), secretIn(rule.hit)
		for n, form := range []string{"the value %s was used", "SERVICE_VALUE=%s\n", `{"a": "%s"}`} {
			text := fmt.Sprintf(form, hit)
			for cut := 1 + n%third(); cut < len(text); cut += third() {
				got := argsSaid(t, redactor(), 1<<20, text[:cut], text[cut:])
				if strings.Contains(got, secret) || !strings.Contains(got, "[redacted:"+rule.name+":") {
					t.Errorf("%s in %s, cut at %d: %s", rule.name, form, cut, got)
					break
				}
			}
		}
		if text := "the value " + sample(rule.miss) + " was used"; redactor().Text(text) != text {
			t.Errorf("%s: %s became %s", rule.name, text, redactor().Text(text))
		}
	}
}

// secretIn returns the part of a sample that must not be visible: the content of its last blank.
func secretIn(text string) string {
	all := blank.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return "dXNlcjpodW50ZXIyaHVudGVyMg"
	}
	last := all[len(all)-1]
	filled := sample(text)
	return filled[len(sample(text))-len(text[last[1]:])-fills(text[last[0]:last[1]]):][:fills(text[last[0]:last[1]])]
}

// fills returns the number of characters that fill a blank.
func fills(s string) int {
	n, _ := strconv.Atoi(blank.FindStringSubmatch(s)[2])
	return n
}
