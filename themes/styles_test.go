package themes

import (
	"archive/zip"
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	library "github.com/alecthomas/chroma/v2/styles"
)

var update = flag.Bool("update", false, "copy the styles from chroma")

// TestStyles checks that the styles are the same as chroma's, under the same names.
func TestStyles(t *testing.T) {
	if *update {
		copyStyles(t)
	}
	if len(styles()) != len(library.Registry) {
		t.Errorf("%d styles, the library has %d: go test ./themes -update copies them", len(styles()), len(library.Registry))
	}
	for name, want := range library.Registry {
		got := styleOf(name)
		if got == nil || got.Name != want.Name {
			t.Errorf("%s is not there", name)
			continue
		}
		for _, tt := range slices.Concat(want.Types(), got.Types()) {
			if got.Get(tt) != want.Get(tt) {
				t.Errorf("%s: %v is %v, the library says %v", name, tt, got.Get(tt), want.Get(tt))
			}
		}
	}
	if _, err := fs.Stat(openArchive(), licence); err != nil || styleOf("") != nil || styleOf(licence) != nil {
		t.Error(err)
	}
}

// copyStyles writes styles.zip from chroma's sources.
func copyStyles(t *testing.T) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	from := strings.TrimSpace(string(folder))
	files, err := filepath.Glob(filepath.Join(from, "styles", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	put := func(name, file string) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name == "" {
			name = strings.ToLower(chroma.MustNewXMLStyle(bytes.NewReader(data)).Name)
		}
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	put(licence, filepath.Join(from, "COPYING"))
	for _, file := range files {
		put("", file)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("styles.zip", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	stylesZip = out.Bytes()
}
