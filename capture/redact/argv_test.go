package redact

import (
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestDuplex checks that bytes from a server don't release the beginning of a secret that its client is still
// writing.
func TestDuplex(t *testing.T) {
	const secret = "sk-ant-api03-Zq1xK2mW9vLp4Rt7YcJh5Gd8"
	for cut := range len(secret) {
		r := New([]byte("salt"), Options{})
		var got strings.Builder
		take := func(rec capture.Record) {
			for _, c := range r.Take(rec) {
				if c.Unwrap().Side == capture.Request {
					got.Write(c.Unwrap().Data)
				}
			}
		}
		ask := func(text string) capture.Record {
			return capture.Record{Exchange: 1, Side: capture.Request, Data: []byte(text)}
		}
		first := ask(`{"text":"a ` + secret[:cut])
		first.Head = &capture.Head{Method: capture.Stdio}
		take(first)
		take(capture.Record{Exchange: 1, Data: []byte("{}\n")})
		take(ask(secret[cut:] + `"}` + "\n"))
		if text := got.String(); !strings.HasPrefix(text, `{"text":"a [redacted:`) || !strings.HasSuffix(text, "]\"}\n") || strings.Count(text, "redacted") != 1 {
			t.Errorf("cut at %d: %s", cut, text)
		}
	}
}

// TestArgv checks that the name of a secret is enough to replace its value on a command line.
func TestArgv(t *testing.T) {
	for line, want := range map[string]string{
		"server --api-key abc --port 80":     "server --api-key * --port 80",
		"server --password=x -v":             "server --password=* -v",
		"env GITHUB_TOKEN=short server":      "env GITHUB_TOKEN=* server",
		"server --token --verbose":           "server --token --verbose",
		"server --max-tokens 100 token":      "server --max-tokens 100 token",
		"server sk-ant-api03-Zq1xK2mW9vLp4R": "server *",
	} {
		args := strings.Fields(line)
		got := New([]byte("salt"), Options{}).Argv(args)
		for i, arg := range got {
			if at := strings.Index(arg, "[redacted:"); at >= 0 {
				got[i] = arg[:at] + "*"
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s", line, got)
		}
		if kept := KeepAll().Argv(args); !slices.Equal(kept, args) {
			t.Errorf("%s: %s", line, kept)
		}
	}
}

// TestDuplexPasses checks that a line is passed on as soon as it has arrived, even if a string in it looks like the
// beginning of a secret.
func TestDuplexPasses(t *testing.T) {
	r := New([]byte("salt"), Options{})
	for i, line := range []string{
		`{"method":"tools/call","params":{"name":"echo","arguments":{"message":"hei"},"_meta":{"claudecode/toolUseId":"toolu_1"}},"jsonrpc":"2.0","id":2}`,
		`{"method":"tools/call","params":{"arguments":{"key":"sk-ant-ap"}},"id":3}`, `{"id":4,"token":"abc","x":"AKIA"}`,
	} {
		rec := capture.Record{Exchange: 1, Side: capture.Request, Data: []byte(line + "\n")}
		if i == 0 {
			rec.Head = &capture.Head{Method: capture.Stdio}
		}
		got := ""
		for _, c := range r.Take(rec) {
			got += string(c.Unwrap().Data)
		}
		if got != line+"\n" {
			t.Errorf("%s\npassed is %s", line, got)
		}
		r.Take(capture.Record{Exchange: 1, Data: []byte("{\"id\":4}\n")})
	}
}
