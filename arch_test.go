package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rooms is the architecture: what each room may import, of ours and of the
// world. A room is a folder; "…/*" stands for every folder inside it. To change
// the architecture, change this table and say why in the commit.
var rooms = []struct {
	room  string
	ours  []string // rooms it may import, "…/*" with what is inside
	never []string // packages of the world it must not import
}{
	{"stream", nil, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"providers/dialect", []string{"stream"}, []string{"os", "net", "net/http"}},
	{"providers/host", []string{"stream", "providers", "providers/dialect", "providers/replay"}, []string{"os", "net", "net/http"}},
	{"providers/*", []string{"stream", "providers/dialect"}, []string{"os", "net", "net/http"}},
	{"providers/coding", nil, []string{"net/*"}},
	{"providers", []string{"stream", "providers/*"}, []string{"os", "net", "net/http"}},
	{"capture/mailbox", nil, []string{"os", "net", "net/*", "time", "github.com/*"}},
	{"capture/redact", []string{"capture"}, []string{"os", "net", "github.com/*"}},
	{"capture/*", []string{"capture", "capture/*"}, []string{"github.com/*"}},
	{"capture", nil, []string{"github.com/charmbracelet/*"}},
	{"themes", nil, []string{"github.com/charmbracelet/bubbletea"}},
	{"ui/display", nil, []string{"os", "net"}},
	{"ui/layout", []string{"stream", "ui/display"}, []string{"os", "net", "github.com/*"}},
	{"ui/quiet", nil, []string{"os", "github.com/*"}},
	{"ui", []string{"stream", "providers", "providers/dialect", "providers/host", "providers/price", "providers/replay", "themes", "ui/display", "ui/layout"}, []string{"os", "net", "net/http"}},
	{"ui/cli", []string{"stream", "providers", "providers/*", "capture", "capture/*", "themes", "ui", "ui/*"}, nil},
	{".", []string{"ui/cli", "ui/quiet"}, nil},
}

func TestArchitecture(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		files++
		checkImports(t, file)
		return nil
	})
	if err != nil || files < 20 {
		t.Fatalf("walked %d files: %v", files, err)
	}
}

func checkImports(t *testing.T, file string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	room := filepath.ToSlash(filepath.Dir(file))
	for _, rule := range rooms {
		if !inside(rule.room, room) {
			continue
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			ours, isOurs := strings.CutPrefix(name, "toolscope/")
			switch {
			case isOurs && !anyInside(rule.ours, ours):
				t.Errorf("%s imports %s, which %s may not", file, name, room)
			case !isOurs && anyInside(rule.never, name):
				t.Errorf("%s imports %s, which %s must never", file, name, room)
			}
		}
		return
	}
	t.Errorf("%s: the room %s is not in the table", file, room)
}

func anyInside(patterns []string, name string) bool {
	for _, p := range patterns {
		if inside(p, name) {
			return true
		}
	}
	return false
}

func inside(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(name, prefix+"/")
	}
	return path.Clean(pattern) == name
}
