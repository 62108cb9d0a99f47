package cli

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/providers"
	"toolscope/stream"
)

// recordsUntil returns the records up to an offset in each exchange. An exchange that is open at its offset
// ends there, as cut by toolscope.
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

// stopper tracks how many bytes of each stream were returned.
type stopper struct {
	stops map[int]providers.ExchangeOffset
	came  map[capture.Stream]int64 // number of bytes so far, by stream
	left  int64                    // number of bytes that remain before the stops
	open  []int                    // exchanges with open responses
	at    time.Duration            // time of the latest record
}

// upTo returns the part of a record before the stop; had is false if there is none.
func (s *stopper) upTo(r capture.Record) (capture.Record, bool) {
	if r.OfSource() {
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
	if r.OfSource() { // nothing of the record remains
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

// faultyResponse is a response with faults injected.
type faultyResponse struct {
	*fault.Injector
	faults []fault.Fault
	noted  int // index of the record with the note, -1 for none yet
	late   time.Duration
	last   capture.Record // the latest record
	over   bool
}

// injectFaults returns the records with faults in the response of one turn, or in all responses. Only the
// end of a response shows which faults changed it.
func (a *app) injectFaults(records []capture.Record, faults []fault.Fault, turn int, in *providers.Inspector) (out []capture.Record, err error) {
	only := 0
	if turn > 0 {
		t, err := (&cutFlags{turn: turn}).turnOf(in, "it")
		if err != nil {
			return nil, err
		}
		only = t.Exchange
	}
	set, all := fault.NewSet(faults), map[int]*faultyResponse{}
	for _, r := range records {
		if r.Side != capture.Response || only > 0 && r.Exchange != only || r.OfSource() {
			out = append(out, r)
			continue
		}
		if all[r.Exchange] == nil {
			all[r.Exchange] = newFaultyResponse(set.ForNext(), in.Exchange(r.Exchange))
		}
		out = a.appendFaulty(out, all[r.Exchange], set, r)
	}
	for _, x := range slices.Sorted(maps.Keys(all)) { // responses without an end in the source
		if b := all[x]; !b.over {
			out = a.endFaultyResponse(out, b, set)
		}
	}
	return out, nil
}

// newFaultyResponse returns the injector of faults for an exchange.
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

// appendFaulty appends the records that result from a record with faults.
func (a *app) appendFaulty(out []capture.Record, b *faultyResponse, set *fault.Set, r capture.Record) []capture.Record {
	if b.over {
		return out
	}
	end := capture.Record{Exchange: r.Exchange, At: r.At, End: r.End, Why: r.Why, By: r.By}
	pieces := b.Write(r.Data, 0)
	r.Data, r.End, r.Why, r.By, b.last = nil, "", "", "", r
	if r.Head != nil || r.Note != "" || r.Lost > 0 {
		out = append(out, r)
	}
	if out = b.appendChunks(out, pieces); b.BreaksHere() {
		end.End, end.By, end.Why = capture.EndCut, capture.Toolscope, providers.EndedHere
	}
	if end.End != "" {
		out = a.endFaultyResponse(out, b, set)
		if end.At >= 0 {
			end.At += b.late
		}
		out = append(out, end)
	}
	return out
}

// appendChunks appends chunks of a response. The first one carries the note of the faults.
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

// endFaultyResponse appends the end of a response, and reports the faults without effect.
func (a *app) endFaultyResponse(out []capture.Record, b *faultyResponse, set *fault.Set) []capture.Record {
	last, unfit := b.Close()
	b.over = true
	for _, u := range unfit {
		set.GiveBack(u.Fault)
		a.printNote("--fault %s has no effect on exchange %d: %s", u.Fault, b.last.Exchange, u.Why)
	}
	if out = b.appendChunks(out, last); b.noted >= 0 {
		out[b.noted].Note = b.faultNote(unfit)
	}
	return out
}

// faultNote returns a note with the injected faults, "" for none.
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
	begun := false
	for r := range records {
		if !begun {
			line, err := capture.EncodeHeader(beginOf(r), "toolscope cut")
			if err == nil {
				_, err = to.Write(line)
			}
			if err != nil {
				return err
			}
			begun = true
		}
		if r.Exchange < 1 { // exchanges sent from the screen have numbers from -1 downwards
			r.Exchange = wasSent - r.Exchange
		}
		line, err := capture.EncodeRecord(r)
		if err == nil {
			_, err = to.Write(line)
		}
		if err != nil {
			return err
		}
	}
	if !begun {
		return fmt.Errorf("cut: nothing left to write")
	}
	return nil
}

// wasSent is added to the numbers of exchanges that were sent from the screen, so that they differ from those
// of a source.
const wasSent = 1 << 19

// cutView returns a capture that ends at the moment of a view.
func cutView(v *providers.View) ([]byte, error) {
	var records []capture.Record
	if err := v.EachRecord(func(r stream.Record) { records = append(records, captureRecord(r)) }); err != nil {
		return nil, err
	}
	src := decodedSource(func(yield func(capture.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	})
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

// captureRecord converts a record of stream to one of capture.
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
