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

// maxFilesPerPath is the maximum number of files that are read from one directory or pattern.
const maxFilesPerPath = 100_000

// FoundFile is a file that was named or found.
type FoundFile struct {
	Path string
	In   string // the directory or pattern that contains it; "" if the path itself was named
}

// Find lists the files that paths name, in reading order: all files in a directory and below, and all that
// match a pattern. The result left describes the files that were left out. A pattern without a match, or a directory
// without a file, is an error. A missing file is not an error here; opening it fails.
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
			why := "no file matches"
			if p.parts == nil {
				why = "the folder has no readable file"
			}
			return nil, left, fmt.Errorf("open %s: %s", p.path, why)
		}
	}
	return files, left, nil
}

// IsPlace reports whether a path is a directory or a pattern, which can contain any number of files.
func IsPlace(path string) bool { return searchPathOf(path) != nil }

// searchPath is a directory or a pattern.
type searchPath struct {
	path  string   // as the user wrote it
	root  string   // the directory in which the search begins
	parts []string // the parts of a pattern below root
	left  skippedFiles
	found map[string]bool
	dirs  []string // directories that were listed
	links []string // found symbolic links
}

// searchPathOf returns the searchPath of a path, or nil if the path names one file. If a file with wildcards
// in its name exists, the path is that file and not a pattern.
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

// skippedFiles counts the files that were left out.
type skippedFiles struct {
	hidden, links, special int
	trouble                []string // directories and files that can't be read, and why
	limit                  bool
}

func (l *skippedFiles) describe() string {
	var all []string
	for _, c := range []struct {
		n    int
		what string
	}{{l.hidden, "hidden"}, {l.links, "links to directories"}, {l.special, "not regular files"}} {
		if c.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if l.limit {
		all = append(all, fmt.Sprintf("all files after the first %d", maxFilesPerPath))
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

// find lists the files as they are now.
func (p *searchPath) find() []string {
	p.found, p.left, p.links = map[string]bool{}, skippedFiles{}, nil
	p.dirs = p.dirs[:0]
	if p.parts == nil {
		p.addTree(p.root)
	} else {
		p.match(p.root, p.parts)
	}
	for _, link := range p.links { // a file that is also found without its link is read once
		if target, err := filepath.EvalSymlinks(link); err == nil && p.found[target] {
			delete(p.found, link)
		}
	}
	var files []string
	for path := range p.found {
		files = append(files, path)
	}
	// Sort by reading order: names with a log's extension come first, and rotated files of one log come oldest first.
	type place struct {
		other      bool // the name does not have a log's extension
		stem, path string
		order      int64
	}
	places := make([]place, len(files))
	for i, path := range files {
		stem, order := splitRotation(path)
		places[i] = place{!isLogName(stem), stem, path, order}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.other != b.other {
			if b.other {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.stem, b.stem), cmp.Compare(a.order, b.order), strings.Compare(a.path, b.path))
	})
	for i := range places {
		files[i] = places[i].path
	}
	return files
}

// addTree adds every file in a directory and below.
func (p *searchPath) addTree(dir string) {
	p.eachEntry(dir, func(e fs.DirEntry) {
		if strings.HasPrefix(e.Name(), ".") {
			p.left.hidden++
			return
		}
		p.add(filepath.Join(dir, e.Name()), e.Type(), p.addTree)
	})
}

// eachEntry calls the function do for each entry of a directory. It records an error in left, unless the directory
// doesn't exist.
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

// add adds a file. For a directory, it calls the given function instead. The parameter kind is the type of the file
// in the listing of its directory.
func (p *searchPath) add(path string, kind fs.FileMode, below func(dir string)) {
	link := kind&fs.ModeSymlink != 0
	if link || kind&fs.ModeIrregular != 0 {
		info, err := os.Stat(path)
		if err != nil {
			p.left.trouble = append(p.left.trouble, openError(path, err).Error())
			return
		}
		kind = info.Mode()
	}
	switch {
	case kind.IsDir() && link:
		p.left.links++
	case kind.IsDir():
		below(path)
	case !kind.IsRegular():
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

// match adds the files below a directory that match the parts of a pattern. "**" matches any number of
// directories. A hidden name is matched only by a part that begins with a dot.
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

// addMatch adds a path that matches a part of a pattern. It adds a file only if that part was the last one.
func (p *searchPath) addMatch(path string, rest []string, into func(string)) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && len(rest) > 0 {
		return
	}
	if here, err := os.Lstat(path); err == nil {
		p.add(path, here.Mode(), into)
	}
}

// isLogName reports whether a name without its rotation has an extension that streams and logs usually
// have.
func isLogName(stem string) bool {
	switch strings.ToLower(filepath.Ext(stem)) {
	case ".jsonl", ".ndjson", ".json", ".sse", ".log", ".tsc", ".har", ".zhar", ".flow", ".yaml", ".yml", ".cassette", ".trace", ".httprr":
		return true
	}
	return false
}

// splitRotation returns a file's name before rotation and compression, and its order among files with the
// same stem: app.log.2.gz before app.log.1 before app.log, and earlier dates first.
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
