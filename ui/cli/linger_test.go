package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/capture/formats"
)

// TestUnusedLinesAreReported checks that a pipe or followed file whose lines do not come from a model is reported. The
// report must not wait for more lines, and later data must still be read.
func TestUnusedLinesAreReported(t *testing.T) {
	t.Parallel()
	in, to := io.Pipe()
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for name, c := range map[string]struct {
		open capture.Options
		path string
		to   io.Writer
	}{
		"pipe":     {capture.Options{Stdin: in}, "-", to},
		"followed": {capture.Options{Follow: true}, path, file},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.open.Formats, c.open.GuessPayload = formats.All, looksLike
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			src, err := capture.Open(ctx, c.path, c.open)
			if err != nil {
				t.Fatal(err)
			}
			write := func(text string) {
				go func() { _, _ = io.WriteString(c.to, text) }()
			}
			write("hello\n")
			told, data := int64(0), ""
			for r, err := range src {
				if err != nil {
					t.Fatal(err)
				}
				if told += r.Others; r.Others > 0 {
					write("world " + strings.Split(longStream(1), "\n")[1] + "\n")
				}
				if data += string(r.Data); strings.Contains(data, "message_start") {
					break
				}
			}
			if told != 1 {
				t.Errorf("%d lines of others were told", told)
			}
		})
	}
}
