package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"toolscope/capture"
	"toolscope/stream"
)

// coreRecord is a capture's record as the core knows it.
func coreRecord(r capture.Record) stream.Record {
	out := stream.Record{
		Exchange: r.Exchange, Request: r.Side == capture.Request, At: r.At, Data: r.Data,
		End: r.End != "", Why: r.Why, By: string(r.By), Lost: r.Lost, Note: r.Note,
	}
	if r.Head != nil {
		out.Head = &stream.Head{
			File: r.Head.File, Method: r.Head.Method, URL: r.Head.URL, Status: r.Head.Status, Header: r.Head.Header,
		}
	}
	return out
}

// sources opens every path.
func (a *app) sources(ctx context.Context, paths []string) (capture.Source, error) {
	var all []capture.Source
	for _, path := range paths {
		src, err := a.source(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, src)
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case a.follow:
		return capture.Merge(ctx, all...), nil
	}
	return capture.Concat(all...), nil
}

func (a *app) source(ctx context.Context, path string) (capture.Source, error) {
	src, err := capture.Open(ctx, path, capture.Options{Follow: a.follow, Stdin: a.stdin})
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return src, nil
}

// paths is what to open: the arguments, or standard input when it is piped and
// there are none.
func (a *app) paths(args []string) []string {
	if len(args) == 0 && piped(a.stdin) {
		return []string{"-"}
	}
	return args
}

// piped reports whether something was connected to standard input: a pipe or a
// file, not a terminal and not nothing.
func piped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// title is what is looked at, in a word or two.
func title(paths []string) string {
	switch {
	case len(paths) == 1 && paths[0] == "-":
		return "stdin"
	case len(paths) == 1:
		return filepath.Base(paths[0])
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(paths[0]), len(paths)-1)
}
