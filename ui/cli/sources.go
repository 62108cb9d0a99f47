package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/dialect"
	"toolscope/stream"
	"toolscope/stream/count"
)

// coreRecord is a capture's record as the core knows it.
func coreRecord(r capture.Record) stream.Record {
	out := stream.Record{
		Exchange: r.Exchange, Request: r.Side == capture.Request, At: r.At, Data: r.Data,
		End: r.End != "", Why: r.Why, By: string(r.By), Lost: r.Lost, Note: r.Note,
		Before: r.Before, After: r.After, Others: r.Others, OtherLines: r.OtherLines, Pieces: r.Pieces,
	}
	if r.Head != nil {
		out.Head = &stream.Head{
			File: r.Head.File, Run: cmp.Or(r.Head.Run, r.Head.File), Method: r.Head.Method, URL: r.Head.URL, Status: r.Head.Status, Header: r.Head.Header, Start: r.Head.Start,
			Peeled: r.Head.Peeled, Adds: r.Head.Adds,
		}
		out.Head.Composed = slices.Contains(r.Head.Lacks, capture.Composed)
		for _, lack := range r.Head.Lacks {
			out.Head.EndUntold = out.Head.EndUntold || lack == capture.NoEnding
			out.Head.CutLines = out.Head.CutLines || lack == capture.CutLines
			out.Head.NamesUntold = out.Head.NamesUntold || lack == capture.NoNames
			out.Head.Resent = out.Head.Resent || lack == capture.Resent
			out.Head.Lacks = append(out.Head.Lacks, string(lack))
		}
	}
	if f := r.From.File; f != nil {
		out.From = stream.Place{Source: (*coreFile)(f), Start: r.From.Start, End: r.From.End}
		switch {
		case r.From.Bare:
			out.From.Source = (*bareFile)(f)
		case r.From.Lines != nil:
			out.From.Source = (*logLines)(r.From.Lines)
		case r.From.Entries != nil:
			out.From.Source = (*fileEntries)(r.From.Entries)
		}
	}
	return out
}

// coreFile is a capture's file as the core knows it.
type coreFile capture.File

func (f *coreFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.File)(f).Again(context.Background(), exchange, start, end), to)
}

// logLines are the lines of an exchange in a log as the core knows them.
type logLines capture.Lines

func (l *logLines) Again(exchange int, _, _ int64, to func(stream.Record)) error {
	return handOver((*capture.Lines)(l).Again(context.Background(), exchange), to)
}

// fileEntries are a file that has exchanges in entries as the core knows it.
type fileEntries capture.Entries

func (e *fileEntries) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.Entries)(e).Again(context.Background(), exchange, start, end), to)
}

func handOver(src capture.Source, to func(stream.Record)) error {
	for r, err := range src {
		if err != nil {
			return err
		}
		to(coreRecord(r))
	}
	return nil
}

// bareFile is a file that is the body of one response.
type bareFile capture.File

func (f *bareFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return (*coreFile)(f).Again(exchange, start, end, to)
}

func (f *bareFile) Bytes(start, end int64) ([]byte, error) {
	return (*capture.File)(f).Bytes(start, end)
}

// sources opens all that paths name: files, and what is in directories or matches patterns.
func (a *app) sources(ctx context.Context, paths []string) (capture.Source, error) {
	return a.openAll(ctx, paths, a.reading.options(a.follow, a.stdin))
}

// source opens one path, to be read once.
func (a *app) source(ctx context.Context, path string) (capture.Source, error) {
	o := a.reading.options(a.follow, a.stdin)
	o.Once = !a.reading.places
	return a.openOne(ctx, path, o)
}

// inPieces opens one path as source does, for who looks at no record for itself.
func (a *app) inPieces(ctx context.Context, path string) (capture.Source, error) {
	o := a.reading.options(a.follow, a.stdin)
	o.Once, o.Pieces = !a.reading.places, !a.reading.places
	return a.openOne(ctx, path, o)
}

// options say how an input is opened.
func (r *readFlags) options(follow bool, stdin io.Reader) capture.Options {
	o := capture.Options{Follow: follow, Stdin: stdin, Formats: formats.All, Looks: looks}
	switch r.as {
	case "", "auto":
	case "body":
		o.Formats, o.Forced = nil, true
	default:
		f, _ := formats.Find(r.as) // prepare has asked for it
		o.Formats, o.Forced = []capture.Format{f}, true
	}
	return o
}

// looks is what bytes that a format found look like.
func looks(payload []byte) capture.Looks {
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
	prepare, err := a.reading.prepare()
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
		files, left, err := find(path)
		for _, text := range left {
			a.notef("%s", text)
		}
		if err != nil {
			a.fail(err)
		}
		if capture.IsRun(files) {
			a.doRun(ctx, path, files, prepare, do)
			continue
		}
		for _, a.found = range files {
			in := new(providers.Inspector)
			prepare(in)
			src, err := a.inPieces(ctx, a.found.Path)
			if err == nil {
				err = do(a.judged(capture.Ahead(src)), a.found.Path, in)
			}
			a.failIf(err)
		}
		a.tellStrangers(path, len(files))
		a.found = capture.Found{}
	}
	return nil
}

// doRun does with the recordings of one run what is done with one.
func (a *app) doRun(ctx context.Context, path string, files []capture.Found, prepare func(*providers.Inspector), do func(capture.Source, string, *providers.Inspector) error) {
	in, o := new(providers.Inspector), a.reading.options(false, a.stdin)
	prepare(in)
	a.isRun, o.Once = true, true
	src, err := capture.OpenAll(ctx, each(files, func(f capture.Found) string { return f.Path }), o)
	if err == nil {
		err = do(a.judged(capture.Ahead(src)), path, in)
	}
	a.failIf(err)
	a.isRun = false
}

func (a *app) failIf(err error) {
	if err != nil {
		a.fail(err)
	}
}

// among reports whether the file that is read was not named by the user, but is one of many.
func (a *app) among() bool { return a.found.In != "" }

// tellStrangers says in one line which of the files of a directory or pattern are not recognised.
// Where none is, the run fails.
func (a *app) tellStrangers(path string, files int) {
	list := a.strangers
	if a.strangers = nil; len(list) == 0 {
		return
	}
	shown := list[:min(len(list), mostStrangers)]
	names := strings.Join(shown, ", ")
	if n := len(list) - len(shown); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	a.notef("%s: %d of %s not recognised: %s", path, len(list), count.Of(files, "file"), names)
	if len(list) == files {
		a.code = max(a.code, 1)
	}
}

// mostStrangers is how many files that are not recognised are named.
const mostStrangers = 5

// changed is a source whose records pass through change.
func changed(src capture.Source, change func(*capture.Record)) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		for r, err := range src {
			change(&r)
			if !yield(r, err) {
				return
			}
		}
	}
}

// pour gives what a source brings to put, as long as that wants more, and tells end how it ended.
func pour(src capture.Source, put func(capture.Record) bool, end func(error)) {
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

// paths is what to open: the arguments, or standard input when it is piped and there are none.
func (a *app) paths(args []string) []string {
	if len(args) == 0 && piped(a.stdin) {
		return []string{"-"}
	}
	return args
}

// somePaths is paths of a command that needs some; what is its word for them.
func (a *app) somePaths(cmd *cobra.Command, args []string, what string) ([]string, error) {
	paths := a.paths(args)
	if len(paths) == 0 {
		return nil, usagef("%s: no %s and nothing on standard input\n%s %[2]s…, or - for standard input", cmd.Name(), what, cmd.CommandPath())
	}
	return paths, nil
}

// piped reports whether something was connected to standard input: a pipe or a file, not a terminal
// and not nothing.
func piped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// title is what is looked at, in a word or two.
func title(paths []string) string {
	switch {
	case len(paths) == 1 && paths[0] == "-":
		return "stdin"
	case len(paths) == 1 && fleet.IsAddress(paths[0]):
		return "hub " + safeAddress(paths[0])
	case len(paths) == 1:
		return filepath.Base(absolute(paths[0]))
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(paths[0]), len(paths)-1)
}

// absolute is a path that ends with a name, if there is one.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func (a *app) followFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.follow, "follow", "f", false, "keep reading as files grow, across rotation, and new ones of directories")
}

// readFlags say how what comes is read.
type readFlags struct {
	places  bool // it is asked where in a log something stands
	dialect string
	as      string // the format of every input
	flag    string // what the flag for it is called, where that is not --as
	request string // file that holds the body of a request
}

func (r *readFlags) add(f *pflag.FlagSet) { r.addAs(f, "as") }

// addAs is add where the flag for the format is called otherwise.
func (r *readFlags) addAs(f *pflag.FlagSet, as string) {
	f.StringVar(&r.dialect, "dialect", "auto", "the protocol of every response: auto, or a name from 'toolscope help dialects'")
	f.StringVar(&r.as, as, "auto", "the format of every input: auto, body, or a name from 'toolscope help formats'")
	f.StringVar(&r.request, "request", "", "check calls against the tools of the request body in this `FILE`, where none was captured")
}

// prepare returns what sets an inspector up to read so.
func (r *readFlags) prepare() (func(*providers.Inspector), error) {
	var forced *dialect.Dialect
	if r.dialect != "" && r.dialect != "auto" {
		d, err := providers.Find(r.dialect)
		if err != nil {
			return nil, usagef("--dialect: %w, and auto%s", err, perhapsOf(r.dialect, dialectOffers()))
		}
		forced = d
	}
	if _, ok := formats.Find(r.as); !ok && !slices.Contains([]string{"", "auto", "body"}, r.as) {
		return nil, usagef("--%s %q: wanted is auto, body, or a name from 'toolscope help formats'%s", cmp.Or(r.flag, "as"), r.as, perhapsOf(r.as, formatOffers()))
	}
	body, err := r.requestBody()
	if err != nil {
		return nil, err
	}
	return func(in *providers.Inspector) {
		in.Force(forced)
		in.Request = body
	}, nil
}

// requestBody is what --request names, nil without it.
func (r *readFlags) requestBody() ([]byte, error) {
	if r.request == "" {
		return nil, nil
	}
	body, err := os.ReadFile(r.request)
	if err != nil {
		return nil, fmt.Errorf("--request: %w", err)
	}
	s := dialect.Scan(body)
	isObject := s.Kind() == '{'
	s.Value()
	switch err := s.End(); {
	case err != nil:
		return nil, fmt.Errorf("--request %s: not JSON: %w\nwanted is the body that was sent, as in {\"model\": …, \"tools\": […]}", r.request, err)
	case !isObject || !providers.DeclaresTools(body):
		return nil, fmt.Errorf("--request %s: declares no tools of a known protocol\nwanted is the body that was sent, as in {\"model\": …, \"tools\": […]}", r.request)
	}
	return body, nil
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
