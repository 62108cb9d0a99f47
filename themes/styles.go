package themes

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// stylesZip is the styles of chroma, each in a file of its name, and their licence. Chroma's own
// package of them reads them all when a program starts that only links it, which takes longer than
// all else that is done then. A test holds them against that package, and writes them with -update.
//
//go:embed styles.zip
var stylesZip []byte

const licence = "COPYING" // no style's name: those are in lower case

// styles are the files of the styles by name.
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
		panic(err) // cannot be: a test reads it
	}
	return r
}

// styleOf is the style of that name, nil if there is none.
func styleOf(name string) *chroma.Style {
	f := styles()[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		panic(err) // as above
	}
	defer r.Close()
	return chroma.MustNewXMLStyle(r)
}
