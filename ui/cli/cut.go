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
	"toolscope/capture/fault"
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

` + helpPage(cutTable),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			for _, flag := range []string{"turn", "call", "at-delta"} {
				if n, _ := cmd.Flags().GetInt(flag); n < 1 && cmd.Flags().Changed(flag) {
					return usageErrorf("--%s %d: they are counted from 1", flag, n)
				}
			}
			return a.runCut(cmd.Context(), paths, f)
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
func cutTable(l lineWriter) {
	l.writeWrapped("", "Faults, in the order in which those that are combined take effect:")
	l.writeWrapped("", "")
	for _, f := range fault.Faults() {
		if f[0] != statusFault {
			l.writeWrapped(fmt.Sprintf("  %-16s ", f[0]), f[1])
		}
	}
}

// statusFault is the fault that has nothing to do with what was recorded.
const statusFault = "status=CODE"

func (f *cutFlags) checkArgs(paths []string) error {
	asked := textIf(f.delta > 0, "--at-delta") + textIf(f.ms != "", "--at-ms") + textIf(len(f.faults.faults) > 0, "--fault")
	switch {
	case len(paths) != 1:
		return usageErrorf("cut: one FILE at a time, got %d", len(paths))
	case asked == "":
		return usageErrorf("cut: where?\n--at-delta N, --at-ms T, or --fault FAULT for what goes wrong")
	case asked != "--at-delta" && asked != "--at-ms" && asked != "--fault":
		return usageErrorf("cut: one of --at-delta, --at-ms and --fault")
	case f.out == "":
		return usageErrorf("cut: where to?\n-o FILE, a new one, or -o - for standard output")
	case f.call > 0 && f.delta == 0:
		return usageErrorf("--call is about --at-delta")
	}
	return nil
}

// runCut writes what is left of one source.
func (a *app) runCut(ctx context.Context, paths []string, f cutFlags) error {
	if err := f.checkArgs(paths); err != nil {
		return err
	}
	faults, err := f.faults.parse()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(faults, func(f fault.Fault) bool { return f.Is("status") }) {
		return usageErrorf("--fault status: a capture has its answers already; serve and proxy have that fault")
	}
	if _, there := os.Lstat(f.out); f.out != "-" && there == nil {
		return fmt.Errorf("-o %s: there is one already; cut writes a new one", f.out)
	}
	if f.out == "-" && isTerminal(a.output) {
		return usageErrorf("cut: a capture is not for a terminal\n-o FILE, or a pipe")
	}
	a.reading.flag = "from"
	prepare, err := a.reading.inspectorSetup()
	if err != nil {
		return err
	}
	src, err := a.openSource(ctx, paths[0])
	if err != nil {
		return err
	}
	in, records := new(providers.Inspector), []capture.Record(nil)
	prepare(in)
	err = inspectSource(mapSource(decodedSource(a.failOnDamage(src)), func(r *capture.Record) { records = append(records, *r) }), in, func() bool { return true })
	if err != nil {
		return err
	}
	kept := slices.Values(records)
	if len(faults) > 0 {
		records, err = a.injectFaults(records, faults, f.turn, in)
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
	n, err := f.cutEvent(in, t)
	if err != nil {
		return nil, err
	}
	return recordsUntil(records, in.View().At(n).Offsets()), nil
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
		return nil, usageErrorf("--turn %d: %s has %s", f.turn, path, count.Of(len(all), "turn"))
	}
	return all[i], nil
}

// cutEvent is how many events there were at the moment that the flags name.
func (f *cutFlags) cutEvent(in *providers.Inspector, t *stream.Turn) (int, error) {
	if f.ms != "" {
		ms, err := strconv.ParseFloat(f.ms, 64)
		switch {
		case err != nil || !(ms >= 0):
			return 0, usageErrorf("--at-ms %q: a number of milliseconds", f.ms)
		case t.OpenedAt < 0:
			return 0, errors.New("--at-ms: the source does not tell when what came\n--at-delta N counts")
		}
		return in.View().EventsAt(t, t.OpenedAt+time.Duration(ms*float64(time.Millisecond))), nil
	}
	number := max(f.call, 1)
	if number > len(t.Calls) {
		return 0, usageErrorf("--at-delta: turn %d has %s", t.Number+1, count.Of(len(t.Calls), "call"))
	}
	c := t.Calls[number-1]
	if f.delta > c.Deltas() {
		return 0, usageErrorf("--at-delta %d: %s of turn %d has %s", f.delta, c.Name, t.Number+1, count.Of(c.Deltas(), "delta"))
	}
	return in.View().AfterEvent(int(c.DeltaEvent(f.delta - 1))), nil
}

// decodedSource is a source whose bodies have their codings undone: so a place in a body is one in what is
// kept of it. What cannot be undone stays as it is.
func decodedSource(src capture.Source) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		chains := map[int]*coding.Chain{}
		for r, err := range src {
			if err == nil && r.Side == capture.Response {
				r = decodeRecord(chains, r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func decodeRecord(chains map[int]*coding.Chain, r capture.Record) capture.Record {
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
