package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packageRules is the architecture: the packages that each package may import; "…/*" means every folder in a
// folder. To change the architecture, change this table and explain why in the commit.
var packageRules = []struct {
	path  string
	ours  []string // packages in toolscope that it may import
	never []string // other packages that it must not import
}{
	{"stream/count", nil, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"stream/json", []string{"stream/list"}, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"stream/lazyregexp", nil, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"stream/marks", nil, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"stream/list", nil, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"stream/tag", nil, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"stream", []string{"stream/list"}, []string{"os", "net", "net/*", "io/fs", "github.com/*"}},
	{"providers/protocol", []string{"stream", "stream/marks"}, []string{"os", "net", "net/http"}},
	{"providers/host", []string{"stream", "providers", "providers/protocol", "providers/replay"}, []string{"os", "net", "net/http"}},
	{"providers/client", []string{"providers/protocol"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"providers/js", []string{"providers/protocol"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"providers/textcall", nil, []string{"os", "net", "net/*", "github.com/*"}},
	{"providers/mcp", []string{"stream", "providers/schema"}, []string{"os", "net", "net/http"}},
	{"providers/toolrun", []string{"stream", "providers/protocol", "providers/mcp"}, []string{"os", "net", "net/http"}},
	{"providers/requestrules", []string{"stream", "providers/protocol", "providers/replay"}, []string{"os", "net", "net/http"}},
	{"providers/fix", []string{"stream", "providers/protocol", "providers/requestrules"}, []string{"os", "net", "net/http"}},
	{"providers/torture", []string{"providers/protocol"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"providers/*", []string{"stream", "stream/marks", "providers/protocol", "providers/client", "providers/js"}, []string{"os", "net", "net/http"}},
	{"providers/coding", nil, []string{"net/*"}},
	{"providers", []string{"stream", "stream/marks", "providers/*"}, []string{"os", "net", "net/http"}},
	{"capture/redact", []string{"capture", "stream/marks"}, []string{"os", "net", "github.com/*"}},
	{"capture/fault", []string{"stream/marks"}, []string{"os", "net", "github.com/*"}},
	{"capture/sqlite", nil, []string{"net", "net/*", "github.com/charmbracelet/*"}},
	{"capture/formats", []string{"capture", "stream/marks"}, []string{"os", "net"}}, // net/http is allowed: a Head contains an http.Header
	{"capture/record", []string{"capture", "capture/redact"}, []string{"net", "net/*", "github.com/*"}},
	{"capture/fleet", []string{"capture", "capture/record"}, []string{"github.com/charmbracelet/*"}},
	{"capture/*", []string{"capture", "capture/*", "stream/marks"}, []string{"github.com/*"}},
	{"capture", []string{"capture/sqlite"}, []string{"github.com/charmbracelet/*"}},
	{"themes", nil, []string{"github.com/charmbracelet/bubbletea"}},
	{"ui/display", nil, []string{"os", "net"}},
	{"ui/layout", []string{"stream", "ui/display"}, []string{"os", "net", "github.com/*"}},
	{"ui/screen", []string{"providers/client", "stream", "providers/replay", "themes", "ui/display"}, []string{"os", "net", "net/*"}},
	{"ui/present", []string{"providers/client", "stream", "providers", "providers/protocol", "providers/conversation", "providers/price", "providers/replay", "providers/schema", "providers/toolrun", "ui/display", "ui/screen"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"ui/panes", []string{"providers/client", "stream", "providers", "providers/protocol", "providers/conversation", "providers/price", "providers/replay", "providers/schema", "ui/display", "ui/filter", "ui/layout", "ui/present", "ui/screen"}, []string{"os", "net", "net/*"}},
	{"ui/modes", []string{"providers/client", "stream", "providers", "providers/protocol", "providers/price", "providers/replay", "themes", "ui/display", "ui/filter", "ui/layout", "ui/screen", "ui/panes"}, []string{"os", "net", "net/*"}},
	{"ui/replay", []string{"providers/client", "stream", "providers", "providers/protocol", "providers/replay", "ui/display", "ui/present", "ui/screen", "ui/panes", "ui/modes"}, []string{"os", "net", "net/*"}},
	{"ui/send", []string{"providers/client", "stream", "providers", "providers/host", "providers/replay", "ui/display", "ui/layout", "ui/screen", "ui/panes", "ui/modes"}, []string{"os", "net", "net/*"}},
	{"ui/diff", []string{"stream", "providers", "providers/host"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"ui/compare", []string{"stream", "providers", "providers/price", "ui/diff", "ui/display", "ui/layout", "ui/present", "ui/screen", "ui/panes", "ui/modes"}, []string{"os", "net", "net/*"}},
	{"ui/filter", []string{"stream", "providers", "providers/price", "providers/replay", "themes"}, []string{"os", "net", "net/*", "github.com/charmbracelet/*"}},
	{"ui/report", []string{"stream", "ui/display"}, []string{"os", "net", "net/http", "github.com/*"}},
	{"ui/otlp", []string{"ui/report"}, []string{"os", "github.com/charmbracelet/*"}},
	{"ui/web", []string{"stream", "providers", "providers/protocol", "providers/price", "providers/replay", "ui/display", "ui/present", "ui/screen", "ui/panes"}, []string{"os", "net", "net/*", "html/*", "github.com/*"}},
	{"ui/ask", []string{"stream", "providers", "providers/price", "ui/display", "ui/present"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"ui/stats", []string{"stream", "providers", "providers/price", "ui/display", "ui/present", "ui/report", "ui/screen"}, []string{"os", "net", "net/*", "github.com/*"}},
	{"ui/noprobe", nil, []string{"os", "github.com/*"}},
	{"ui", []string{"providers/client", "stream", "providers", "providers/protocol", "providers/mcp", "providers/price", "themes", "ui/display", "ui/filter", "ui/present", "ui/screen", "ui/panes", "ui/modes", "ui/replay", "ui/send", "ui/compare"}, []string{"os", "net", "net/http"}},
	{"ui/cli", []string{"stream", "stream/marks", "providers", "providers/*", "capture", "capture/*", "themes", "ui", "ui/*"}, nil},
	{".", []string{"ui/cli", "ui/noprobe"}, nil},
}

func TestArchitecture(t *testing.T) {
	eachFile(t, func(file string) { checkImports(t, file) })
}

// TestFolders checks that code is next to main.go or in one of five folders.
func TestFolders(t *testing.T) {
	eachFile(t, func(file string) {
		first, _, inFolder := strings.Cut(filepath.ToSlash(file), "/")
		if inFolder && !slices.Contains([]string{"ui", "stream", "providers", "capture", "themes"}, first) {
			t.Errorf("%s: code must not be in the folder %s", file, first)
		}
	})
}

// eachFile calls the function do for each Go file in the program, except tests.
func eachFile(t *testing.T, do func(file string)) {
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
		do(file)
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
	path := filepath.ToSlash(filepath.Dir(file))
	for _, rule := range packageRules {
		if !inside(rule.path, path) {
			continue
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			ours, isOurs := strings.CutPrefix(name, "toolscope/")
			if strings.HasPrefix(name, "github.com/charmbracelet/bubble") && !slices.Contains([]string{"ui", "ui/screen", "ui/cli"}, path) {
				t.Errorf("%s imports %s: only ui, ui/screen and ui/cli may import Bubble Tea", file, name)
			}
			if strings.HasPrefix(name, "go.yaml.in/") && path != "capture/formats" {
				t.Errorf("%s imports %s: only capture/formats may import YAML", file, name)
			}
			if strings.HasPrefix(name, "github.com/nats-io/") && path != "capture/fleet" {
				t.Errorf("%s imports %s: only capture/fleet may import NATS", file, name)
			}
			if strings.HasPrefix(name, "go.opentelemetry.io/") && path != "ui/otlp" {
				t.Errorf("%s imports %s: only ui/otlp may import OpenTelemetry", file, name)
			}
			switch {
			case slices.Contains([]string{"stream/count", "stream/json", "stream/lazyregexp", "stream/tag"}, ours): // every package may import these
			case isOurs && !anyInside(rule.ours, ours):
				t.Errorf("%s imports %s, which is not in the list of %s", file, name, path)
			case !isOurs && anyInside(rule.never, name):
				t.Errorf("%s imports %s, which %s must not import", file, name, path)
			}
		}
		return
	}
	t.Errorf("%s: the package %s is not in the table", file, path)
}

// writers are the source files that may create, change or move files on the disk. A folder means all files in
// it.
var writers = []string{
	"capture/record",          // captures, whose secrets are redacted
	"capture/fleet/repair.go", // damaged numbers in the hub's own store
	"ui/cli/save.go",          // the user's files, the settings and output of clients of toolscope run, crash reports, and toolscope's log
	"ui/cli/system_unix.go",   // opens the terminal, to pass it to a client
	"ui/cli/terminal.go",      // opens the terminal, to query its colours
}

// writing are the functions in package os that write. OpenFile counts as writing: readers can use Open.
var writing = []string{
	"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "Lchown", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile",
	"OpenRoot", "Remove", "RemoveAll", "Rename", "Root", "Symlink", "Truncate", "WriteFile",
}

// TestWriters checks that only writers write files.
func TestWriters(t *testing.T) {
	found := map[string]bool{}
	eachFile(t, func(file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if name := spec.Path.Value; spec.Name != nil && (name == `"os"` || name == `"io/ioutil"`) {
				t.Errorf("%s calls %s %s", file, name, spec.Name.Name)
			}
		}
		file = filepath.ToSlash(file)
		may := slices.IndexFunc(writers, func(w string) bool { return file == w || path.Dir(file) == w })
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := s.X.(*ast.Ident)
			switch {
			case !ok || of.Name != "os" && of.Name != "ioutil" || !slices.Contains(writing, s.Sel.Name):
			case may < 0:
				t.Errorf("%s: os.%s writes, which only %v may", file, s.Sel.Name, writers)
			default:
				found[writers[may]] = true
			}
			return true
		})
	})
	for _, w := range writers {
		if !found[w] {
			t.Errorf("%s no longer writes: remove it from writers", w)
		}
	}
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

// TestOneWayOut checks that all output passes through the writers of the command line, which sanitise it. No
// file may bypass these writers, or the types of sanitised text.
func TestOneWayOut(t *testing.T) {
	eachFile(t, func(file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if spec.Path.Value == `"unsafe"` {
				t.Errorf("%s imports unsafe", file)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := call.Fun.(type) {
			case *ast.Ident:
				if f.Name == "println" {
					t.Errorf("%s calls %s", file, f.Name)
				}
			case *ast.SelectorExpr:
				of, ok := f.X.(*ast.Ident)
				if ok && (of.Name == "fmt" || of.Name == "log") && strings.HasPrefix(f.Sel.Name, "Print") {
					t.Errorf("%s calls %s.%s", file, of.Name, f.Sel.Name)
				}
			}
			return true
		})
	})
}
