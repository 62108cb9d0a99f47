//go:build linux && !nohub

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolscope/capture"
)

// canaries returns ten random secrets with the forms of real ones.
func canaries() map[string]string {
	of := func(n int) string {
		const all = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
		text := make([]byte, n)
		for i := range text {
			text[i] = all[rand.IntN(len(all))]
		}
		return string(text[:n-6]) + "qZ7xK2" // a suffix with digits and mixed case, so that the string is certainly recognised as a secret
	}
	return map[string]string{
		"anthropic": "sk-ant-api03-" + of(93) + "AA",
		"bearer":    of(40),
		"cookie":    of(32),
		"google":    "AIza" + of(35),
		"github":    "ghp_" + of(36),
		"aws":       "AKIA" + strings.ToUpper(of(16)),
		"postgres":  of(24),
		"jwt":       "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx" + of(20) + "." + of(43),
		"groq":      "gsk_" + of(52),
		"slack":     "xoxb-123456789012-1234567890123-" + of(24),
	}
}

// careless returns a handler whose responses contain secrets. Two secrets are split between deltas, one in a call's
// arguments and one in a turn's text. The responses are written in chunks of random sizes.
func careless(secret map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", events)
		w.Header().Set("Set-Cookie", "session="+secret["cookie"])
		fragments := func(index int, kind, text string) string {
			all := ""
			for len(text) > 0 {
				n := min(7, len(text))
				quoted, _ := json.Marshal(text[:n])
				all += fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":%s%s}}\n\n", index, kind, quoted)
				text = text[n:]
			}
			return all + fmt.Sprintf("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", index)
		}
		text := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			fragments(0, `{"type":"text_delta","text":`, "the token is "+secret["slack"]+", keep it") +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"shell\",\"input\":{}}}\n\n" +
			fragments(1, `{"type":"input_json_delta","partial_json":`, `{"command":"export GROQ=`+secret["groq"]+` && run"}`) +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n" +
			": " + secret["github"] + "\n\n"
		for len(text) > 0 {
			n := min(1+rand.IntN(90), len(text))
			_, _ = io.WriteString(w, text[:n])
			_ = http.NewResponseController(w).Flush()
			text = text[n:]
		}
	}
}

// TestCanaries checks that secrets in headers, the URL, bodies and deltas never leave the proxy. None may be in the
// spool, in the hub's files, in any output read from there, or in either program's notes.
func TestCanaries(t *testing.T) {
	secret := canaries()
	upstream := httptest.NewServer(careless(secret))
	t.Cleanup(upstream.Close)
	store, spool := t.TempDir(), t.TempDir()
	hub := hubAt(t, "127.0.0.1:0", store)
	p := proxied(t, "--to", upstream.URL, "--headless", "--publish", hub.url, "--host", "web1", "--spool", spool)
	passed := ""
	for range 5 {
		body, _ := json.Marshal(map[string]any{"model": "claude-x", "stream": true, "messages": []any{map[string]string{
			"role": "user", "content": "id " + secret["aws"] + " at postgres://me:" + secret["postgres"] + "@db/x with " + secret["github"] + " and " + secret["jwt"],
		}}})
		ask, _ := http.NewRequest("POST", p.url+"/v1/messages?key="+secret["google"], strings.NewReader(string(body)))
		ask.Header.Set("X-Api-Key", secret["anthropic"])
		ask.Header.Set("Authorization", "Bearer "+secret["bearer"])
		ask.Header.Set("Cookie", "session="+secret["cookie"])
		resp, err := http.DefaultClient.Do(ask)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		passed += string(text)
	}
	if strings.Count(passed, secret["github"]) != 5 { // the client gets the unchanged response
		t.Errorf("it passed on\n%s", passed)
	}
	texts := map[string]string{"what the proxy says": fmt.Sprint(p.ended(syscall.SIGTERM))}
	for name, args := range map[string][]string{
		"print":           {"print", hub.url + "?until=now"},
		"print of lines":  {"print", hub.url + "?until=now", "--format", "jsonl"},
		"the index":       {"print", hub.url + "?until=now&model=claude-x", "--format", "jsonl"},
		"export":          {"export", hub.url + "?until=now", "--as", "capture"},
		"export as jsonl": {"export", hub.url + "?until=now", "--as", "jsonl"},
	} {
		got := command(t, nil, args...)
		if texts[name] = got.stdout + got.stderr; got.code != 0 || !strings.Contains(got.stdout, "claude-x") && !strings.Contains(got.stdout, "shell") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	texts["what the hub says"] = fmt.Sprint(hub.ended(syscall.SIGTERM))
	for _, dir := range []string{store, spool} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, _ := os.ReadFile(path)
				texts[path] = string(text)
			}
			return nil
		})
	}
	files, _ := filepath.Glob(filepath.Join(spool, "*", "web1.*.tsc"))
	if len(files) != 1 {
		t.Fatalf("the spool has %v", files)
	}
	list := records(t, files[0])
	answers := string(bytesOf(list, capture.Response))
	if n := strings.Count(answers, "toolu_1"); n != 5 {
		t.Fatalf("%d calls are in the spool:\n%s", n, answers)
	}
	texts["the answers, whole"], texts["what was asked, whole"] = answers, string(bytesOf(list, capture.Request))
	for name, text := range texts {
		for what, value := range secret {
			if strings.Contains(text, value) || strings.Contains(text, value[len(value)-16:]) {
				t.Errorf("%s is in %s", what, name)
			}
		}
	}
}
