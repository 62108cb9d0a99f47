package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestProxy checks a client whose base URL is the URL of the proxy, followed by the name of the provider. The
// client must read the same calls that the proxy prints, and that its capture shows later. The key must not
// be recorded.
func TestProxy(t *testing.T) {
	for _, p := range protocols {
		for name, args := range map[string][]string{"at once": {"--speed", "max"}, "bytewise": {"--speed", "max", "--fault", "split"}} {
			t.Run(p.name+", "+name, func(t *testing.T) {
				file, _ := recorded(t, p, 100)
				dir := filepath.Join(t.TempDir(), "captures")
				to := p.host + "=" + served(t, append(args, file)...) + p.version
				between := started(t, 128+int(syscall.SIGTERM), "proxy", "--to", to, "--headless", "--format", "jsonl", "--record", dir+"/")
				got, err := p.stream(t.Context(), between.url+"/"+p.host, 0)
				if err != nil {
					t.Fatal(err)
				}
				shown, findings := told(t, between.end(128+int(syscall.SIGTERM)))
				captures, _ := filepath.Glob(filepath.Join(dir, "*.tsc"))
				if len(captures) != 1 || len(findings) > 0 {
					t.Fatalf("recorded %q; findings %q", captures, findings)
				}
				again, _ := printed(t, captures[0], nil)
				if !slices.Equal(shown, again) || len(shown) < 2 {
					t.Errorf("the proxy printed  %+v\nits recording has   %+v", shown, again)
				}
				if got, shown := alike(t, got), alike(t, shown); !slices.Equal(got, shown) {
					t.Errorf("the client has     %+v\nthe proxy printed  %+v", got, shown)
				}
				content, err := os.ReadFile(captures[0])
				if err != nil || bytes.Contains(content, []byte(key)) || p.keyed != bytes.Contains(content, []byte("[redacted:")) {
					t.Errorf("%v: the recording holds the key, or nothing in its place:\n%s", err, content)
				}
			})
		}
	}
}
