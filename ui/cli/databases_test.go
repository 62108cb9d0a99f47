package cli

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestAgentDatabases checks that agents' databases show the calls with their results, and the call that never
// finished.
func TestAgentDatabases(t *testing.T) {
	for name, want := range map[string][]string{
		"crush.db":  {`complete bash {"command":"ls"}`, `cut short bash {"command":"sle`},
		"goose.db":  {`complete shell {"command": "ls"}`},
		"agents.db": {`complete get_weather {"city":"Oslo"}`, `cut short get_time {"zone":`},
		"zed.db":    {`complete list {"path":"a"}`, `cut short edit {"path":"a/b`},
	} {
		out := command(t, nil, "print", "--format", "jsonl", filepath.Join("..", "..", "capture", "sqlite", "testdata", name))
		calls, _ := out.decode(t)
		var got []string
		for _, c := range calls {
			got = append(got, c.Status+" "+c.Name+" "+c.Raw)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", name, got, want, out.stderr)
		}
	}
}
