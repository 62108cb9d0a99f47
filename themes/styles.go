package themes

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// stylesZip contains the styles of chroma, each in a file with its name, and their licence. Chroma's own
// package reads all styles at program start, even if none is used, and takes longer than the rest of the
// start. A test compares the archive with that package, and writes the archive with -update.
//
//go:embed styles.zip
var stylesZip []byte

const licence = "COPYING" // not a style: names of styles are lower case

// styles returns the files of the styles by name.
var styles = sync.OnceValue(func() map[string]*zip.File {
	all := map[string]*zip.File{}
	for _, f := range openArchive().File {
		if f.Name != licence {
			all[f.Name] = f
		}
	}
	return all
})

func openArchive() *zip.Reader {
	r, err := zip.NewReader(bytes.NewReader(stylesZip), int64(len(stylesZip)))
	if err != nil {
		panic(err) // can't happen: a test reads the archive
	}
	return r
}

// styleOf returns the chroma style with a name, or nil.
func styleOf(name string) *chroma.Style {
	f := styles()[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		panic(err) // can't happen, as above
	}
	defer r.Close()
	return chroma.MustNewXMLStyle(r)
}
