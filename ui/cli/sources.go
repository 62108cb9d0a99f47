package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/providers"
	"toolscope/stream/count"
)

// openSources opens all that paths name: files, and what is in directories or matches patterns.
func (a *app) openSources(ctx context.Context, paths []string) (capture.Source, error) {
	return a.openAll(ctx, paths, a.reading.openOptions(a.follow, a.stdin))
}

// openSource opens one path, to be read once.
func (a *app) openSource(ctx context.Context, path string) (capture.Source, error) {
	o := a.reading.openOptions(a.follow, a.stdin)
	o.ReadOnce = !a.reading.places
	return a.openOne(ctx, path, o)
}

// openInParts opens one path as source does, for who looks at no record for itself.
func (a *app) openInParts(ctx context.Context, path string) (capture.Source, error) {
	o := a.reading.openOptions(a.follow, a.stdin)
	o.ReadOnce, o.AllowChunks = !a.reading.places, !a.reading.places
	return a.openOne(ctx, path, o)
}

// looksLike is what bytes that a format found look like.
func looksLike(payload []byte) capture.PayloadGuess {
	switch providers.LooksLike(payload) {
	case providers.LooksLikeChunk:
		return capture.Chunk
	case providers.LooksLikeBody:
		return capture.Body
	case providers.LooksLikeEvents:
		return capture.Events
	case providers.LooksLikeRequest:
		return capture.Ask
	}
	return capture.Nothing
}

// eachSource has an inspector of its own made for every file that paths name, and both handed to do.
// A file is read while what came of it is looked at.
// What fails of one keeps nobody from the others. Recordings of one run are one source: those of a
// directory, and those that are named, where a.joins is set.
func (a *app) eachSource(ctx context.Context, paths []string, do func(src capture.Source, path string, in *providers.Inspector) error) error {
	prepare, err := a.reading.inspectorSetup()
	if err != nil {
		return err
	}
	if a.joins && len(paths) > 1 {
		if files, _, err := capture.Find(paths); err == nil && capture.IsRun(files) {
			a.doRun(ctx, paths[0], files, prepare, do)
			return nil
		}
	}
	for _, path := range paths {
		files, left, err := findCaptures(path)
		for _, text := range left {
			a.printNote("%s", text)
		}
		if err != nil {
			a.failWith(err)
		}
		if capture.IsRun(files) {
			a.doRun(ctx, path, files, prepare, do)
			continue
		}
		for _, a.found = range files {
			in := new(providers.Inspector)
			prepare(in)
			src, err := a.openInParts(ctx, a.found.Path)
			if err == nil {
				err = do(a.failOnDamage(capture.ReadAhead(src)), a.found.Path, in)
			}
			a.failIf(err)
		}
		a.reportUnrecognised(path, len(files))
		a.found = capture.FoundFile{}
	}
	return nil
}

// doRun does with the recordings of one run what is done with one.
func (a *app) doRun(ctx context.Context, path string, files []capture.FoundFile, prepare func(*providers.Inspector), do func(capture.Source, string, *providers.Inspector) error) {
	in, o := new(providers.Inspector), a.reading.openOptions(false, a.stdin)
	prepare(in)
	a.isRun, o.ReadOnce = true, true
	src, err := capture.OpenAll(ctx, mapSlice(files, func(f capture.FoundFile) string { return f.Path }), o)
	if err == nil {
		err = do(a.failOnDamage(capture.ReadAhead(src)), path, in)
	}
	a.failIf(err)
	a.isRun = false
}

func (a *app) failIf(err error) {
	if err != nil {
		a.failWith(err)
	}
}

// isOneOfMany reports whether the file that is read was not named by the user, but is one of many.
func (a *app) isOneOfMany() bool { return a.found.In != "" }

// reportUnrecognised says in one line which of the files of a directory or pattern are not recognised.
// Where none is, the run fails.
func (a *app) reportUnrecognised(path string, files int) {
	list := a.unrecognised
	if a.unrecognised = nil; len(list) == 0 {
		return
	}
	shown := list[:min(len(list), maxUnrecognised)]
	names := strings.Join(shown, ", ")
	if n := len(list) - len(shown); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	a.printNote("%s: %d of %s not recognised: %s", path, len(list), count.Of(files, "file"), names)
	if len(list) == files {
		a.code = max(a.code, 1)
	}
}

// maxUnrecognised is how many files that are not recognised are named.
const maxUnrecognised = 5

// mapSource is a source whose records pass through change.
func mapSource(src capture.Source, change func(*capture.Record)) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		for r, err := range src {
			change(&r)
			if !yield(r, err) {
				return
			}
		}
	}
}

// copySource gives what a source brings to put, as long as that wants more, and tells end how it ended.
func copySource(src capture.Source, put func(capture.Record) bool, end func(error)) {
	for r, err := range src {
		if err != nil {
			end(err)
			return
		}
		if !put(r) {
			return
		}
	}
	end(nil)
}

// inputPaths is what to open: the arguments, or standard input when it is piped and there are none.
func (a *app) inputPaths(args []string) []string {
	if len(args) == 0 && isPiped(a.stdin) {
		return []string{"-"}
	}
	return args
}

// somePaths is paths of a command that needs some; what is its word for them.
func (a *app) somePaths(cmd *cobra.Command, args []string, what string) ([]string, error) {
	paths := a.inputPaths(args)
	if len(paths) == 0 {
		return nil, usageErrorf("%s: no %s and nothing on standard input\n%s %[2]s…, or - for standard input", cmd.Name(), what, cmd.CommandPath())
	}
	return paths, nil
}

// isPiped reports whether something was connected to standard input: a pipe or a file, not a terminal
// and not nothing.
func isPiped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// sourceTitle is what is looked at, in a word or two.
func sourceTitle(paths []string) string {
	switch {
	case len(paths) == 1 && paths[0] == "-":
		return "stdin"
	case len(paths) == 1 && fleet.IsAddress(paths[0]):
		return "hub " + safeAddress(paths[0])
	case len(paths) == 1:
		return filepath.Base(absolutePath(paths[0]))
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(paths[0]), len(paths)-1)
}

// absolutePath is a path that ends with a name, if there is one.
func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func (a *app) followFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.follow, "follow", "f", false, "keep reading as files grow, across rotation, and new ones of directories")
}

// readFile is what is in a file; an error does not name the path, which the caller does.
func readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return text, err
}
