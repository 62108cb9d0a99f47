package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateNotices = flag.Bool("notices-update", false, "write THIRD_PARTY_NOTICES")

// legalFile matches the names of files that contain a licence or a notice.
var legalFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.]|$)`)

// inReadme are modules without such a file, with the heading of the licence in their README. The README is reproduced
// from that heading on.
var inReadme = map[string]string{"github.com/mattn/go-localereader": "## License"}

// licensed is a module in the program, and the texts of its licences and notices.
type licensed struct {
	name  string // path and version
	texts map[string]string
}

// TestNotices compares THIRD_PARTY_NOTICES with the modules that the program contains on any system.
func TestNotices(t *testing.T) {
	modules := map[string]*licensed{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		addModules(t, system, modules)
	}
	if len(modules) < 30 {
		t.Fatalf("only %d modules found", len(modules))
	}
	addLegalFiles(t, modules, "Go", "Go "+strings.TrimPrefix(goVersion(t), "go"), goRoot(t))
	want := noticesText(modules)
	if *updateNotices {
		if err := os.WriteFile("THIRD_PARTY_NOTICES", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := content(t, "THIRD_PARTY_NOTICES")
	for path, m := range modules {
		if path == "Go" && strings.Contains(got, "\n"+m.name+"\n") {
			continue // the installed Go may have another version, or no licence file
		}
		if len(m.texts) == 0 {
			t.Errorf("%s has no file with a licence", m.name)
		}
		if !strings.Contains(got, "\n"+m.name+"\n") {
			t.Errorf("THIRD_PARTY_NOTICES lacks %s", m.name)
		}
		for file, text := range m.texts {
			if !strings.Contains(got, text) {
				t.Errorf("THIRD_PARTY_NOTICES lacks %s of %s", file, m.name)
			}
		}
	}
	if t.Failed() {
		t.Log("to write the file anew: go test -run TestNotices . -notices-update")
	}
}

// addModules adds the modules that the program contains on one system.
func addModules(t *testing.T, system string, modules map[string]*licensed) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", ".")
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatal(err)
		case p.Module == nil || p.Module.Main:
			continue
		}
		m := p.Module
		if heading := inReadme[m.Path]; heading != "" {
			_, licence, _ := strings.Cut(content(t, filepath.Join(m.Dir, "README.md")), heading)
			modules[m.Path] = &licensed{m.Path + " " + m.Version, map[string]string{"README.md": heading + strings.TrimRight(licence, "\n")}}
			continue
		}
		for dir := p.Dir; ; dir = filepath.Dir(dir) { // a package may have its own licence
			addLegalFiles(t, modules, m.Path, m.Path+" "+m.Version, dir)
			if dir == m.Dir || len(dir) <= len(m.Dir) {
				break
			}
		}
	}
}

// addLegalFiles adds the licences and notices in one folder to a module.
func addLegalFiles(t *testing.T, modules map[string]*licensed, path, name, dir string) {
	m := modules[path]
	if m == nil {
		m = &licensed{name: name, texts: map[string]string{}}
		modules[path] = m
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if legalFile.MatchString(f.Name()) && !f.IsDir() {
			file := filepath.Join(dir, f.Name())
			m.texts[file] = strings.TrimSpace(strings.ReplaceAll(content(t, file), "\r\n", "\n"))
		}
	}
}

func goRoot(t *testing.T) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(root))
}

func goVersion(t *testing.T) string {
	version := regexp.MustCompile(`(?m)^go (\S+)`).FindStringSubmatch(content(t, "go.mod"))
	if version == nil {
		t.Fatal("go.mod names no version of Go")
	}
	return version[1]
}

// noticesText returns the notices. Each text appears once, with the modules that use it.
func noticesText(modules map[string]*licensed) string {
	users := map[string][]string{}
	for _, m := range modules {
		for _, text := range m.texts {
			if !slices.Contains(users[text], m.name) {
				users[text] = append(users[text], m.name)
			}
		}
	}
	var sections []string
	for text, names := range users {
		slices.Sort(names)
		sections = append(sections, strings.Join(names, "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(sections)
	line := strings.Repeat("-", 80)
	return fmt.Sprintf("toolscope contains software of these authors. Each section names modules, and then the text of their licence\nor notice.\n\n%s\n%s",
		line, strings.Join(sections, "\n"+line+"\n"))
}
