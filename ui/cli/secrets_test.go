//go:build linux

package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// secretsOf are secrets of many kinds, keyed by their place. Each has a unique part, which marker finds.
var secretsOf = map[string]string{
	"key header":         "sk-ant-api03-CANARY01aaaaaaaaaaaaaaaa",
	"bearer header":      "sk-proj-CANARY02aaaaaaaaaaaaaaaaaaaa",
	"header by its name": "CANARY03-no-pattern-at-all",
	"cookie":             "CANARY04-session-of-a-browser",
	"query":              "AIzaCANARY05aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"request body":       "ghp_CANARY06aaaaaaaaaaaaaaaaaaaa",
	"request field":      "CANARY07 is known by its key",
	"set cookie":         "CANARY08-session-of-a-server",
	"userinfo":           "CANARY09-password",
	"response text":      "hf_CANARY10aaaaaaaaaaaaaaaaaaaa",
	"over deltas":        "xai-CANARY11aaaaaaaaaaaaaaaaaaaaaaaa",
	"over chunks":        "gsk_CANARY12aaaaaaaaaaaaaaaaaaaaaaaa",
	"gzip body":          "AKIACANARY13AAAAAAAA",
	"token in a body":    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDQU5BUlkxNCJ9.CANARY14aaaaaaaa",
	"signature":          "CANARY15-of-amazon",
}

var marker = regexp.MustCompile(`CANARY\d\d`)

// found returns the places whose secrets are in the given text.
func found(text string) (places []string) {
	for place, secret := range secretsOf {
		if strings.Contains(text, marker.FindString(secret)) {
			places = append(places, place)
		}
	}
	return places
}

// leaky responds with secrets everywhere: in a stream, a compressed stream, or an error that repeats the request's
// credentials.
func leaky(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Set-Cookie", "session="+secretsOf["set cookie"]+"; HttpOnly")
	w.Header().Set("Location", "https://user:"+secretsOf["userinfo"]+"@host.test/")
	w.Header().Set("Content-Type", events)
	switch {
	case bytes.Contains(body, []byte("please fail")):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid key %s and %s"}}`, r.Header.Get("X-Api-Key"), r.Header.Get("X-My-Secret"))
	case bytes.Contains(body, []byte("please pack")):
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, strings.Replace(anthropicAnswer, "Oslo", secretsOf["gzip body"], 1))
		packed.Close()
	default:
		leak(w)
	}
}

// leak writes a call with secrets. Some are split between deltas and chunks.
func leak(w http.ResponseWriter) {
	const delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}\n\n"
	begin, rest, _ := strings.Cut(anthropicAnswer, "event: content_block_delta")
	_, end, _ := strings.Cut(rest, "\n\n")
	text, split := secretsOf["response text"], secretsOf["over deltas"]
	out := begin + fmt.Sprintf(delta, `{\"a\":\"`+text+`\",\"b\":\"`+split[:3]) + fmt.Sprintf(delta, split[3:15]) + fmt.Sprintf(delta, split[15:]+`\",`) +
		fmt.Sprintf(delta, `\"c\":\"`+secretsOf["over chunks"]+`\",\"d\":\"`+secretsOf["token in a body"]+`\"}`) + end
	at := strings.Index(out, secretsOf["over chunks"])
	for _, piece := range []string{out[:at+2], out[at+2 : at+9], out[at+9 : at+20], out[at+20:]} {
		_, _ = io.WriteString(w, piece)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(2 * time.Millisecond) // makes a separate read of each chunk likely
	}
}

// askLeaky sends three requests with secrets everywhere through a proxy.
func askLeaky(t *testing.T, url string) {
	t.Helper()
	for _, word := range []string{"go on", "please pack", "please fail"} {
		body := fmt.Sprintf(`{"model":"claude-x","messages":[{"role":"user","content":"%s %s"}],"mcp_servers":[{"authorization_token":"%s"}]}`, word, secretsOf["request body"], secretsOf["request field"])
		req, err := http.NewRequest("POST", url+"/anthropic/v1/messages?key="+secretsOf["query"], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"X-Api-Key": secretsOf["key header"], "Authorization": "Bearer " + secretsOf["bearer header"], "X-My-Secret": secretsOf["header by its name"],
			"Cookie": "a=b; session=" + secretsOf["cookie"], "X-Amz-Security-Token": secretsOf["signature"], "Accept-Encoding": "gzip",
		} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Error(err)
		}
		resp.Body.Close()
	}
}

// wantNoSecrets fails the test if a capture or any of the strings contains a secret.
func wantNoSecrets(t *testing.T, recording string, texts ...string) {
	t.Helper()
	recorded, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(recorded, []byte("[redacted:")) {
		t.Errorf("nothing is replaced in %s", recorded)
	}
	for _, text := range append(texts, string(recorded)) {
		if got := found(text); len(got) > 0 {
			t.Errorf("secrets of %q in %s", got, text)
		}
	}
}

// TestProxySecrets checks that no written or printed data contains a secret, wherever the secret was in the traffic.
func TestProxySecrets(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "jsonl"} {
		upstream, _ := provider(t, leaky)
		recording := filepath.Join(t.TempDir(), "a.tsc")
		p := proxied(t, "--to", "anthropic="+upstream, "--record", recording, "--format", format)
		askLeaky(t, p.url)
		got := p.ended(syscall.SIGTERM)
		if strings.Count(got.stdout, "get_weather") < 2 || format == "jsonl" && !strings.Contains(got.stdout, "[redacted:xai-key:") {
			t.Errorf("%+v", got)
		}
		wantNoSecrets(t, recording, got.stdout, got.stderr)
		again := command(t, nil, "print", "--format", "jsonl", recording)
		if _, turns := again.decode(t); len(turns) != 3 {
			t.Errorf("opened again: %+v", again)
		}
	}
}

// TestConnectSecrets is like TestProxySecrets, for a request that connect sends.
func TestConnectSecrets(t *testing.T) {
	keyless(t)
	upstream, _ := provider(t, leaky)
	t.Setenv("ANTHROPIC_API_KEY", secretsOf["key header"])
	for _, word := range []string{"go on", "please pack", "please fail"} {
		for _, format := range []string{"text", "jsonl"} {
			recording := filepath.Join(t.TempDir(), "a.tsc")
			got := command(t, nil, "connect", "anthropic", "--base-url", upstream, "--record", recording, "--format", format,
				"--header", "Authorization=Bearer "+secretsOf["bearer header"], "--header", "X-Api-Key="+secretsOf["key header"],
				"--header", "X-My-Secret="+secretsOf["header by its name"], "--header", "Cookie=session="+secretsOf["cookie"],
				word+" "+secretsOf["request body"])
			if fails := word == "please fail"; fails != (got.code == 1) || !fails && !strings.Contains(got.stdout, "get_weather") {
				t.Errorf("%+v", got)
			}
			wantNoSecrets(t, recording, got.stdout, got.stderr)
		}
	}
}

// urlOf returns the address of the proxy that the screen shows.
func urlOf(p *console) string {
	p.t.Helper()
	p.untilShown("WAITING")
	return "http://" + regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(now(p, (*screen).text))
}

// TestSecretsOnScreen checks that no frame of any pane contains a secret.
func TestSecretsOnScreen(t *testing.T) {
	t.Parallel()
	upstream, _ := provider(t, leaky)
	for _, size := range [][2]int{{80, 24}, {170, 40}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			recording := filepath.Join(t.TempDir(), "a.tsc")
			p := start(t, launch{w: size[0], h: size[1], args: []string{"proxy", "--to", "anthropic=" + upstream, "--record", recording}})
			askLeaky(t, urlOf(p))
			p.untilShown("3 turns")
			for _, key := range strings.Fields("1 g " + strings.Repeat("2 j enter q 2 r r 3 j enter q 1 j ", 8) + "4 j enter ! 1 p j esc z") {
				p.press(key)
				if got := found(now(p, (*screen).text)); len(got) > 0 {
					t.Errorf("secrets of %q on the screen:\n%s", got, p.describe())
				}
			}
			p.keys("\x03")
			p.wantExit(130)
			p.wantRestored()
			if !strings.Contains(string(p.out), "[redacted:") {
				t.Error("the tour came by no place that held a secret")
			}
			wantNoSecrets(t, recording, string(p.out))
		})
	}
}

// TestSecretsKept checks that --keep-secrets keeps secrets, and that the screen always says so.
func TestSecretsKept(t *testing.T) {
	t.Parallel()
	upstream, _ := provider(t, leaky)
	recording := filepath.Join(t.TempDir(), "a.tsc")
	p := start(t, launch{w: 100, args: []string{"proxy", "--to", "anthropic=" + upstream, "--record", recording, "--keep-secrets"}})
	p.untilShown("SECRETS KEPT")
	askLeaky(t, urlOf(p))
	p.untilShown("3 turns")
	p.untilShown("SECRETS KEPT")
	p.keys("q")
	p.wantExit(0)
	recorded, err := os.ReadFile(recording)
	if err != nil || bytes.Contains(recorded, []byte("[redacted:")) {
		t.Errorf("%v: replaced in %s", err, recorded)
	}
	for _, place := range []string{"key header", "query", "request field", "set cookie", "token in a body", "signature"} {
		if !bytes.Contains(recorded, []byte(secretsOf[place])) {
			t.Errorf("%s: not recorded", place)
		}
	}
}
