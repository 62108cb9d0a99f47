package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCurlSends checks that a shell passes the bytes of the request to curl. It also checks that the keys come from
// the shell's environment.
func TestCurlSends(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\0' \"$a\"; done; [ \"$a\" != @- ] || cat\n"
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"a":"it's \"$HOME\" \u0007 $(id)"}`, "{\n\t\"a\": \"\x1b[31m\\\\ é '\"}", "", `'`, "\x00\xff\x80"} {
		a := CapturedRequest{
			Method: "POST", URL: "https://api.example.com/v1/x?a=1&b='2'", Body: []byte(body),
			Header: map[string][]string{
				"X-Api-Key": {"[redacted:key:abcd]"}, "Authorization": {"Bearer [redacted:key:abcd]"}, "Content-Type": {"application/json"},
				"Content-Length": {"7"}, "X-Secret-Thing": {"[redacted:entropy:ffff]"},
			},
			Keys: map[string]string{"X-Api-Key": "ACME_API_KEY", "Authorization": "ACME_TOKEN"},
		}
		run := exec.Command(shell, "-c", string(a.Curl()))
		run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "ACME_API_KEY=k e'y", "ACME_TOKEN=tok", "X_SECRET_THING=s"}
		out, err := run.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, a.Curl())
		}
		want := []string{
			"-N", a.URL, "-H", "authorization: Bearer tok", "-H", "content-type: application/json", "-H", "x-api-key: k e'y",
			"-H", "x-secret-thing: s",
		}
		switch {
		case strings.ContainsFunc(body, isControl):
			want = append(want, "--data-binary", "@-", body)
		case body != "":
			want = append(want, "--data-binary", body)
		}
		if got := strings.TrimSuffix(string(out), "\x00"); got != strings.Join(want, "\x00") {
			t.Errorf("sent %q, want %q", got, want)
		}
		if i := bytes.IndexFunc(a.Curl(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
			t.Errorf("a terminal would obey %q", a.Curl()[i:i+1])
		}
	}
}
