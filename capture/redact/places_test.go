package redact

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/providers/coding"
)

// withCodings returns a redactor that decodes bodies as toolscope does.
func withCodings() *Redactor {
	return New([]byte("salt"), Options{Decode: func(h http.Header) (Decoder, error) { return coding.New(h) }})
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.Bytes()
}

// places returns sessions that each have the secret in a different place.
func places(secret string) map[string][]capture.Record {
	header := func(name, value string) http.Header { return http.Header{name: {value}} }
	asked := func(h capture.Head, body string) []capture.Record {
		return []capture.Record{{Exchange: 1, Side: capture.Request, Head: &h, Data: []byte(body)}}
	}
	answered := func(h http.Header, body []byte) []capture.Record {
		return []capture.Record{{Exchange: 1, Head: &capture.Head{Status: 200, Header: h}, Data: body}}
	}
	echo := []capture.Record{
		{Exchange: 2, Side: capture.Request, Head: &capture.Head{URL: "/v1/again"}, Data: []byte(`{"q":` + quoted(secret) + `}`)},
		{Exchange: 2, Head: &capture.Head{Status: 401}, Data: []byte(`{"error":` + quoted("bad key "+secret) + "}\n" + secret)},
		{Exchange: 2, Note: "refused " + secret},
		{Exchange: 2, End: capture.EndCut, Why: "upstream said " + secret},
	}
	oneLine := strings.ReplaceAll(secret, "\n", "")
	return map[string][]capture.Record{
		"header, then echoed":  append(asked(capture.Head{Header: header("X-Api-Key", oneLine)}, ""), echo...),
		"authorization":        append(asked(capture.Head{Header: header("Authorization", "Bearer "+oneLine)}, ""), echo...),
		"basic":                asked(capture.Head{Header: header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:"+secret)))}, secret),
		"cookie":               append(asked(capture.Head{Header: header("Cookie", "a=b; session="+oneLine)}, ""), echo...),
		"another header":       asked(capture.Head{Header: header("Sec-Websocket-Protocol", "realtime, openai-insecure-api-key."+oneLine)}, ""),
		"query":                asked(capture.Head{URL: "https://h.example/v1?x=1&key=" + url.QueryEscape(secret) + "&y=2"}, ""),
		"another query value":  asked(capture.Head{URL: "https://h.example/v1?q=" + url.QueryEscape(secret)}, ""),
		"userinfo":             append(asked(capture.Head{URL: "https://u:" + url.PathEscape(secret) + "@h.example/v1"}, ""), echo...),
		"path":                 asked(capture.Head{URL: "https://h.example/" + url.PathEscape(secret) + "/x"}, ""),
		"request body":         asked(capture.Head{URL: "/v1"}, `{"messages":[{"content":`+quoted("it is "+secret)+`}]}`),
		"text body":            answered(nil, []byte("oops: "+secret+"\n")),
		"escaped body":         answered(nil, []byte(`{"e":"`+escaped(secret)+`"}`)),
		"gzip body":            answered(header("Content-Encoding", "gzip"), gzipped(`{"e":`+quoted(secret)+`}`)),
		"gzip body, no header": answered(nil, gzipped(`{"e":`+quoted(secret)+`}`)),
		"event stream":         answered(header("Content-Type", "application/vnd.amazon.eventstream"), awsStream(secret, false)),
		"event stream, base64": answered(header("Content-Type", "application/vnd.amazon.eventstream"), awsStream(secret, true)),
		"location":             answered(header("Location", "https://h.example/?token="+url.QueryEscape(secret)), nil),
		"a note and a reason":  {{Exchange: 1, Note: "saw " + secret}, {Exchange: 1, End: capture.EndCut, Why: "proxy: " + secret}},
		"copied curl":          asked(capture.Head{}, "curl https://h.example -H 'x: "+secret+"' -d '{\"a\":\"b\"}'"),
		"private field":        asked(capture.Head{URL: "/v1"}, `{"mcp_servers":[{"authorization_token":`+quoted(secret)+`}]}`),
	}
}

// escaped writes every character as an escape, which JSON allows but doesn't require.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}

// awsStream returns a stream with a secret in the text of its messages, cut in the middle.
func awsStream(secret string, coded bool) []byte {
	var all []byte
	for _, part := range []string{"the key is " + secret[:len(secret)/2], secret[len(secret)/2:], " indeed"} {
		payload := `{"delta":{"text":` + quoted(part) + `}}`
		if coded {
			payload = `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(payload)) + `","p":"ab"}`
		}
		all = append(all, awsMessage(payload)...)
	}
	return all
}

func awsMessage(payload string) []byte {
	headers := "\x0b:event-type\x07\x00\x05chunk"
	m := binary.BigEndian.AppendUint32(nil, uint32(preludeSize+len(headers)+len(payload)+4))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

// TestNoCanaryOnDisk checks that no secret of any kind reaches the disk from any place.
func TestNoCanaryOnDisk(t *testing.T) {
	for kind, canary := range canaries {
		for place, recs := range places(canary) {
			if kind == "private-key" && (place == "basic" || place == "another header") {
				continue // a header can't contain line breaks
			}
			path := filepath.Join(t.TempDir(), "x.tsc")
			file, err := capture.EncodeHeader(time.Unix(0, 0), "test", "")
			if err != nil {
				t.Fatal(err)
			}
			r := withCodings()
			var clean []capture.Record
			for _, rec := range recs {
				clean = append(clean, take(r, rec)...)
			}
			for _, rec := range append(clean, flushed(r)...) {
				line, err := capture.EncodeRecord(rec)
				if err != nil {
					t.Fatal(err)
				}
				file = append(file, line...)
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			checkFile(t, kind+", "+place, path, core(kind, canary))
		}
	}
}

// checkFile searches a capture for a secret, both in its bytes and in its decoded content.
func checkFile(t *testing.T, name, path, secret string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	src, err := capture.Open(context.Background(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	said := string(file)
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		said += string(r.Data) + fmt.Sprintf("%+v", r.Head)
		for _, field := range strings.FieldsFunc(string(r.Data), func(c rune) bool { return c == '"' }) {
			if plain, err := base64.StdEncoding.DecodeString(field); err == nil {
				said += string(plain)
			}
		}
	}
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), quoted(secret)[1:], escaped(secret)} {
		if strings.Contains(said, form) {
			t.Errorf("%s: %s in\n%s", name, form, said)
		}
	}
	if !strings.Contains(said, "[redacted:") && !strings.Contains(said, "%5Bredacted") && !strings.Contains(said, "*****") {
		t.Errorf("%s: nothing was replaced in\n%s", name, said)
	}
}

// TestEventStreamStaysSound checks that the framing and checksums of a binary event stream are still correct after
// replacements.
func TestEventStreamStaysSound(t *testing.T) {
	for _, coded := range []bool{false, true} {
		for kind, canary := range canaries {
			sent := awsStream(canary, coded)
			want := ""
			for _, n := range []int{len(sent), 1, 13} {
				r := redactor()
				head := &capture.Head{Header: http.Header{"Content-Type": {"application/vnd.amazon.eventstream"}}}
				var got []byte
				for _, rec := range take(r, capture.Record{Exchange: 1, Head: head}) {
					got = append(got, rec.Data...)
				}
				for at := 0; at < len(sent); at += n {
					for _, rec := range take(r, capture.Record{Exchange: 1, Data: bytes.Clone(sent[at:min(at+n, len(sent))])}) {
						got = append(got, rec.Data...)
					}
				}
				for _, rec := range take(r, capture.Record{Exchange: 1, End: capture.EndEOF}) {
					got = append(got, rec.Data...)
				}
				if want == "" {
					want = string(got)
				}
				if string(got) != want || len(got) != len(sent) {
					t.Fatalf("%s in pieces of %d: %q, want %q", kind, n, got, want)
				}
				for p := got; len(p) > 0; {
					size := binary.BigEndian.Uint32(p)
					if crc32.ChecksumIEEE(p[:size-4]) != binary.BigEndian.Uint32(p[size-4:size]) {
						t.Fatalf("%s: wrong checksum: %q", kind, p[:size])
					}
					p = p[size:]
				}
			}
		}
	}
}

// TestMessageLimit checks that bytes that state a message size above the limit are not read as a message, so that
// nothing waits for its end.
func TestMessageLimit(t *testing.T) {
	key := canaries["anthropic-key"]
	for size, held := range map[uint32]bool{maxMessageBytes: true, maxMessageBytes + 1: false} {
		r := redactor()
		body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, size), 0)
		body = binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(body))
		head := &capture.Head{Header: http.Header{"Content-Type": {"application/vnd.amazon.eventstream"}}}
		recs := take(r, capture.Record{Exchange: 1, Head: head, Data: append(body, " is "+key+" "...)})
		if out := recs[0].Data; (len(out) == 0) != held || bytes.Contains(out, []byte(key)) || !held && !bytes.Contains(out, []byte("[redacted:")) {
			t.Errorf("size %d: %q", size, out)
		}
	}
}

// TestWithheld checks that bodies that can't be decoded are not passed on, and that this is reported.
func TestWithheld(t *testing.T) {
	body := gzipped("secret")
	for name, r := range map[string]*Redactor{
		"no decoder": redactor(),
		"unknown":    New(nil, Options{Decode: func(http.Header) (Decoder, error) { return nil, errors.New("unknown") }}),
	} {
		recs := take(r, capture.Record{Exchange: 1, Head: &capture.Head{Header: http.Header{"Content-Encoding": {"gzip"}}}, Data: body})
		recs = append(recs, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
		last := recs[len(recs)-1]
		want := fmt.Sprintf("gap: %d bytes of the body in gzip were not recorded: they can't be searched for secrets (", len(body))
		if !strings.HasPrefix(last.Note, want) || last.End != capture.EndEOF || len(recs[0].Data)+len(last.Data) > 0 {
			t.Errorf("%s: %+v", name, recs)
		}
	}
}

// TestUnnamedCoding checks that a compressed body is searched even if no header names its coding, however its first
// bytes arrive. A body that only begins in a similar way must arrive completely and in order.
func TestUnnamedCoding(t *testing.T) {
	key := canaries["anthropic-key"]
	for _, test := range []struct{ body, want string }{
		{string(gzipped("it is " + key)), "it is [redacted:"}, {"(is it " + key, "(is it [redacted:"}, {"(", "("}, {"\x1f", "\x1f"}, {"\x1f(", "\x1f("},
	} {
		for _, size := range []int{1, 2, 1000} {
			if got := through(withCodings(), test.body, size); !strings.HasPrefix(got, test.want) || strings.Contains(got, key) {
				t.Errorf("%.20q in pieces of %d: %q", test.body, size, got)
			}
		}
	}
	r := withCodings()
	recs := take(r, capture.Record{Exchange: 1, Data: []byte("(")})
	recs = append(recs, take(r, capture.Record{Exchange: 1, Lost: 1, Data: []byte("\xb5 a")})...)
	recs = append(recs, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
	var told string
	for _, rec := range recs {
		if rec.Lost > 0 {
			told += "…"
		}
		told += string(rec.Data)
	}
	if told != "(…\xb5 a" {
		t.Errorf("%q: %+v", told, recs)
	}
}

func TestDecodedBodySaysSo(t *testing.T) {
	r := withCodings()
	h := http.Header{"Content-Encoding": {"gzip"}, "Content-Length": {"40"}, "X": {"y"}}
	recs := take(r, capture.Record{Exchange: 1, Head: &capture.Head{Header: h}, Data: gzipped("hello")})
	recs = append(recs, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
	var body strings.Builder
	for _, rec := range recs {
		body.Write(rec.Data)
	}
	got := recs[0]
	if body.String() != "hello" || got.Head.Header.Get("Content-Encoding")+got.Head.Header.Get("Content-Length") != "" ||
		!strings.HasPrefix(got.Note, "the body arrived with the coding gzip and is stored decoded") || h.Get("Content-Encoding") != "gzip" {
		t.Errorf("%q %+v", body.String(), got)
	}
}

// TestDecodedPieces checks that a few bytes that decode to many are passed on in records that are small enough to be
// written. All other data of the record must stay in its place.
func TestDecodedPieces(t *testing.T) {
	want := strings.Repeat("data: {}\n\n", 100_000)
	r := withCodings()
	got, heads, ends := "", 0, 0
	for i, c := range r.Take(capture.Record{
		Exchange: 1, Head: &capture.Head{Status: 200, Header: http.Header{"Content-Encoding": {"gzip"}}}, Data: gzipped(want), End: capture.EndEOF,
	}) {
		rec := c.Unwrap()
		got += string(rec.Data)
		if rec.Head != nil {
			if heads++; i != 0 {
				t.Error("the head does not come first")
			}
		}
		if rec.End != "" {
			ends++
		}
		if len(rec.Data) > maxDecodedBytes {
			t.Errorf("a record of %d bytes", len(rec.Data))
		}
	}
	if got != want || heads != 1 || ends != 1 {
		t.Errorf("%d bytes of %d, %d heads, %d ends", len(got), len(want), heads, ends)
	}
}

// TestValuesWithoutSigns checks that a random value is found near the name of a credential, without a sign between
// them, and in tables, lists, calls and nested objects.
func TestValuesWithoutSigns(t *testing.T) {
	value := sample("{32}") + "7"
	for _, text := range []string{
		"my github token is V please", "Using API key V", "Invalid token V", "API key 'V' is not valid", "The `API_KEY` is `V`.", "API_KEY   V\n",
		"#define API_KEY \"V\"", "Connect-X -Token V", "set(API_KEY \"V\")", "API key:\nV\n", "$ gh auth token\nV\n", "Token:\n```\nV\n```",
		"api_keys:\n  - V\n", "api_key:\n  V\n", "token: &tok V\n", "password: !!str V\n", "apiKey:\n  value: V\n", "[token]\nvalue = V\n",
		"client.setApiKey(\"V\");", "PASSWORD('V')", "<apiKey type=\"string\">V</apiKey>", "<string name=\"api_key\">V</string>",
		"<token>\n  V\n</token>", "&lt;password&gt;V&lt;/password&gt;", "insert into t (name, token) values ('a', 'V');", "id, name, token\n1, bob, V\n",
		"id;token\n1;V\n", "| id | token |\n|---|---|\n| 1 | V |\n", "Access key ID,Secret access key\nx,V\n", "map[X-Api-Key:[V]]", "TOKEN ?= V\n",
		"{\"API Key\":\"V\"}", "token = f\"V\"", "{'password': u'V'}", "x['api_key'] ||= 'V'", "tokens: [\"V\"]", "tokens = (\"V\",)", "TOKENS=(V)", "password has been set to V",
		"API key\n-------\nV\n", "Your API key:\n\nV\n", "<entry key=\"password\">V</entry>", "<setting name=\"ApiKey\">\n  <value>V</value>", "<input type=\"password\" value=\"V\">",
		"auth=(\"app\", \"V\")", "PlainAuth(\"\", \"app\", \"V\", host)", "NewStaticCredentials(\"app\", \"V\", \"\")", "mosquitto_pub -u u -P V", "<secret id=\"a\">V</secret>", "Token (V)", "token [V]",
		"Passwort: V", "Das Passwort lautet V", "Mot de passe : V", "Clé API : V", "contraseña=V", "пароль: V", "密码是V", "パスワード：V", "비밀번호: V",
		"stringData:\n  conn: V\n", "$ pass show work/db\nV\nuser: bob\n", "op read op://vault/item/password\nV\n", "cat <<EOF > f\nV\nEOF\n",
		"htpasswd -b f u V", "htpasswd -b /etc/nginx/.htpasswd u V", "net user bob V /add", "ipmitool -U ADMIN -P V status", "snmpwalk -u u -A V -x AES -X w h", "mc alias set m https://h key V",
		"see [\"htpasswd\", \"-b\", \"f\", \"u\", \"V\"]", "see [\"curl\", \"-u\", \"bob:V\"]", "echo V | docker login", "echo 'bob:V' | sudo chpasswd", "echo V > ~/.vault-token", "kinit bob <<< V",
		"jwt.sign(payload, \"V\", { expiresIn: 1 })", "smtp.login('u', 'V')", "pymysql.connect(\"h\", \"u\", \"V\", \"d\")", "keyring.set_password(\"svc\", \"bob\", \"V\")", "new SecretKeySpec(\"V\".getBytes(), \"AES\")",
		"driver.find_element(By.ID, \"password\").send_keys(\"V\")", "page.fill('#password', 'V')", "assertEqual(cfg.password, \"V\")", "put(:token, \"V\")", "var secret = new String(\"V\");", "apiKey: process.env.KEY || 'V',",
		"if password == \"V\":", "add_argument(\"--token\", default=\"V\")", "PASSWORDS = [\"V\", \"V\"]", "The password for bob is V.", "the new password is now V", "Token (keep secret): V",
		"[sudo] password for bob: V", "credentials: bob / V", "Log in with bob / V", "My OpenAI key is V", "password ........ V", "code=V&grant_type=authorization_code", "https://h/x?PHPSESSID=V", "LDAP_BIND_PW=V", "NPM_AUTH=V",
		"npmAuth: x\nauth: \"bob:V\"", "<meta name=\"api-key\" content=\"V\">", "<add key=\"Stripe:ApiKey\" value=\"V\"/>", "{\"type\":\"SecureString\",\"value\":\"V\"}", "{\"name\":\"TOKEN\",\"kind\":\"plain\",\"value\":\"V\"}",
		"{\"refresh\":\"V\"}", "AUTH PLAIN V", "334 UGFzc3dvcmQ6\nV\n", "a1 LOGIN bob V\r\n", "PASS V\r\n", "WIFI:T:WPA;S:home;P:V;;", "DSN=x;UID=u;PWD={V};", "setx /M DB_PASS V", "password: \x1b[31mV\x1b[0m", "PRAGMA key = 'V';",
		"secrets:\n  db: \"V\"\n  cache: V\n", "passwords:\n  root: V\n  bob: V\n", "args:\n  - --requirepass\n  - V\n", "*:*:*:app:V", "user bob on >V ~* +@all", "[smtp.example]:587 bob:V", "ldap_default_authtok = V",
		"net use z: //h/s V /user:bob", "poetry publish -u bob -p V", "composer config http-basic.h.example bob V", "bundle config set --local h.example bob:V", "vault login V", "export TF_TOKEN_app_terraform_io=V",
		"password = env('A') or 'V'", "secretKey := []byte(\"V\")", "builder.clientSecret(\"V\")", "buildConfigField(\"String\", \"API_KEY\", \"\\\"V\\\"\")", "Password::new(\"V\")", "cookieSession({ keys: [\"V\"] })",
		"id | name | password \n---+------+----------\n 1 | bob  | V\n", "| **API key** | V |", "see\npassword|V\n", "<td>API key</td><td>V</td>", "<dt>Password</dt><dd>V</dd>", "<th>Password</th></tr><tr><td>V</td>",
		"<strong>API key:</strong> V", "<p>Your password is <b>V</b></p>", "<label>Password</label> <code>V</code>", "<input name='api_key' type='text' value='V'/>",
		"[\"password\"]=>\n  string(33) \"V\"", "[\"apiKey\":protected]=>\n  string(33) \"V\"", "[apiKey:protected] => V", " $ password: chr \"V\"", "token: Some(\n    \"V\",\n)", "\"password\": (string) (len=33) \"V\"",
		"{\"keys\":[{\"keyName\":\"key1\",\"value\":\"V\"}]}", "{\"encryption\":{\"key\":\"V\"}}", "{\"fields\":[{\"label\":\"api token\",\"value\":\"V\"}]}", "{\"recovery_codes\":[\"V\"]}", "{\"stringData\":{\"a\":\"V\"}}",
		"API key created: V", "the new password should be V", "The bearer token you need is V", "Replace YOUR_API_KEY with V", "He replaced the old password by V.",
		"license_key: V", "activation_key: V", "fernet_key = V", "dd-application-key: V", "Recovery code: V", "rdesktop -p V h", "skopeo copy --src-creds u:V a b",
	} {
		body := `{"content":` + quoted(strings.ReplaceAll(text, "V", value)) + `}`
		if got := through(redactor(), body, 1<<20); strings.Contains(got, value) {
			t.Errorf("%s", got)
		}
	}
	for _, body := range []string{
		`{"api_key":{"type":"string","default":"V"}}`, `{"token":{"examples":["V"]}}`, `{"api_keys":{"openai":"V"}}`, `{"auth":{"key":"V"}}`,
		`{"fields":[{"label":"password","value":"V"}]}`, `{"SecretString":"V"}`, `{"tokens":{"access":"V"}}`, `{"secrets":[{"name":"a","value":"V"}]}`,
		`{"cookies":[{"name":"sid","value":"V"}]}`, `{"element":"Password field","ref":"e5","text":"V"}`, `{"selector":"#password","text":"V"}`, `{"key":"TOKEN","val":"V"}`,
		`{"command":["htpasswd","-b","f","u","V"]}`, `{"command":["sshpass","-p","V","ssh","h"]}`, `{"command":["mysql","-pV"]}`, `{"command":["curl","-u","bob:V"]}`, `{"type":"SecureString","value":"V"}`,
		`{"kind":"Secret","data":{"a":"V"}}`, `{"stringData":{"a":"V"}}`, `{"keys":[{"keyName":"key1","value":"V"}]}`, `{"type":"CONCEALED","label":"pin","value":"V"}`, `{"encryption":{"key":"V"}}`, `{"JoinTokens":{"Worker":"V"}}`,
		`{"unseal_keys_b64":["V"],"sessionKey":"V","secret_id":"V","key1":"V","key2":"V"}`, `{"object":"organization.api_key","value":"V"}`,
		`{"oauth":{"refresh":"V","access":"V"}}`, `{"auth":"bob:V"}`, `{"recovery_codes":["V"]}`, `{"variable":"TOKEN","value":"V"}`,
		`{"totp":"V","hmac_key":"V","consumerKey":"V","deploy_key":"V","passwordHash":"V","password_confirmation":"V"}`,
	} {
		if got := through(redactor(), strings.ReplaceAll(body, "V", value), 1<<20); strings.Contains(got, value) {
			t.Errorf("%s", got)
		}
	}
	for _, text := range []string{
		"secrets: []string{\"optional_secret\"},", "PlainAuth(\"\", \"user@example.com\", \"pass\", \"smtp.example.com\")", "token = result.next2Page3Of4", "C.AUTHTYPE_SHARED_KEY\n\tNL80211_BAND_2GHZ = 1",
		"the token was refreshed at 2026-01-02T03:04:05Z", "the page token " + value, "the key " + value, "token handleTokenRefresh2 of the app", "secret key of-all-the-things-2",
		"the Passwortschutz2 of the page", "see htpasswd2html of the tools", "apiVersion: v2\ndata:\n  conn: " + value + "\n", "git log -p " + value, "[\"git\", \"checkout\", \"" + value + "\"]",
		"expect(page, \"" + value + "\")", "page.fill('#name', '" + value + "')", "code=" + value, "mode=" + value + "&a=1", "{\"type\":\"commit\",\"value\":\"" + value + "\"}", "echo " + value + " | wc -c", "if *privateKey1 == *privateKey2 {",
		"--- PASS TestOf2Things", "the token for the 2nd request of " + value, "getToken(\"tokens-of-2026\")", "token:\n  of-all-the-things-2\n", `{"js-tokens":{"integrity":"` + value + `"}}`, `{"token":{"id":"` + value + `"}}`,
		"secrets:\n  - source: " + "config-of-2026\nname: " + value + "\n", "SecretId: arn:aws:secretsmanager:eu-west-1:123456789012:secret:a/b-A1B2C3", "Partial<BetaWorkSecret>).sessions_token;\n", "<td>name</td><td>" + value + "</td>",
		"* simple auth ([27bda6a](https://h.example/commit/27bda6a4f3fc63469d0b9acd2ef08aa0bf6b8fa8))", "type MqttPassword = Buffer|Uint8Array|Blob|string;", "token = hash1 & 0x7fffffff2;", "token=hash1&0x7fffffff2", "the composer's 2nd destination",
		"	encodeUserPassword\n	encodeFragment2Of3Things\n", "  return token;\n  fillOptional2Properties(node);\n", "| id | name |\n|---|---|\n| 1 | " + value + " |\n",
	} {
		if got := redactor().Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for from, kept := range map[string]bool{"/api/token/V/x": false, "/v1?auth%5Btoken%5D=V": false, "/v1/models/V": true} {
		if got := redactor().URL(strings.ReplaceAll(from, "V", value)); strings.Contains(got, value) != kept {
			t.Errorf("%s", got)
		}
	}
	h := redactor().Header(http.Header{"Sec-Websocket-Protocol": {"bearer, " + value}, "Set-Cookie": {"a=b; Path=/t?token=" + value}})
	if strings.Contains(fmt.Sprint(h), value) {
		t.Errorf("%v", h)
	}
}
