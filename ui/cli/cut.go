package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
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

// cutFlags are the flags of cut: the moment or the faults, the turn, the call, and the output file.
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
		Use: "cut FILE", Short: "Truncate a capture, or inject a fault",
		Example: "toolscope cut run.tsc --at-delta 9 -o cut.tsc\ntoolscope cut run.tsc --turn 3 --at-ms 1250 -o cut.tsc\ntoolscope cut run.tsc --fault merge-index -o merged.tsc",
		Long: `cut writes a new capture for tests. The capture ends at a given moment, or it has an
injected fault. It shows the responses as a client would have received them. A finding in the
new capture names toolscope as the cause, so that no other party is blamed.

cut removes everything after that moment from all exchanges. Exchanges that are still
open end there. cut also decodes compressed bodies, e.g. gzip.

` + helpPage(cutTable),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err = cmp.Or(err, checkNumbers(cmd, "turn", "call", "at-delta")); err != nil {
				return err
			}
			return a.runCut(cmd.Context(), paths, f)
		},
	}
	to := cmd.Flags()
	to.IntVar(&f.delta, "at-delta", 0, "")
	to.StringVar(&f.ms, "at-ms", "", "")
	to.StringArrayVar(&f.faults.faults, "fault", nil, "")
	to.IntVar(&f.turn, "turn", 0, "")
	to.IntVar(&f.call, "call", 0, "")
	to.StringVarP(&f.out, "output", "o", "", "")
	a.reading.add(to)
	return cmd
}

// cutTable writes a table of the faults that can be injected into a capture.
func cutTable(l lineWriter) {
	l.writeWrapped("", "Faults, in the order in which combined faults take effect:")
	l.writeWrapped("", "")
	for _, f := range fault.Faults() {
		if f[0] != statusFault {
			l.writeWrapped(fmt.Sprintf("  %-16s ", f[0]), f[1])
		}
	}
}

// statusFault is the fault that can't be injected into a capture, because it replaces the response with an HTTP
// status.
const statusFault = "status=CODE"

// checkArgs returns an error if the flags can't be combined.
func (f *cutFlags) checkArgs(paths []string) error {
	asked := textIf(f.delta > 0, "--at-delta") + textIf(f.ms != "", "--at-ms") + textIf(len(f.faults.faults) > 0, "--fault")
	switch {
	case len(paths) != 1:
		return usageErrorf("cut: takes one FILE, got %d", len(paths))
	case asked == "":
		return usageErrorf("cut: needs a moment or a fault\nuse --at-delta N, --at-ms T or --fault FAULT")
	case asked != "--at-delta" && asked != "--at-ms" && asked != "--fault":
		return usageErrorf("cut: can't combine --at-delta, --at-ms and --fault\nuse one of them")
	case f.out == "":
		return usageErrorf("cut: needs an output file\nuse -o FILE for a new file, or -o - for standard output")
	case f.call > 0 && f.delta == 0:
		return usageErrorf("--call: needs --at-delta")
	}
	return nil
}

// runCut writes a new capture from one source. The new capture ends at the selected moment, or has the selected
// faults.
func (a *app) runCut(ctx context.Context, paths []string, f cutFlags) error {
	if err := f.checkArgs(paths); err != nil {
		return err
	}
	faults, err := f.faults.parse()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(faults, func(f fault.Fault) bool { return f.Is("status") }) {
		return usageErrorf("--fault status: can't change the responses of a capture\nuse this fault with serve or proxy")
	}
	if _, there := os.Lstat(f.out); f.out != "-" && there == nil {
		return fmt.Errorf("-o %s: the file exists\nuse the name of a new file", f.out)
	}
	if f.out == "-" && isTerminal(a.output) {
		return usageErrorf("cut: can't write a capture to a terminal\nuse -o FILE or a pipe")
	}
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

// upTo returns the records up to the moment that the flags select.
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

// turnOf returns the turn that --turn selects. Without the flag, it returns the first turn with a call, or else the
// first turn.
func (f *cutFlags) turnOf(in *providers.Inspector, path string) (*stream.Turn, error) {
	all := in.Session().Turns
	i := f.turn - 1
	if f.turn == 0 {
		i = max(0, slices.IndexFunc(all, func(t *stream.Turn) bool { return len(t.Calls) > 0 }))
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s: nothing recognised", path)
	case i >= len(all):
		return nil, usageErrorf("--turn %d: %s has %s", f.turn, path, count.Of(len(all), "turn"))
	}
	return all[i], nil
}

// cutEvent returns the number of events up to the moment that the flags select.
func (f *cutFlags) cutEvent(in *providers.Inspector, t *stream.Turn) (int, error) {
	if f.ms != "" {
		ms, err := strconv.ParseFloat(f.ms, 64)
		switch {
		case err != nil || !(ms >= 0):
			return 0, usageErrorf("--at-ms %q: not a number of milliseconds\nuse e.g. 1250", f.ms)
		case t.OpenedAt < 0:
			return 0, errors.New("--at-ms: the source has no times\nuse --at-delta N")
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

// decodedSource returns a source with decoded bodies, so that offsets in a body are offsets in its records. A body
// with an unknown coding does not change.
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

// decodeRecord decodes the body data in a record. The parameter chains has the decoders, by exchange.
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
	body = slices.Clone(body) // the slice from Write is valid only until the next Write
	if err == nil && r.End != "" {
		rest, _ := chain.Close()
		body = append(body, rest...)
	}
	r.Data, r.Location = body, capture.Location{}
	return r
}

// recordsUntil returns the records up to an offset in each exchange. An exchange that is open at its offset ends
// there, with toolscope as the cause.
func recordsUntil(records iter.Seq[capture.Record], stops map[int]providers.ExchangeOffset) iter.Seq[capture.Record] {
	return func(yield func(capture.Record) bool) {
		s := stopper{stops: stops, came: map[capture.Stream]int64{}, at: capture.NoTime}
		for _, stop := range stops {
			s.left += stop.RequestBytes + stop.ResponseBytes
		}
		for r := range records {
			if r, had := s.upTo(r); had && !yield(r) {
				return
			}
		}
		for _, x := range s.open {
			if !yield(capture.Record{Exchange: x, At: s.at, End: capture.EndCut, By: capture.Toolscope, Why: providers.EndedHere}) {
				return
			}
		}
	}
}

// stopper cuts records off at the stops. The stops are offsets in the exchanges.
type stopper struct {
	stops map[int]providers.ExchangeOffset
	came  map[capture.Stream]int64 // number of bytes in the records so far, by stream
	left  int64                    // number of bytes that remain before the stops
	open  []int                    // numbers of the exchanges with open responses
	at    time.Duration            // time of the latest record
}

// upTo returns the part of a record before the stop. It returns false if the record has no part before the stop.
func (s *stopper) upTo(r capture.Record) (capture.Record, bool) {
	if r.OfSource() || r.IsArrival() {
		return r, s.left > 0
	}
	stop, begun := s.stops[r.Exchange]
	most, answer := stop.RequestBytes, r.Side == capture.Response
	if answer {
		most = stop.ResponseBytes
	}
	room := max(0, most-s.came[r.Stream()])
	s.came[r.Stream()] += int64(len(r.Data))
	if !begun || answer && !stop.Answered {
		return r, false
	}
	r.Data = r.Data[:min(int64(len(r.Data)), room)]
	s.left -= int64(len(r.Data))
	if !stop.Ended {
		r.End, r.Why, r.By = "", "", ""
	}
	if room == 0 && most > 0 {
		r.Lost = 0
	}
	if r.OfSource() || r.IsArrival() { // no part of the record remains
		return r, false
	}
	s.at = max(s.at, r.At)
	switch is := slices.Index(s.open, r.Exchange); {
	case is >= 0 && r.End != "":
		s.open = slices.Delete(s.open, is, is+1)
	case is < 0 && r.End == "" && answer:
		s.open = append(s.open, r.Exchange)
	}
	return r, true
}

// faultyResponse is a response with injected faults.
type faultyResponse struct {
	*fault.Injector
	faults []fault.Fault
	noted  int // index of the record with the note; -1 if there is none yet
	late   time.Duration
	last   capture.Record // the latest record
	over   bool
}

// faultInjection injects faults into records.
type faultInjection struct {
	*app
	set *fault.Set
	out []capture.Record // the records with the faults
}

// injectFaults returns the records with faults in the response of one turn, or in all responses. The faults that
// changed a response are known only at its end.
func (a *app) injectFaults(records []capture.Record, faults []fault.Fault, turn int, in *providers.Inspector) ([]capture.Record, error) {
	only := 0
	if turn > 0 {
		t, err := (&cutFlags{turn: turn}).turnOf(in, "it")
		if err != nil {
			return nil, err
		}
		only = t.Exchange
	}
	to, all := &faultInjection{app: a, set: fault.NewSet(faults)}, map[int]*faultyResponse{}
	for _, r := range records {
		if r.Side != capture.Response || only > 0 && r.Exchange != only || r.OfSource() || r.IsArrival() {
			to.out = append(to.out, r)
			continue
		}
		if all[r.Exchange] == nil {
			all[r.Exchange] = newFaultyResponse(to.set.ForNext(), in.Exchange(r.Exchange))
		}
		to.addRecord(all[r.Exchange], r)
	}
	for _, x := range slices.Sorted(maps.Keys(all)) { // responses without an end in the source
		if b := all[x]; !b.over {
			to.endResponse(b)
		}
	}
	return to.out, nil
}

// newFaultyResponse returns a faultyResponse for an exchange.
func newFaultyResponse(faults []fault.Fault, x *providers.Exchange) *faultyResponse {
	if x != nil && x.Framing == "WebSocket messages" {
		return &faultyResponse{Injector: fault.NewMessages(faults), faults: faults, noted: -1}
	}
	header := map[string][]string{}
	if x != nil {
		header = x.Head.Header
	}
	return &faultyResponse{Injector: fault.New(faults, header, false), faults: faults, noted: -1}
}

// addRecord injects faults into a record and appends the resulting records.
func (to *faultInjection) addRecord(b *faultyResponse, r capture.Record) {
	if b.over {
		return
	}
	end := capture.Record{Exchange: r.Exchange, At: r.At, End: r.End, Why: r.Why, By: r.By}
	pieces := b.Write(r.Data, 0)
	r.Data, r.End, r.Why, r.By, b.last = nil, "", "", "", r
	if r.Head != nil || r.Note != "" || r.Lost > 0 {
		to.out = append(to.out, r)
	}
	if to.out = b.appendChunks(to.out, pieces); b.BreaksHere() {
		end.End, end.By, end.Why = capture.EndCut, capture.Toolscope, providers.EndedHere
	}
	if end.End != "" {
		to.endResponse(b)
		if end.At >= 0 {
			end.At += b.late
		}
		to.out = append(to.out, end)
	}
}

// appendChunks appends chunks of a response. The first chunk has the note about the faults.
func (b *faultyResponse) appendChunks(out []capture.Record, pieces []fault.OutChunk) []capture.Record {
	for _, p := range pieces {
		b.late += p.Pause
		one := capture.Record{Exchange: b.last.Exchange, At: b.last.At, Data: bytes.Clone(p.Data)}
		if one.At >= 0 {
			one.At += b.late
		}
		if b.noted < 0 {
			b.noted = len(out)
			one.Note = b.faultNote(nil)
		}
		out = append(out, one)
	}
	return out
}

// endResponse appends the end of a response and reports the faults that had no effect.
func (to *faultInjection) endResponse(b *faultyResponse) {
	last, unfit := b.Close()
	b.over = true
	for _, u := range unfit {
		to.set.GiveBack(u.Fault)
		to.printNote("--fault %s has no effect on exchange %d: %s", u.Fault, b.last.Exchange, u.Why)
	}
	if to.out = b.appendChunks(to.out, last); b.noted >= 0 {
		to.out[b.noted].Note = b.faultNote(unfit)
	}
}

// faultNote returns a note with the injected faults, or "" if there are none.
func (b *faultyResponse) faultNote(unfit []fault.Unused) string {
	words := ""
	for _, f := range b.faults {
		if !slices.ContainsFunc(unfit, func(u fault.Unused) bool { return u.Fault.String() == f.String() }) {
			words += " --fault " + f.String()
		}
	}
	if words == "" {
		return ""
	}
	return capture.FaultedNote + ":" + words
}

// writeRecords writes records as a capture.
func writeRecords(to io.Writer, records iter.Seq[capture.Record]) error {
	w := captureFile{to: to, by: "toolscope cut"}
	for r := range records {
		if r.Exchange < 1 { // exchanges sent from the screen have the numbers -1, -2, …
			r.Exchange = wasSent - r.Exchange
		}
		if err := w.write(r); err != nil {
			return err
		}
	}
	if !w.begun {
		return errors.New("cut: nothing left to write")
	}
	return nil
}

// wasSent is the base for the numbers of exchanges that were sent from the screen: exchange -1 becomes
// wasSent + 1. These numbers differ from those of a source's exchanges.
const wasSent = 1 << 19

// cutView returns a capture that ends at the moment of a view.
func cutView(v *providers.View) ([]byte, error) {
	var records []capture.Record
	if err := v.EachRecord(func(r stream.Record) { records = append(records, captureRecord(r)) }); err != nil {
		return nil, err
	}
	src := decodedSource(recordSource(records))
	var out bytes.Buffer
	err := writeRecords(&out, recordsUntil(func(yield func(capture.Record) bool) {
		for r := range src {
			if !yield(r) {
				return
			}
		}
	}, v.Offsets()))
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// captureRecord converts a record of package stream to a record of package capture.
func captureRecord(r stream.Record) capture.Record {
	out := capture.Record{Exchange: r.Exchange, At: r.At, Data: r.Data, Why: r.Why, By: capture.Party(r.By), Lost: r.Lost, Note: r.Note}
	if r.Request {
		out.Side = capture.Request
	}
	switch {
	case r.End && (r.Why != "" || r.By != ""):
		out.End = capture.EndCut
	case r.End:
		out.End = capture.EndEOF
	}
	if h := r.Head; h != nil {
		out.Head = &capture.Head{
			File: h.File, Method: h.Method, URL: h.URL, Status: h.Status, Header: h.Header, Start: h.Start, Wrappers: h.Wrappers, Incremental: h.Incremental,
		}
		for _, lack := range h.Lacks {
			out.Head.Lacks = append(out.Head.Lacks, capture.Lack(lack))
		}
	}
	return out
}
