package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestASCIIWords checks that commands and help pages write only ASCII characters if the user asks for this. JSON must
// keep its meaning.
func TestASCIIWords(t *testing.T) {
	file := saved(t, "x.sse", string(turnOf("wörk 🦊")))
	plain := func(args ...string) string {
		t.Helper()
		out := command(t, nil, args...)
		for i, b := range []byte(out.stdout + out.stderr) {
			if b > 0x7F {
				all := out.stdout + out.stderr
				t.Errorf("%v: %q", args, all[max(0, i-30):min(len(all), i+10)])
				break
			}
		}
		return out.stdout
	}
	wide := command(t, nil, "print", "--format", "jsonl", file).stdout
	t.Setenv("LC_ALL", "C")
	var pages func(cmd *cobra.Command)
	pages = func(cmd *cobra.Command) {
		plain(append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		for _, c := range cmd.Commands() {
			pages(c)
		}
	}
	pages(new(app).linkParts().rootCommand())
	for _, args := range [][]string{
		{"print", file}, {"check", file}, {"check", "--format", "junit", file}, {"diff", file, file}, {"replay", file}, {"replay", "--format", "json", file},
		{"demo", "history"}, {"demo", "cut", "--plain", "--speed", "16"}, {"--plain", file}, {"explain", "ARGS_BROKEN"}, {"config", "show"}, {"version"}, {"nö"},
	} {
		plain(args...)
	}
	narrow := plain("print", "--format", "jsonl", file)
	for i, line := range strings.Split(strings.TrimSpace(narrow), "\n") {
		var got, want map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(strings.Split(wide, "\n")[i]), &want); err != nil {
			t.Fatal(err)
		}
		if got["name"] != want["name"] || got["arguments_raw"] != want["arguments_raw"] {
			t.Errorf("%v\nwant\n%v", got, want)
		}
	}
	var suite struct {
		Text string `xml:",innerxml"`
	}
	if text := plain("check", "--format", "junit", file); xml.Unmarshal([]byte(text), &suite) != nil || strings.Contains(text, `\u`) {
		t.Errorf("no XML, or another text:\n%s", text)
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	plain("--plain", "--ascii", file)
}

// TestASCIIChunks checks that the output does not depend on how the input is divided into writes.
func TestASCIIChunks(t *testing.T) {
	const text = "a · ö 🦊…\n{\"k\": \"·é🦊\"}\n\xff·"
	const want = "a - \\u00f6 \\ud83e\\udd8a...\n{\"k\": \"\\u00b7\\u00e9\\ud83e\\udd8a\"}\n\\ufffd-"
	for size := 1; size < len(text); size++ {
		var b bytes.Buffer
		to := &asciiTo{to: &b, on: true}
		for i := 0; i < len(text); i += size {
			if n, err := to.Write([]byte(text[i:min(len(text), i+size)])); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		if b.String() != want {
			t.Errorf("by %d: %q, want %q", size, b.String(), want)
		}
	}
}

// TestASCIIFiles checks that output files do not depend on the locale.
func TestASCIIFiles(t *testing.T) {
	file := saved(t, "x.sse", string(turnOf("wörk 🦊")))
	for _, args := range [][]string{
		{"export", file, "--as", "html"}, {"export", file, "--as", "sse"}, {"export", file, "--as", "md"}, {"export", file, "--as", "svg"},
	} {
		t.Setenv("LC_ALL", "C.UTF-8")
		want := command(t, nil, args...)
		t.Setenv("LC_ALL", "C")
		if got := command(t, nil, args...); got.stdout != want.stdout || got.code != 0 || len(got.stdout) < 100 {
			t.Errorf("%v: exit code %d %s\n%.300s\nwant\n%.300s", args, got.code, got.stderr, got.stdout, want.stdout)
		}
	}
}
