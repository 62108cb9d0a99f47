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

// openSources opens the files, directories and patterns in paths.
func (a *app) openSources(ctx context.Context, paths []string) (capture.Source, error) {
	return a.openAll(ctx, paths, a.reading.openOptions(a.follow, a.stdin))
}

// openSource opens one path that is read once.
func (a *app) openSource(ctx context.Context, path string) (capture.Source, error) {
	o := a.reading.openOptions(a.follow, a.stdin)
	o.ReadOnce = !a.reading.places
	return a.openOne(ctx, path, o)
}

// openInParts is like openSource, for readers that don't need single records.
func (a *app) openInParts(ctx context.Context, path string) (capture.Source, error) {
	o := a.reading.openOptions(a.follow, a.stdin)
	o.ReadOnce, o.AllowChunks = !a.reading.places, !a.reading.places
	return a.openOne(ctx, path, o)
}

// looksLike guesses what kind of payload a format found.
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

// eachSource calls do for every file that paths name, with an inspector of its own. A file is read ahead
// while its records are processed. An error in one file doesn't stop the others. Captures of one run are one
// source: the captures of a directory, and with a.joins the named captures.
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

// doRun calls do for the captures of one run, as one source.
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

// failIf reports an error, if there is one.
func (a *app) failIf(err error) {
	if err != nil {
		a.failWith(err)
	}
}

// isOneOfMany reports whether the current file was not named by the user, but found in a directory or by a
// pattern.
func (a *app) isOneOfMany() bool { return a.found.In != "" }

// reportUnrecognised prints, on one line, which files of a directory or pattern are not recognised. If none
// is recognised, the run fails.
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

// maxUnrecognised is how many unrecognised files are named.
const maxUnrecognised = 5

// mapSource is a source whose records are changed by change.
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

// copySource passes the records of a source to put until put returns false, and the error at its end to end.
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

// inputPaths returns the arguments or, without any, standard input if it is piped.
func (a *app) inputPaths(args []string) []string {
	if len(args) == 0 && isPiped(a.stdin) {
		return []string{"-"}
	}
	return args
}

// somePaths is like inputPaths for a command that needs a path. what names the argument in the error.
func (a *app) somePaths(cmd *cobra.Command, args []string, what string) ([]string, error) {
	paths := a.inputPaths(args)
	if len(paths) == 0 {
		return nil, usageErrorf("%s: needs a %s, or data on standard input\n%s %[2]s…, or - for standard input", cmd.Name(), what, cmd.CommandPath())
	}
	return paths, nil
}

// isPiped reports whether standard input is a pipe or a file, not a terminal or a null device.
func isPiped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// sourceTitle returns a short name for the source.
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

// absolutePath returns the absolute path, so that its last element is a name.
func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func (a *app) followFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.follow, "follow", "f", false, "")
}

// readFile returns the content of a file. The error doesn't name the path, which the caller adds.
func readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return text, err
}
