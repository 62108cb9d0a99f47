package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxFilesPerPath is how many files of one directory or pattern are read at most.
const maxFilesPerPath = 100_000

// FoundFile is a file that was named, or found.
type FoundFile struct {
	Path string
	In   string // the directory or pattern that it was found by; "" where the path itself was named
}

// Find lists the files that paths name, in the order in which they are read: of a directory all that
// are in it and below, of a pattern all that match. What was left out of those is said in words. A
// pattern that nothing matches is an error; a file that is not there is for who opens it.
func Find(paths []string) (files []FoundFile, left []string, err error) {
	for _, path := range paths {
		p := searchPathOf(path)
		if p == nil {
			files = append(files, FoundFile{Path: path})
			continue
		}
		for _, found := range p.find() {
			files = append(files, FoundFile{found, path})
		}
		if words := p.left.describe(); words != "" {
			left = append(left, path+": "+words)
		}
		if len(p.found) == 0 {
			return nil, left, p.emptyError()
		}
	}
	return files, left, nil
}

// IsPlace reports whether a path names a directory or is a pattern: any number of files.
func IsPlace(path string) bool { return searchPathOf(path) != nil }

// searchPath is a directory or a pattern.
type searchPath struct {
	path  string   // as the user wrote it
	root  string   // where looking begins
	parts []string // of a pattern, below root
	left  skippedFiles
	found map[string]bool
	dirs  []string // that were looked through
	links []string // of what was found: symbolic links
}

// searchPathOf is the place that a path names, nil where it names one file. What is there by that very
// name is no pattern.
func searchPathOf(path string) *searchPath {
	info, err := os.Stat(path)
	switch {
	case path == "-":
		return nil
	case err == nil && info.IsDir():
		return &searchPath{path: path, root: path}
	case err == nil || !isPattern(path):
		return nil
	}
	p := &searchPath{path: path, root: filepath.VolumeName(path)}
	p.parts = strings.Split(filepath.ToSlash(path[len(p.root):]), "/")
	for len(p.parts) > 1 && !isPattern(p.parts[0]) {
		p.root, p.parts = p.root+p.parts[0]+string(filepath.Separator), p.parts[1:]
	}
	return p
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?[") }

func (p *searchPath) emptyError() error {
	if p.parts == nil {
		return fmt.Errorf("open %s: no file in it that can be read", p.path)
	}
	return fmt.Errorf("open %s: no file matches", p.path)
}

// skippedFiles is what was not taken of a place.
type skippedFiles struct {
	hidden, links, special int
	trouble                []string // what could not be listed, and why
	limit                  bool
}

func (l *skippedFiles) describe() string {
	var all []string
	for _, c := range []struct {
		n    int
		what string
	}{{l.hidden, "hidden"}, {l.links, "links to directories"}, {l.special, "no regular files"}} {
		if c.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if l.limit {
		all = append(all, fmt.Sprintf("all behind the first %d files", maxFilesPerPath))
	}
	text := ""
	if len(all) > 0 {
		text = "left out: " + strings.Join(all, ", ")
	}
	for _, t := range l.trouble {
		text = JoinNotes(text, t)
	}
	return text
}

// find lists the files of the place as they are now.
func (p *searchPath) find() []string {
	p.found, p.left, p.links = map[string]bool{}, skippedFiles{}, nil
	p.dirs = p.dirs[:0]
	if p.parts == nil {
		p.addTree(p.root)
	} else {
		p.match(p.root, p.parts)
	}
	for _, link := range p.links { // a file that is found under its own name, too, is read once
		if target, err := filepath.EvalSymlinks(link); err == nil && p.found[target] {
			delete(p.found, link)
		}
	}
	var files []string
	for path := range p.found {
		files = append(files, path)
	}
	slices.SortFunc(files, inOrder)
	return files
}

// addTree takes every file in a directory and below.
func (p *searchPath) addTree(dir string) {
	p.eachEntry(dir, func(e fs.DirEntry) {
		if strings.HasPrefix(e.Name(), ".") {
			p.left.hidden++
			return
		}
		p.add(filepath.Join(dir, e.Name()), p.addTree)
	})
}

// eachEntry calls do for whatever is in a directory.
func (p *searchPath) eachEntry(dir string, do func(fs.DirEntry)) {
	dir = cmp.Or(dir, ".")
	entries, err := os.ReadDir(dir)
	p.dirs = append(p.dirs, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.left.trouble = append(p.left.trouble, openError(dir, err).Error())
	}
	for _, e := range entries {
		do(e)
	}
}

// add takes a file, and has below do with a directory.
func (p *searchPath) add(path string, below func(dir string)) {
	here, err := os.Lstat(path)
	if err != nil {
		return // it was there a moment ago
	}
	info, err := os.Stat(path)
	link := here.Mode()&fs.ModeSymlink != 0
	switch {
	case err != nil:
		p.left.trouble = append(p.left.trouble, openError(path, err).Error())
	case info.IsDir() && link:
		p.left.links++
	case info.IsDir():
		below(path)
	case !info.Mode().IsRegular():
		p.left.special++
	case len(p.found) >= maxFilesPerPath:
		p.left.limit = true
	default:
		p.found[path] = true
		if link {
			p.links = append(p.links, path)
		}
	}
}

// match takes what the parts of a pattern match below a directory. "**" stands for any number of
// directories. What is hidden is matched only by a part that begins as it does.
func (p *searchPath) match(dir string, parts []string) {
	part, rest := parts[0], parts[1:]
	into := p.addTree
	if len(rest) > 0 {
		into = func(dir string) { p.match(dir, rest) }
	}
	switch {
	case part == "**" && len(rest) == 0:
		p.addTree(dir)
		return
	case part == "**":
		p.match(dir, rest)
		into = func(dir string) { p.match(dir, parts) }
	case !isPattern(part):
		p.addMatch(filepath.Join(dir, part), rest, into)
		return
	}
	p.eachEntry(dir, func(e fs.DirEntry) {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") {
			return
		}
		if part == "**" {
			if e.IsDir() {
				into(filepath.Join(dir, name))
			}
		} else if ok, _ := filepath.Match(part, name); ok {
			p.addMatch(filepath.Join(dir, name), rest, into)
		}
	})
}

// addMatch takes what a part of a pattern matches: a directory, or a file if it was the last part.
func (p *searchPath) addMatch(path string, rest []string, into func(string)) {
	if info, err := os.Stat(path); err == nil && (info.IsDir() || len(rest) == 0) {
		p.add(path, into)
	}
}

// inOrder compares paths by the order in which they are read: names that streams are kept under come
// first, and of what rotations left of one file the oldest.
func inOrder(a, b string) int {
	if k, l := isLogName(a), isLogName(b); k != l {
		if k {
			return -1
		}
		return 1
	}
	stemA, ageA := splitRotation(a)
	stemB, ageB := splitRotation(b)
	return cmp.Or(strings.Compare(stemA, stemB), cmp.Compare(ageA, ageB), strings.Compare(a, b))
}

// isLogName reports whether a name is one that streams and logs of them are kept under.
func isLogName(path string) bool {
	stem, _ := splitRotation(path)
	switch strings.ToLower(filepath.Ext(stem)) {
	case ".jsonl", ".ndjson", ".json", ".sse", ".log", ".tsc", ".har", ".zhar", ".flow", ".yaml", ".yml", ".cassette", ".trace":
		return true
	}
	return false
}

// splitRotation is what a file was called before it was rotated and packed, and where it stands among
// what has the same stem: app.log.2.gz before app.log.1 before app.log, a date before a later one.
func splitRotation(path string) (stem string, order int64) {
	const last = 1 << 62
	if packedName(path) {
		path = strings.TrimSuffix(path, filepath.Ext(path))
	}
	i := strings.LastIndexAny(path, ".-_")
	if i < 0 || !strings.Contains(filepath.Base(path[:i]), ".") {
		return path, last
	}
	n, err := strconv.ParseInt(path[i+1:], 10, 64)
	switch digits := len(path) - i - 1; {
	case err != nil || n < 0:
		return path, last
	case digits <= 3 && path[i] == '.':
		return path[:i], -n
	case digits >= 8:
		return path[:i], n
	}
	return path, last
}
