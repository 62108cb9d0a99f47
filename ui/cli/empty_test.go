package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingArrived checks that "no bytes arrived" is printed only for an empty file.
func TestNothingArrived(t *testing.T) {
	span := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b171","name":"pump",` +
		`"startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[{"key":"gen_ai.operation.name",` +
		`"value":{"stringValue":"execute_tool"}}]}]}]}]}`
	for text, empty := range map[string]bool{"": true, "\n": false, span: false, "one line\n": false} {
		path := filepath.Join(t.TempDir(), "spans.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := command(t, nil, "print", path)
		if strings.Contains(got.stderr, "no bytes arrived") != empty || got.code != 1 {
			t.Errorf("%q: exit %d, %s", text, got.code, got.stderr)
		}
	}
}
