package capture

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// scanEvery is how often directories and patterns are searched for new files.
const scanEvery = time.Second

// OpenAll opens all paths as one source: files, pipes, standard input ("-"), directories, and patterns as
// a shell has them. They are read one after the other, or with o.Follow at the same time. With o.Follow,
// files that appear in the directories or match the patterns later are read as well, and missing files
// are waited for. Unreadable files of a directory or pattern become notes.
func OpenAll(ctx context.Context, paths []string, o Options) (Source, error) {
	if o.Follow {
		src, err := followAll(ctx, paths, o)
		if err == nil && (len(paths) > 1 || IsPlace(paths[0])) {
			src = onOneWall(src, paths)
		}
		return src, err
	}
	files, left, err := Find(paths)
	if err != nil {
		return nil, err
	}
	var all []Source
	var run []string // paths of the files that are read
	if IsRun(files) {
		o.AllowChunks = false
	}
	for _, f := range files {
		src, err := Open(ctx, f.Path, o)
		if err != nil && f.In == "" {
			return nil, err
		}
		if err != nil {
			left = append(left, err.Error())
			continue
		}
		o.Progress.expectFile(f.Path)
		all, run = append(all, src), append(run, f.Path)
	}
	if len(all) == len(files) && IsRun(files) {
		all = []Source{oneRun(run, all)}
	}
	for _, text := range left {
		all = append(all, noteSource(text))
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return Concat(all...), nil
}

// noteSource returns a source with only a note.
func noteSource(text string) Source {
	return func(yield func(Record, error) bool) { yield(Record{Exchange: 1, At: NoTime, Note: text}, nil) }
}

func followAll(ctx context.Context, paths []string, o Options) (Source, error) {
	var others []Source // pipes, and standard input
	var names []*followedName
	var places []*searchPath
	for _, path := range paths {
		info, err := os.Stat(path)
		if p := searchPathOf(path); p != nil {
			places = append(places, p)
		} else if path == "-" || err == nil && !info.Mode().IsRegular() {
			src, err := Open(ctx, path, o)
			if err != nil {
				return nil, err
			}
			others = append(others, src)
		} else if n, err := probeName(path); err != nil {
			return nil, err
		} else {
			names = append(names, n)
		}
	}
	if len(names)+len(places) > 0 {
		others = append(others, followNames(ctx, o, names, places))
	}
	if len(others) == 1 {
		return others[0], nil
	}
	return Merge(ctx, others...), nil
}

// probeName returns a name to follow. If its file exists, it must be readable.
func probeName(path string) (*followedName, error) {
	probe, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, openError(path, err)
	}
	if err == nil {
		probe.Close()
	}
	return &followedName{path: path, shown: path, open: fileOpener(path)}, nil
}
