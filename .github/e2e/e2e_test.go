package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// text returns arguments as normalised JSON, with sorted keys and without spaces.
func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// alike returns calls with normalised arguments. Libraries that return objects don't keep the original text.
// Other libraries return {} or nothing for empty arguments.
func alike(t *testing.T, calls []call) []call {
	t.Helper()
	calls = slices.Clone(calls)
	for i, c := range calls {
		var v any
		if c.Args == "" {
			c.Args = "{}"
		}
		if err := json.Unmarshal([]byte(c.Args), &v); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		calls[i].Args = text(v)
	}
	return calls
}

// TestCalls checks that a client library reads the same calls that toolscope shows for the capture, for different
// divisions of the bytes into chunks.
func TestCalls(t *testing.T) {
	for _, p := range protocols {
		for name, args := range map[string][]string{
			"at once": {"--speed", "max"}, "as recorded": nil, "bytewise": {"--speed", "max", "--fault", "split"},
		} {
			t.Run(p.name+", "+name, func(t *testing.T) {
				file, _ := recorded(t, p, 100)
				want, findings := printed(t, file, nil)
				if len(want) < 2 || len(findings) > 0 {
					t.Fatalf("toolscope shows %+v and finds %q", want, findings)
				}
				got, err := p.stream(t.Context(), through(t, served(t, append(args, file)...)), 0)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := alike(t, got), alike(t, want); !slices.Equal(got, want) {
					t.Errorf("the client has  %+v\ntoolscope shows %+v", got, want)
				}
			})
		}
	}
}

// TestRawArguments checks libraries that return the text of the arguments. The text must be the same as in
// toolscope.
func TestRawArguments(t *testing.T) {
	for _, p := range protocols[:3] {
		file, _ := recorded(t, p, 1<<20)
		want, _ := printed(t, file, nil)
		got, err := p.stream(t.Context(), through(t, served(t, file)), 0)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %+v, %v", p.name, got, err)
		}
		for i := range want {
			if want[i].Args != "" && got[i].Args != want[i].Args {
				t.Errorf("%s: the client has  %s\ntoolscope shows %s", p.name, got[i].Args, want[i].Args)
			}
		}
	}
}

// TestBytes checks that the bytes on the wire equal the bytes in the capture.
func TestBytes(t *testing.T) {
	for _, p := range protocols {
		file, wire := recorded(t, p, 7)
		got, resp, err := fetched(t, through(t, served(t, "--speed", "max", file))+p.path)
		if err != nil || !bytes.Equal(got, wire) || resp.Header.Get("Content-Type") != p.contentType {
			t.Errorf("%s: %v, %v\n%s", p.name, resp, err, got)
		}
	}
}

func fetched(t *testing.T, url string) ([]byte, *http.Response, error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return body, resp, err
}

// TestRefused checks that each library recognises toolscope's errors.
func TestRefused(t *testing.T) {
	for _, p := range protocols {
		for _, status := range []string{"429", "529", "400"} {
			t.Run(p.name+" "+status, func(t *testing.T) {
				file, _ := recorded(t, p, 100)
				calls, err := p.stream(t.Context(), through(t, served(t, "--fault", "status="+status, file)), 0)
				got, said := p.failure(err)
				if text(got) != status || !strings.Contains(said, "because of --fault status="+status) || len(calls) > 0 {
					t.Errorf("%d %q: %+v, %v", got, said, calls, err)
				}
			})
		}
	}
}

// TestRetried checks that a library that retries a request receives the stream.
func TestRetried(t *testing.T) {
	for _, p := range protocols[:3] {
		file, _ := recorded(t, p, 100)
		calls, err := p.stream(t.Context(), through(t, served(t, "--speed", "max", "--fault", "status=429x1", file)), 1)
		if err != nil || len(calls) < 2 {
			t.Errorf("%s: %+v, %v", p.name, calls, err)
		}
	}
}

// TestCut checks that every library reports an error for a broken connection.
func TestCut(t *testing.T) {
	for _, p := range protocols {
		for _, fault := range []string{"cut@2", "cut-inside@2"} {
			file, _ := recorded(t, p, 100)
			if calls, err := p.stream(t.Context(), through(t, served(t, "--speed", "max", "--fault", fault, file)), 0); err == nil {
				t.Errorf("%s, %s: %+v", p.name, fault, calls)
			}
		}
	}
}

// TestMergedIndex checks that toolscope separates calls that a library merges, or at least reports a finding
// about them.
func TestMergedIndex(t *testing.T) {
	p := protocols[1]
	file, _ := recorded(t, p, 100)
	base := through(t, served(t, "--speed", "max", "--fault", "merge-index", file))
	calls, err := p.stream(t.Context(), base, 0)
	if err == nil && len(calls) > 1 {
		t.Errorf("the client has %+v", calls)
	}
	body, _, err := fetched(t, base+p.path)
	if err != nil {
		t.Fatal(err)
	}
	shown, findings := printed(t, "-", body)
	if len(findings) == 0 {
		t.Errorf("toolscope shows %+v and finds nothing", shown)
	}
	t.Logf("toolscope shows %+v and finds %q", shown, findings)
}
