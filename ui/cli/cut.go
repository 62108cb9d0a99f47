package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/bend"
	"toolscope/providers"
	"toolscope/providers/coding"
	"toolscope/stream"
	"toolscope/stream/count"
)

// cutFlags say where a capture is cut, or what goes wrong in it, and where the new one is written.
type cutFlags struct {
	delta      int
	ms         string
	faults     faultFlags
	out        string
	turn, call int
}

func (a *app) cutCommand() *cobra.Command {
	var f cutFlags
	cmd := &cobra.Command{
		Use: "cut FILE", Short: "Write a capture that ends at a moment, or goes wrong",
		Long: `Writes a new capture of a file that ends at a moment of it, or in which a fault
happens, as a fixture for tests. Whoever opens it sees what a client would have
seen, and that toolscope did it: nobody else is blamed.

  toolscope cut run.tsc --at-delta 9 -o cut.tsc
  toolscope cut run.tsc --turn 3 --at-ms 1250 -o cut.tsc
  toolscope cut run.tsc --fault merge-index -o merged.tsc

What came after the moment is left out, of all that was going on; what was still
open is ended there. Codings of bodies, as gzip, are undone.

` + page(cutTable),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			for _, flag := range []string{"turn", "call", "at-delta"} {
				if n, _ := cmd.Flags().GetInt(flag); n < 1 && cmd.Flags().Changed(flag) {
					return usagef("--%s %d: they are counted from 1", flag, n)
				}
			}
			return a.cut(cmd.Context(), paths, f)
		},
	}
	to := cmd.Flags()
	to.IntVar(&f.delta, "at-delta", 0, "end behind delta `N` of a call's arguments")
	to.StringVar(&f.ms, "at-ms", "", "end `T` milliseconds after the turn began")
	to.StringArrayVar(&f.faults.faults, "fault", nil, "have `FAULT` happen to the responses, as in cut@3; may be given several times")
	to.IntVar(&f.turn, "turn", 0, "of turn `N`; otherwise the first that has a call")
	to.IntVar(&f.call, "call", 0, "of call `N` of its turn; otherwise the first")
	to.StringVarP(&f.out, "output", "o", "", "the new `FILE`, which must not exist; - for standard output")
	a.reading.addAs(to, "from")
	return cmd
}

// cutTable tells of the faults that a capture can get.
func cutTable(l lines) {
	l.prose("", "Faults, in the order in which those that are combined take effect:")
	l.prose("", "")
	for _, f := range bend.Faults() {
		if f[0] != answering {
			l.prose(fmt.Sprintf("  %-16s ", f[0]), f[1])
		}
	}
}

// answering is the fault that has nothing to do with what was recorded.
const answering = "status=CODE"

func (f *cutFlags) check(paths []string) error {
	asked := when(f.delta > 0, "--at-delta") + when(f.ms != "", "--at-ms") + when(len(f.faults.faults) > 0, "--fault")
	switch {
	case len(paths) != 1:
		return usagef("cut: one FILE at a time, got %d", len(paths))
	case asked == "":
		return usagef("cut: where?\n--at-delta N, --at-ms T, or --fault FAULT for what goes wrong")
	case asked != "--at-delta" && asked != "--at-ms" && asked != "--fault":
		return usagef("cut: one of --at-delta, --at-ms and --fault")
	case f.out == "":
		return usagef("cut: where to?\n-o FILE, a new one, or -o - for standard output")
	case f.call > 0 && f.delta == 0:
		return usagef("--call is about --at-delta")
	}
	return nil
}

// cut writes what is left of one source.
func (a *app) cut(ctx context.Context, paths []string, f cutFlags) error {
	if err := f.check(paths); err != nil {
		return err
	}
	faults, err := f.faults.parse()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(faults, func(f bend.Fault) bool { return f.Is("status") }) {
		return usagef("--fault status: a capture has its answers already; serve and proxy have that fault")
	}
	if _, there := os.Lstat(f.out); f.out != "-" && there == nil {
		return fmt.Errorf("-o %s: there is one already; cut writes a new one", f.out)
	}
	if f.out == "-" && isTerminal(a.output) {
		return usagef("cut: a capture is not for a terminal\n-o FILE, or a pipe")
	}
	a.reading.flag = "from"
	prepare, err := a.reading.prepare()
	if err != nil {
		return err
	}
	src, err := a.source(ctx, paths[0])
	if err != nil {
		return err
	}
	in, records := new(providers.Inspector), []capture.Record(nil)
	prepare(in)
	err = inspect(changed(undone(a.judged(src)), func(r *capture.Record) { records = append(records, *r) }), in, func() bool { return true })
	if err != nil {
		return err
	}
	kept := slices.Values(records)
	if len(faults) > 0 {
		records, err = a.bent(records, faults, f.turn, in)
		kept = slices.Values(records)
	} else {
		kept, err = f.upTo(kept, in, paths[0])
	}
	if err != nil {
		return err
	}
	if f.out == "-" {
		return writeRecords(a.output, kept)
	}
	return saveAs(f.out, false, func(w io.Writer) error { return writeRecords(w, kept) })
}

// upTo is the records up to the moment that the flags name.
func (f *cutFlags) upTo(records iter.Seq[capture.Record], in *providers.Inspector, path string) (iter.Seq[capture.Record], error) {
	t, err := f.turnOf(in, path)
	if err != nil {
		return nil, err
	}
	n, err := f.moment(in, t)
	if err != nil {
		return nil, err
	}
	return stopped(records, in.View().At(n).Offsets()), nil
}

// turnOf is the turn that the flags name, or else the first that has a call, or the first.
func (f *cutFlags) turnOf(in *providers.Inspector, path string) (*stream.Turn, error) {
	all := in.Session().Turns
	i := f.turn - 1
	if f.turn == 0 {
		i = max(0, slices.IndexFunc(all, func(t *stream.Turn) bool { return len(t.Calls) > 0 }))
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s: nothing in it is recognised", path)
	case i >= len(all):
		return nil, usagef("--turn %d: %s has %s", f.turn, path, count.Of(len(all), "turn"))
	}
	return all[i], nil
}

// moment is how many events there were at the moment that the flags name.
func (f *cutFlags) moment(in *providers.Inspector, t *stream.Turn) (int, error) {
	if f.ms != "" {
		ms, err := strconv.ParseFloat(f.ms, 64)
		switch {
		case err != nil || !(ms >= 0):
			return 0, usagef("--at-ms %q: a number of milliseconds", f.ms)
		case t.OpenedAt < 0:
			return 0, errors.New("--at-ms: the source does not tell when what came\n--at-delta N counts")
		}
		return in.View().EventsAt(t, t.OpenedAt+time.Duration(ms*float64(time.Millisecond))), nil
	}
	number := max(f.call, 1)
	if number > len(t.Calls) {
		return 0, usagef("--at-delta: turn %d has %s", t.Number+1, count.Of(len(t.Calls), "call"))
	}
	c := t.Calls[number-1]
	if f.delta > c.Deltas() {
		return 0, usagef("--at-delta %d: %s of turn %d has %s", f.delta, c.Name, t.Number+1, count.Of(c.Deltas(), "delta"))
	}
	return in.View().AfterEvent(int(c.DeltaEvent(f.delta - 1))), nil
}

// undone is a source whose bodies have their codings undone: so a place in a body is one in what is
// kept of it. What cannot be undone stays as it is.
func undone(src capture.Source) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		chains := map[int]*coding.Chain{}
		for r, err := range src {
			if err == nil && r.Side == capture.Response {
				r = undo(chains, r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func undo(chains map[int]*coding.Chain, r capture.Record) capture.Record {
	if r.Head != nil && len(r.Head.Header) > 0 {
		chain, err := coding.New(r.Head.Header)
		if err == nil && chain != nil {
			head := *r.Head
			head.Header = http.Header(head.Header).Clone()
			head.Header.Del("Content-Encoding")
			head.Header.Del("Transfer-Encoding")
			chains[r.Exchange], r.Head = chain, &head
		}
	}
	chain := chains[r.Exchange]
	if chain == nil {
		return r
	}
	body, err := chain.Write(r.Data)
	body = slices.Clone(body) // it is good until the next one
	if err == nil && r.End != "" {
		rest, _ := chain.Close()
		body = append(body, rest...)
	}
	r.Data, r.Location = body, capture.Location{}
	return r
}
