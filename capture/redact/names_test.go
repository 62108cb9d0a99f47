package redact

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toolscope/capture"
)

// credentialNames are names of credentials as they occur in environments, programs and bodies.
var credentialNames = strings.Fields(`NEXTAUTH_SECRET PAGERDUTY_API_TOKEN MEMCACHED_PASSWORD CACHE_PASSWORD NEXTCLOUD_ADMIN_PASSWORD SYNC_API_KEY HOMEPAGE_SECRET_KEY
	CLOUDFLARE_PAGES_TOKEN RESUME_PARSER_API_KEY DESIGN_TEAM_SECRET nextAuthSecret API_KEY_1 JWT_SECRET_V2 secret_key_base openai_key openaiKey apiKeyValue
	AZURE_PAT sessionId jwt bearer DSN OPENAI_KEY anthropicKey AUTH_SECRET nextauthsecret accessToken clientSecret authToken authkey pwd pass passwd credential
	device_code code_verifier client_assertion STRIPE_KEY DB_PASS smtppass x-custom-key X-Honeycomb-Team GITHUB_TOKEN_PROD DB_PASSWORD_OLD token2 apiKeyB64`)

// plainNamesOfAll are similar names whose values are ordinary.
var plainNamesOfAll = strings.Fields(`nextPageToken next_page_token continuation_token csrf_token csrftoken csrfmiddlewaretoken page_token pagetoken PUBLIC_KEY publicKey
	cache_key prompt_cache_key idempotency_key primary_key foreignKey sort_key cancel_token eos_token max_tokens monkey turkey key keyboard bypass BYPASS compass
	author path pattern code sig signature clientRequestToken ChangeToken VAPID_KEY siteKey`)

// requestNames are headers, and requestParameters are parameters of a URL. Their values are always replaced.
var (
	requestNames = strings.Fields(`Apikey X-Apikey Token Key Secret Password Authtoken Accesskey X-Honeycomb-Team X-Auth Authentication X-Api-Key Api-Key X-Routing-Key
		Cf-Aig-Authorization Helicone-Auth X-Csrf-Token Private-Token X-Vault-Token`)
	requestParameters = strings.Fields(`accessToken clientSecret authToken authkey pwd pass passwd jwt credential code assertion client_assertion session device_code
		X-Goog-Credential AWSAccessKeyId key api_key token sig signature X-Amz-Credential code_verifier secret password auth`)
	plainHeaderNames = strings.Fields(`Idempotency-Key Sec-Websocket-Key Surrogate-Key Session-Id X-Session-Id X-Claude-Code-Session-Id Content-Type Keep-Alive Author`)
)

// TestCredentialNames checks that a random value of each name is found: as a variable, as a field of JSON at
// any depth, in YAML, and in a form.
func TestCredentialNames(t *testing.T) {
	value := sample("{28}")
	forms := []string{"%s=%s", "export %s=%s", "%s: %s", "{\"a\":1,\"%s\":\"%s\"}", "{'%s': '%s'}", "%s = \"%s\"", "a=b&%s=%s&c=d", "https://h.example/?x=1&%s=%s", "- name: %s\n  value: %s",
		`{"name":"%s","value":"%s"}`, `{"key":"%s","value":"%s"}`, `["%s","%s"]`, "<%s>%s</a>", "| %s | %s |", "**%s:** %s", "%s: >-\n    %s", "  \"%s\": \"%s\",\n",
		`os.Setenv("%s", "%s")`, `f(c) { setEnv("%s","%s"); }`, `environ["%s"] = "%s"`, "\x1b[1m%s\x1b[0m=\x1b[33m%s\x1b[0m", "\x1b[36m%s\x1b[39m: \x1b[32m\"%s\"\x1b[0m"}
	for _, name := range credentialNames {
		for _, form := range forms {
			text := fmt.Sprintf(form, name, value)
			for _, said := range []string{redactor().Text(text), redactor().Text(quoted(text)), through(redactor(), text, 1), argsSaid(t, redactor(), 7, text[:len(text)/2], text[len(text)/2:])} {
				if strings.Contains(said, value) || !strings.Contains(said, "[redacted:") {
					t.Errorf("%s became %s", text, said)
				}
			}
		}
	}
	for _, name := range plainNamesOfAll {
		for _, form := range []string{"%s=%s", "%s: %s", "%s = \"%s\"", "{\"%s\":\"%s\"}"} {
			if name == "code" && strings.HasPrefix(form, "{") {
				continue
			}
			text := fmt.Sprintf(form, name, value)
			if got := redactor().Text(text); got != text {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
	for _, list := range []string{`{"api_keys":["a","%s"]}`, `{"tokens":["%s"]}`, `{"x":{"code":"%s"}}`, `{"device_code":"%s"}`, `{"assertion":"%s"}`} {
		if got := redactor().Text(fmt.Sprintf(list, value)); strings.Contains(got, value) {
			t.Error(got)
		}
	}
}

// TestRequestNames checks that any value of a credential's header or parameter is replaced, and that the values
// of other names are not.
func TestRequestNames(t *testing.T) {
	const value = "any-words-at-all"
	for _, name := range requestNames {
		for before, v := range map[string]string{"": value, "Bearer ": value, "ApiKey  ": value} {
			if before != "" && !strings.HasSuffix(strings.ToLower(name), "auth") && !strings.HasSuffix(name, "ization") {
				continue
			}
			if got := redactor().Header(http.Header{name: {before + v}}).Get(name); strings.Contains(got, value) || !strings.HasPrefix(got, strings.Fields(before + " [redacted:")[0]) {
				t.Errorf("%s: %s%s became %s", name, before, v, got)
			}
		}
	}
	for _, name := range plainHeaderNames {
		if got := redactor().Header(http.Header{name: {value}}).Get(name); got != value {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range requestParameters {
		for _, url := range []string{"/v1/x?a=1&%s=%s&b=2", "https://h.example/v1?%s=%s", "/x#%s=%s"} {
			if got := redactor().URL(fmt.Sprintf(url, name, value)); strings.Contains(got, value) {
				t.Error(got)
			}
		}
	}
	for url, stays := range map[string]bool{"/a;jsessionid=" + value + "/b?x=1": false, "/a;v=" + value: true, "/v1/x?page_token=" + value: true, "/v1/x?state=" + value: true} {
		if got := redactor().URL(url); strings.Contains(got, value) != stays {
			t.Errorf("%s became %s", url, got)
		}
	}
	key := sample("{40}")
	h := redactor().Header(http.Header{"Sec-Websocket-Protocol": {"realtime, openai-insecure-api-key." + key + ", openai-beta.realtime-v1"}}).Get("Sec-Websocket-Protocol")
	if strings.Contains(h, key) || !strings.HasPrefix(h, "realtime, openai-insecure-api-key.[redacted:") || !strings.HasSuffix(h, ", openai-beta.realtime-v1") {
		t.Error(h)
	}
}

// secretPlaces are texts in which the name of a secret is not directly before the secret, and similar texts without a
// secret.
var secretPlaces = []struct{ name, hit, miss string }{
	{"multipart", "--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n{28}\r\n--b--", "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n{28}\r\n--b--"},
	{"multipart, typed", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\nContent-Type: text/plain\r\n\r\n{28}\r\n--b--", "Content-Disposition: form-data; name=\"password\"\r\n\r\nrequired\r\n"},
	{"multipart, in lines", "Content-Disposition: form-data; name=\"password\"\n\n{28}\n", "Content-Disposition: form-data; name=\"password\"\r\n\r\nWhich one?\r\n\r\nkqzvhwxtjbmrplgd9\r\n"},
	{"pair", `{"name":"x-api-key","value":"{28}"}`, `{"name":"x-request-id","value":"{28}"}`},
	{"pair, in lines", "{\n  \"key\": \"DB_PASSWORD\",\n  \"value\": \"{28}\"\n}", "{\n  \"key\": \"DB_PASSWORD\",\n  \"value\": \"required\"\n}"},
	{"list", `["X-Api-Key","{28}"]`, `["X-Request-Id","{28}"]`},
	{"call", `h.set('X-Api-Key', '{28}')`, `h.set('X-Api-Key', 'Authorization')`},
	{"element", "<password>{16}</password>", "<password>required</password>"},
	{"attribute", `<add key="ApiKey" value="{28}"/>`, `<add key="Title" value="{28}"/>`},
	{"cookie", "> Cookie: a=b; theme=dark; sessionid={32}; c=d", "> Cookie: a=b; theme=internationalization"},
	{"long cookie", "Cookie: a={20}; b={20}; c={20}; d={20}; e={20}; f={32}", "Cookie: none of them is allowed here"},
	{"set-cookie", "< Set-Cookie: sid={32}; HttpOnly; Path=/", "< Set-Cookie: theme=dark; HttpOnly"},
	{"cookie of JSON", `{"headers":{"cookie":"a=b; sid={32}"}}`, `{"cookie":"chocolate-chip-and-more"}`},
	{"authorization", "> Authorization: Token {40}", "> Authorization: Token required-for-all"},
	{"authorization", "Authorization: ApiKey {40}", "Authorization: ApiKey header is required"},
	{"authorization", "authorization: SSWS {42}", "authorization: SSWS tokens of the service"},
	{"authorization", "Authorization: Splunk {x32}", "Authorization: see the manual of 2026-11-26"},
	{"authorization", "Authorization: BEARER {40}", "Authorization: BEARER TOKEN"},
	{"authorization", "Authorization: Bearer  {40}", "Authorization: Bearer  token-based"},
	{"authorization", "Authorization: Bearer\t{40}", "Authorization: Bearer\ttoken"},
	{"flag", `curl -u "a:{16}" https://h`, `curl -u "a:internationalization" https://h`},
	{"flag", "curl --user=a:{16} https://h", "cut --user=1000:1000"},
	{"flag", "curl -b sid={32} https://h", "git checkout -b fix=the-thing"},
	{"flag", "curl -H 'X-Custom-Key: {32}'", "curl -H 'X-Custom-Header: {32}'"},
	{"flag", "mysql -u root -p{16}", "mysql -u root -P3306 database"},
	{"flag", "redis-cli -a {24}", "ls -a {24}"},
	{"flag", "sshpass -p {16} ssh h", "mkdir -p {24}"},
	{"table", "| user | a |\n| password | {16} |", "| password | required |"},
	{"Markdown", "**Password:** {16}", "**Password:** required"},
	{"Markdown", "**API key**: {32}", "**Question**: {32}"},
	{"YAML", "password: >-\n  {16}\n", "password: >-\n  required\n"},
	{"YAML", "api_key: |\n  {28}\n", "title: |\n  {28}\n"},
	{"SQL", "CREATE USER u PASSWORD '{16}'", "CREATE USER u PASSWORD 'internationalization'"},
	{"SQL", "ALTER USER u IDENTIFIED BY '{16}'", "IDENTIFIED BY 'name'"},
	{"pgpass", "db.example:5432:shop:app:{16}", "10:20:30:40:fifty thousand"},
	{"JWK", `{"kty":"EC","d":"{43}","use":"sig"}`, `{"kty":"EC","x":"{43}","use":"sig"}`},
	{"JWK", `{"kty":"RSA","dp":"{120}"}`, `{"kty":"RSA","n":"{120}"}`},
	{"JWK", `{"k": "{43}","kty":"oct"}`, `{"k": "{12}","kty":"oct"}`},
	{"path parameter", "GET /a;jsessionid={u32} HTTP/1.1", "GET /a;version={u32} HTTP/1.1"},
	{"variable of a container", "docker run -e DB_PASSWORD={16} x", "docker run -e DB_NAME={16} x"},
}

// TestSecretPlaces checks that the secret is found in each place: in text, in JSON, in JSON inside JSON, and cut
// anywhere.
func TestSecretPlaces(t *testing.T) {
	for _, place := range secretPlaces {
		hit, miss, secret := sample(place.hit), sample(place.miss), secretIn(place.hit)
		for how, got := range map[string]string{"text": redactor().Text(hit), "JSON": redactor().Text(quoted(hit)), "deep": redactor().Text(quoted(quoted(hit))), "bytes": through(redactor(), hit, 1)} {
			if strings.Contains(got, secret) || !strings.Contains(got, "[redacted:") {
				t.Errorf("%s, %s: %s", place.name, how, got)
			}
		}
		for cut := 1; cut < len(hit); cut++ {
			if got := argsSaid(t, redactor(), 1<<20, hit[:cut], hit[cut:]); strings.Contains(got, secret) || !strings.Contains(got, "[redacted:") {
				t.Errorf("%s, cut at %d: %s", place.name, cut, got)
				break
			}
		}
		for _, text := range []string{miss, quoted(miss)} {
			if got := redactor().Text(text); got != text {
				t.Errorf("%s: %s became %s", place.name, text, got)
			}
		}
	}
}

// TestUTF16 checks that a body in UTF-16 is searched and keeps its length, however it is cut.
func TestUTF16(t *testing.T) {
	key := sample("{28}")
	for _, big := range []bool{false, true} {
		encode := func(text string) (p []byte) {
			for _, c := range "\ufeff" + text {
				if big {
					p = append(p, byte(c>>8), byte(c))
				} else {
					p = append(p, byte(c), byte(c>>8))
				}
			}
			return p
		}
		body := encode("é API_KEY=" + key + "\r\nпароль none\r\n")
		want := ""
		for n := len(body) + 1; n > 0; n-- {
			got := through(redactor(), string(body), n)
			if want == "" {
				want = got
			}
			if got != want || len(got) != len(body) || strings.Contains(got, string(encode(key)[2:])) || !strings.HasSuffix(got, string(encode("\r\nпароль none\r\n")[2:])) || !strings.Contains(got, string(encode("[redacted:")[2:])) {
				t.Fatalf("records of %d: %q", n, got)
			}
		}
		odd := string(append(body, 0))
		if got := through(redactor(), odd, 3); len(got) != len(odd) {
			t.Errorf("%d bytes of %d", len(got), len(odd))
		}
	}
}

// TestKnownOtherwise checks that a known value is found in other forms: cut off after a long part, in hexadecimal
// digits, in HTML, and broken into lines.
func TestKnownOtherwise(t *testing.T) {
	value := sample("{20}&'<{10}+/={13}")
	r := asked("X-Api-Key", value)
	for name, said := range map[string]string{
		"cut": value[:30] + "…", "cut, dots": value[:30] + "...", "hex": fmt.Sprintf("%x", value), "HEX": fmt.Sprintf("%X", value), "HTML": strings.NewReplacer("&", "&amp;", "<", "&lt;", "'", "&#39;").Replace(value),
		"HTML of a template": strings.NewReplacer("&", "&amp;", "<", "&lt;", "'", "&#39;", "+", "&#43;").Replace(value), "lines": value[:18] + "\n" + value[18:40] + "\r\n" + value[40:], "indented": value[:18] + "\n    " + value[18:],
	} {
		for _, text := range []string{"key " + said + " is bad", quoted("key " + said + " is bad")} {
			got := r.Text(text)
			if strings.Contains(got, said[4:16]) || !strings.Contains(got, "[redacted:x-api-key:") || !strings.Contains(got, " is bad") {
				t.Errorf("%s: %s became %s", name, text, got)
			}
		}
	}
	for _, said := range []string{value[:14] + " is", value[:10] + "\n" + sample("{30}")} {
		if got := r.Text(said); got != said {
			t.Errorf("%s became %s", said, got)
		}
	}
	two := capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{URL: "/x;jsessionid=" + sample("{24}")}}
	r.Take(two)
	if got := r.Text("it was " + sample("{24}")); strings.Contains(got, sample("{24}")) {
		t.Error(got)
	}
}
