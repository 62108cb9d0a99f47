package formats

import (
	"bytes"
	"testing"
)

// TestOtherLinesAreNotSpliced checks that lines without a payload are reported as they are in the log, even if
// they look like halves of a payload.
func TestOtherLinesAreNotSpliced(t *testing.T) {
	for _, log := range []string{
		"x: Delta(args='{\"valve\":', name=None)\ny: Delta(args='\"four\"}', name=None)\n",
		"x: Delta(args='{\"valve\":', name=None)\n",
		"x: Delta(args='{\"valve\":', name=None)\nnothing else\n",
		"{\"m\":\"data: {\\\"valve\\\":\"}\n{\"m\":\"\\\"four\\\"}\"}\n",
		"INFO data: {\"valve\":\nINFO \"four\"}\n",
	} {
		count, kept := int64(0), map[string]bool{}
		for _, r := range readLog(t, []byte(log), len(log)) {
			count += r.Others
			for _, line := range r.OtherLines {
				kept[string(line)] = true
			}
			if len(r.Data) > 0 {
				t.Errorf("%q: a stream with %q", log, r.Data)
			}
		}
		lines := bytes.Split(bytes.TrimSpace([]byte(log)), []byte("\n"))
		if count != int64(len(lines)) {
			t.Errorf("%q: %d lines", log, count)
		}
		for _, line := range lines {
			if !kept[string(line)] {
				t.Errorf("%q is not among %v", line, kept)
			}
		}
	}
}
