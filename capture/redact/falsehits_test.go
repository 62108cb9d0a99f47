package redact

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const sourceSize = 10 << 20 // maximum number of bytes of Go's own source that are searched

var replaced = regexp.MustCompile(`\[redacted:([\w-]+):[0-9a-f]{4}\]`)

// falseHits returns the texts under a directory that contain secrets according to the rules, and the number of
// searched bytes. No text there contains a real secret.
func falseHits(t *testing.T, root string, limit int, wanted func(path string) bool) (hits []string, size int) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || size > limit || !wanted(path) {
			return err
		}
		text, err := os.ReadFile(path)
		size += len(text)
		for _, line := range strings.Split(redactor().Text(string(text)), "\n") {
			for _, m := range replaced.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(string(text), m[0]) && m[1] != "private-key" { // examples contain keys
					hits = append(hits, m[1]+" in "+path+": "+line[:min(len(line), 300)])
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits, size
}

// TestFalseHitsInSource checks that, in 10 MB of source code, a rule whose shape has a prefix finds nothing, and that
// a rule that recognises a secret by the name before it is wrong at most once per megabyte.
func TestFalseHitsInSource(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, missing := os.Stat(root); err != nil || missing != nil {
		t.Skipf("no source of Go: %v", errors.Join(err, missing))
	}
	some := func(path string) bool { // use some files of every package
		h := fnv.New32a()
		_, _ = h.Write([]byte(filepath.Base(path)))
		return strings.HasSuffix(path, ".go") && h.Sum32()%7 == 0
	}
	hits, size := falseHits(t, root, sourceSize, some)
	if size < sourceSize {
		t.Fatalf("only %d bytes were searched", size)
	}
	judgeHits(t, hits, size)
}

// TestFalseHitsInCorpus is like TestFalseHitsInSource, but searches recorded requests and streams.
func TestFalseHitsInCorpus(t *testing.T) {
	root := os.Getenv("TOOLSCOPE_CORPUS")
	if root == "" {
		t.Skip("TOOLSCOPE_CORPUS names no corpus")
	}
	hits, size := falseHits(t, root, 1<<40, func(string) bool { return true })
	judgeHits(t, hits, size)
}

func judgeHits(t *testing.T, hits []string, size int) {
	t.Helper()
	byShape, byName := 0, 0
	for _, hit := range hits {
		name, _, _ := strings.Cut(hit, " ")
		if slices.ContainsFunc(shapes, func(r *rule) bool { return r.name == name }) {
			byShape++
		} else {
			byName++
		}
		t.Log(hit)
	}
	megabytes := float64(size) / (1 << 20)
	t.Logf("%.1f MB searched: %d false hits of shapes, %d by what stands before (%.2f a megabyte)", megabytes, byShape, byName, float64(byName)/megabytes)
	if byShape > 0 || float64(byName) > megabytes {
		t.Errorf("%d and %d false hits", byShape, byName)
	}
}
