package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
)

func (a *app) printCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "print FILE…", Short: "Print the calls, without a screen",
		RunE: func(cmd *cobra.Command, args []string) error {
			paths := a.paths(args)
			if len(paths) == 0 {
				return usagef("print: no FILE and nothing on standard input\ntoolscope print FILE…, or - for standard input")
			}
			return a.print(cmd.Context(), paths)
		},
	}
	cmd.Flags().StringVar(&a.format, "format", "text", "text, or jsonl: one JSON object a call and turn")
	a.pricesFlag(cmd)
	cmd.Flags().BoolVarP(&a.follow, "follow", "f", false, "keep reading as files grow, across rotation")
	a.reading.add(cmd.Flags())
	return cmd
}

// A printer writes one turn that has ended.
type printer interface {
	turn(file string, x *providers.Exchange, t *stream.Turn)
	flush() error
}

// print writes the turns of every file, each as it ends.
func (a *app) print(ctx context.Context, paths []string) error {
	prices, err := a.prices()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.stdout)
	var p printer
	switch a.format {
	case "text":
		p = &textPrinter{out, prices}
	case "jsonl":
		p = &jsonPrinter{out, prices}
	default:
		return usagef("--format %q: text or jsonl", a.format)
	}
	prepare, err := a.reading.prepare()
	if err != nil {
		return err
	}
	if a.follow && len(paths) > 1 {
		return usagef("print -f: one FILE at a time, got %d", len(paths))
	}
	for _, path := range paths {
		in := new(providers.Inspector)
		prepare(in)
		src, err := a.source(ctx, path)
		if err == nil {
			err = a.printSource(src, path, in, p)
		}
		if err != nil {
			a.complain(err)
			a.code = 1
		}
	}
	return nil
}

// printSource writes the turns of one source; they are numbered within it.
func (a *app) printSource(src capture.Source, path string, in *providers.Inspector, p printer) (err error) {
	defer quitQuietly()()
	q := queue{in: in, path: path, to: p, printed: map[*stream.Turn]bool{}}
	for r, readErr := range src {
		if readErr != nil {
			err = readErr
			break
		}
		in.Write(record(r))
		if err := q.print(false); err != nil {
			return err
		}
	}
	in.Close()
	a.notes(path, in)
	return errors.Join(err, q.print(true))
}

// queue prints turns in the order they end.
type queue struct {
	in      *providers.Inspector
	path    string
	to      printer
	first   int                   // first turn that was not printed
	printed map[*stream.Turn]bool // those after it that were
}

func (q *queue) print(all bool) error {
	turns := q.in.Session().Turns
	for _, t := range turns[q.first:] {
		if (t.Closed() || all) && !q.printed[t] {
			q.printed[t] = true
			x := q.in.Exchange(t.Exchange)
			q.to.turn(fileOf(q.path, x), x, t)
		}
	}
	for q.first < len(turns) && q.printed[turns[q.first]] {
		delete(q.printed, turns[q.first])
		q.first++
	}
	return q.to.flush()
}

// fileOf is the file a turn came from, as the user wrote it.
func fileOf(path string, x *providers.Exchange) string {
	if path == "-" && x != nil && x.Head.File != "" {
		return x.Head.File
	}
	return path
}

// notes writes what is to be said of the source itself.
func (a *app) notes(path string, in *providers.Inspector) {
	for _, f := range in.Session().Findings {
		fmt.Fprintf(a.stderr, "toolscope: %s: %s\n", display.Clean(path), display.Clean(f.Message))
	}
	if len(in.Session().Turns) == 0 {
		why := "no bytes came"
		for _, x := range in.Exchanges() {
			if n := x.Response.Size(); n > 0 {
				why = fmt.Sprintf("%d bytes came, and no response is in them", n)
			}
		}
		fmt.Fprintf(a.stderr, "toolscope: %s: nothing to show: %s\n", display.Clean(path), why)
	}
}
