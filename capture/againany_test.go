package capture

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgainOfAnything checks that each exchange is read again as it was first read, whatever lines a capture has, and
// in whatever order.
func TestAgainOfAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		content := `{"toolscope":1}` + "\n"
		for range r.IntN(40) {
			content += anyLine(r)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		checkAgain(t, readFile(t, path))
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, content)
		}
	}
}

// anyLine returns a line of a capture, as toolscope or another program may have written it.
func anyLine(r *rand.Rand) string {
	x := 1 + r.IntN(4)
	line := []string{
		`{"x":%d,"d":"a"}`, `{"t":1.5,"x":%d,"d":"a\"b"}`, `{"t":1.5,"x":%d,"side":"request","d":"a"}`, `{"x":%d,"b":"/w=="}`, `{"x":%d,"b":""}`, `{"x":%d}`,
		`{"d":"a","x":%d}`, `{"X":%d,"d":"a"}`, `{"x":1,"d":"a","x":%d}`, ` {"x":%d,"d":"a"}`, `{"t":2,"d":"a","x":%d}`, `{"x":%d,"head":{"status":200}}`,
		`{"x":%d,"end":"eof"}`, `{"x":%d,"d":"b","end":"cut","why":"so"}`, `{"x":%d,"lost":5}`, `{"x":%d,"note":"words"}`, `{"x":%d,"d":"a","note":"words"}`,
		`{"x":%d,"d":"torn`, `%d`, ``, `{"toolscope":1}`,
	}[r.IntN(21)]
	if strings.Contains(line, "%d") {
		line = fmt.Sprintf(line, x)
	}
	if n := len(line) - 1; n > 0 && line[n] == '}' && r.IntN(3) == 0 {
		sum := crc32.Checksum([]byte(line[:n]), castagnoli)
		line = line[:n] + fmt.Sprintf(checksumFormat, sum^uint32(1-min(1, r.IntN(5))))
	}
	return line + []string{"\n", "\n", "\n", "\r\n", " \n", "\n\n"}[r.IntN(6)]
}

// FuzzAgain checks that each exchange of a file is read again as it was first read, whatever the file
// contains.
func FuzzAgain(f *testing.F) {
	for _, c := range again {
		f.Add([]byte(c.content[:min(len(c.content), 1000)]))
	}
	sound := written(f, session...)
	f.Add([]byte(sound + sound))
	f.Add([]byte(sound[:len(sound)-3] + "\n" + sound))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range []string{string(content), sound + string(content), `{"toolscope":1}` + "\n" + string(content)} {
			src, err := Open(t.Context(), writeFile(t, content), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var recs []Record
			for r, err := range src {
				if err != nil {
					break
				}
				recs = append(recs, r)
			}
			checkAgain(t, recs)
		}
	})
}
