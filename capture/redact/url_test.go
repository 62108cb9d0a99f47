package redact

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var tagPattern = regexp.MustCompile(`(redacted:[a-z_-]+:)[0-9a-f]{4}`)

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"/v1/messages?beta=true":                   "/v1/messages?beta=true",
		"https://h.example/a%2Fb?x=%20&&y#z":       "https://h.example/a%2Fb?x=%20&&y#z",
		"https://h.example/v1:gen?alt=sse&key=abc": "https://h.example/v1:gen?alt=sse&key=[redacted:key:TAG]",
		"//u:p@h/":                            "//%5Bredacted:userinfo:TAG%5D@h/",
		"//u@h/":                              "//%5Bredacted:userinfo:TAG%5D@h/",
		"//@h/":                               "//@h/",
		"?X-Amz-Signature=00ff&X-Amz-Date=1":  "?X-Amz-Signature=[redacted:x-amz-signature:TAG]&X-Amz-Date=[redacted:x-amz-date:TAG]",
		"https://h/#access_token=abc&state=1": "https://h/#access_token=[redacted:access_token:TAG]&state=1",
	} {
		got := tagPattern.ReplaceAllString(redactor().URL(in), "${1}TAG")
		if _, err := url.Parse(got); got != want || err != nil {
			t.Errorf("%s became %s, want %s (%v)", in, got, want, err)
		}
	}
}

// TestQueryIsLearned checks that a secret in a query is learned in its decoded form, or as it is written if it can't
// be decoded.
func TestQueryIsLearned(t *testing.T) {
	for _, query := range []string{sample("{12}%2F{16}"), sample("{12}+{16}"), sample("{12}%zz{16}v")} {
		secret, err := url.QueryUnescape(query)
		if err != nil {
			secret = query
		}
		r := redactor()
		tag := strings.TrimPrefix(r.URL("?key="+query), "?key=")
		if got := r.Text("it is " + secret); got != "it is "+tag {
			t.Errorf("%s: %s, want %s", secret, got, tag)
		}
	}
}

// TestNoSecretInURL checks that links, templates, and programs that read their key from elsewhere don't count as
// secrets.
func TestNoSecretInURL(t *testing.T) {
	r := redactor()
	for _, text := range []string{
		"https://example.com:8080/a@b:c", "mailto:a:b@c", "https://git@host/x and a:b@c", "ssh://host:22 a@b",
		"https://h/?key=${API_KEY}", "https://h/?key={key}&token=<token>", "https://h/?key=1&sig=2", "https://h/?monkey=CANARY0123456789",
		"OpenAI(api_key=os.environ[0])", "x-api-key: $KEY_OF_MINE", "my-x-api-key: ",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	if got, again := r.Text("amqp://u:CANARY@h/?key=CANARY0123"), ""; strings.Contains(got, "CANARY") {
		t.Error(got)
	} else if again = r.Text(got); again != got {
		t.Errorf("%s became %s", got, again)
	}
}
