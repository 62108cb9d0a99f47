package providers

import (
	"maps"
	"slices"
	"strings"
	"time"

	"toolscope/providers/acp"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/requestrules"
	"toolscope/providers/schema"
	"toolscope/stream"
	"toolscope/stream/count"
)

// Inspector follows any number of exchanges at the same time and folds them into one timeline, in the order in which
// their bytes arrive. The zero value is ready to use. An Inspector is not safe for concurrent use.
type Inspector struct {
	Timeline stream.Timeline
	Request  []byte     // body used for requests that were not captured
	Others   OtherLines // lines of the source that are outside exchanges

	exchanges     []*Exchange
	byNumber      map[int]*Exchange
	turns         int32 // number of opened turns
	log           recordOrder
	forced        *protocol.Protocol
	rereads       map[int]*protocol.Protocol // by exchange: the protocol with which the exchange is read again, or nil if its bytes decide
	closed        bool
	recording     map[int]bool // exchanges that a program was still recording at the end of the source
	alone         bool         // rereads one exchange, independently of others
	kept          evictor
	sets          []*schema.Set
	heads         recentHeads
	idle          exchangeContent // see Exchange.ensureContent
	observer      replay.Observer
	recall        callIndex
	conversations conversations
	sessions      recentMap[sessionKey, *requestrules.Session] // sessions of session files
	breaches      recentMap[breachKey, bool]                   // breaches that were reported
	retries       recentMap[int32, int32]                      // by failed turn: the turn whose request repeats the failed turn's request
	gaps          recentMap[gapsKey, *[numGapKinds]gapCounts]  // gaps between deltas
	executed      *mcpTraffic                                  // nil before the first record; see toolTraffic
	epoch         time.Time                                    // wall clock at time 0; zero if unknown
	began         map[string]time.Time                         // by run: wall clock at the run's time 0, if an exchange contains it
}

// Exchanges returns all exchanges, in the order in which they began.
func (in *Inspector) Exchanges() []*Exchange { return in.exchanges }

// Exchange returns the exchange with the given number, or nil.
func (in *Inspector) Exchange(number int) *Exchange { return in.byNumber[number] }

// Session returns the fold of all events so far.
func (in *Inspector) Session() *stream.Session { return in.Timeline.Session() }

// Write reads the next record of the source.
func (in *Inspector) Write(r stream.Record) {
	if r.Open {
		if in.recording == nil {
			in.recording = map[int]bool{}
		}
		in.recording[r.Exchange] = true
		return
	}
	if !in.toolTraffic().writeRecord(&r) {
		in.writeModelRecord(&r)
	}
}

// HoldsBytes reports whether the inspector may still refer to the bytes of an exchange's response that Write got. With
// Retention.ReadOnce, it usually doesn't.
func (in *Inspector) HoldsBytes(exchange int) bool {
	x := in.byNumber[exchange]
	return x == nil || x.chain != nil || x.Response.HoldsOwned() || x.Sent.HoldsOwned()
}

// writeModelRecord reads a record of the traffic with a model, or a record about the source.
func (in *Inspector) writeModelRecord(r *stream.Record) {
	in.log.add(r)
	if r.At > 0 {
		r.At = r.At.Truncate(time.Microsecond) // the precision of a capture, so that live and recorded times are equal
	}
	in.Others.add(r)
	if isArrival(r) {
		in.noteArrival(r)
		return
	}
	if isNoteAlone(r) {
		if r.Note != "" && !in.isAboutProcess(r) {
			in.noteSource(r.Note)
		}
		return
	}
	told, x := in.nextEvent(), in.ensureExchange(r.Exchange)
	x.ensureContent()
	defer func() {
		if in.eventCount() < told {
			x.known.retract(told)
		}
	}()
	x.addLocation(r.Location)
	if strings.HasPrefix(r.Note, heldPrefix) {
		x.held, x.heldAt = !r.End && !strings.HasPrefix(r.Note, resumedPrefix), r.At
	}
	if r.Head != nil {
		x.receiveHead(r)
	}
	isBent := !r.Request && strings.HasPrefix(r.Note, faultPrefix) // a note about a fault belongs to the response that contains these bytes
	if !isBent && !in.isAboutProcess(r) {
		x.holdNote(r)
	}
	x.reportNotesOfTurn()
	if r.Request {
		x.receiveRequest(r, told)
		return
	}
	x.at = r.At
	if r.Lost > 0 {
		x.gap.noteMissed(r.Lost)
	}
	if len(r.Data) > 0 {
		x.receiveResponse(r)
		x.keepSurroundings(r)
	}
	if isBent {
		x.holdNote(r)
	}
	x.reportNotesOfTurn()
	if r.End {
		x.EndReason, x.by = r.Why, partyOf(r.By)
		x.end()
	}
}

// receiveHead reads the head of a request or response.
func (x *Exchange) receiveHead(r *stream.Record) {
	in := x.in
	if !x.timed && !r.Head.Start.IsZero() && r.At >= 0 {
		began := r.Head.Start.Round(0).Add(-r.At) // wall clock, without the monotonic reading
		if in.epoch.IsZero() {
			in.epoch = began
		}
		x.ahead, x.timed = began.Sub(in.epoch), true
	}
	x.mergeHead(r.Head)
	if answers := !r.Request && r.Head.Status != 0; answers {
		if x.HeadAt == stream.NoTime {
			x.HeadAt = r.At
		}
		x.AnsweredHere = x.AnsweredHere || r.By == stream.Toolscope.String()
	}
	in.noteRunStart(x)
	if isAgentConnection(x.Head) && x.decoder == nil && in.forcedFor(x.Number) == nil {
		x.Framing, x.framer = "lines", new(stream.Lines)
		x.setProtocol(protocolNamed(acp.Name), "recorded by toolscope acp")
	}
}

// receiveRequest reads bytes of the request. The parameter since is the number of events before these bytes
// were known.
func (x *Exchange) receiveRequest(r *stream.Record, since int32) {
	if x.requests.sentAt == stream.NoTime && !isWebSocket(x.Head) { // on a WebSocket, each turn has a request of its own
		x.requests.sentAt = r.At
	}
	x.gap.requestBytes += r.Lost
	if len(r.Data) == 0 {
		return
	}
	x.Request.AppendOwned(r.Data, r.At)
	x.Request.SetSurround(r.Before, r.After)
	x.known.noteSize(since, x.Request.Size())
	if isWebSocket(x.Head) {
		x.requests.readMessage(r.Data, r.At)
	}
	x.past.observeMessage(r.At)
	if isAgentConnection(x.Head) && x.decoder != nil {
		x.readEditorBytes(r)
	}
}

// maxRuns is the maximum number of kept start times of runs. A hub gets new runs while it is running.
const maxRuns = 1 << 14

// noteRunStart keeps the start time of an exchange's run, for exchanges in the run whose own start was not
// seen.
func (in *Inspector) noteRunStart(x *Exchange) {
	if _, known := in.began[x.Head.Run]; known || !x.timed {
		return
	}
	if in.began == nil || len(in.began) >= maxRuns {
		in.began = map[string]time.Time{}
	}
	in.began[x.Head.Run] = in.epoch.Add(x.ahead)
}

// partyOf returns the party with the given name, or 0.
func partyOf(name string) stream.Party {
	for _, c := range stream.Parties {
		if c.String() == name {
			return c
		}
	}
	return 0
}

// Close ends the input. Exchanges that are still open are cut off, unless a program still records them.
func (in *Inspector) Close() {
	in.closed = true
	tools := in.toolTraffic()
	for _, number := range slices.Sorted(maps.Keys(tools.may)) {
		for _, r := range tools.may[number] {
			in.writeModelRecord(&r)
		}
	}
	tools.may = nil
	tools.log.Close()
	for _, x := range in.exchanges {
		if !in.recording[x.Number] {
			x.end()
		}
	}
	if len(in.executed.log.Servers) > 0 && len(in.recording) == 0 {
		in.executed.matcher.Close()
	}
}

// End ends one exchange. Its turns that are still open are cut off.
func (in *Inspector) End(number int) {
	if x := in.byNumber[number]; x != nil && !x.Ended {
		in.Write(stream.Record{Exchange: number, At: x.at, End: true, Location: x.from})
	}
}

// faultPrefix begins the note about a response with an injected fault.
const faultPrefix = "bent by toolscope"

// heldPrefix begins a note about a response that is or was held at a breakpoint. The note about the end of a hold
// begins with resumedPrefix.
const (
	heldPrefix    = "held by toolscope"
	resumedPrefix = heldPrefix + ": the client waited "
)

// holdNote keeps the Note of a record until there is a turn for it. It skips notes about toolscope's own
// responses, because a finding reports the same fact.
func (x *Exchange) holdNote(r *stream.Record) {
	if r.Note != "" && !(x.AnsweredHere && r.Head != nil) {
		x.notes = append(x.notes, r.Note)
	}
}

// reportNotesOfTurn reports the kept notes once there is a turn.
func (x *Exchange) reportNotesOfTurn() {
	if len(x.turns) > 0 {
		x.reportNotes()
	}
}

// reportNotes reports the kept notes for the exchange's first turn. Notes about faults and holds are reported
// for the latest turn. If there is no turn, all notes are reported for the source.
func (x *Exchange) reportNotes() {
	notes := x.notes
	x.notes = nil
	for _, text := range notes {
		if len(x.turns) == 0 {
			x.in.noteSource(text)
			continue
		}
		e := findingEvent(x.turns[0], sourceNote, "%s", text)
		if strings.HasPrefix(text, faultPrefix) {
			e = findingEvent(x.turns[x.lastTurn()], faultNote, "%s", text)
		}
		if strings.HasPrefix(text, heldPrefix) {
			e = findingEvent(x.turns[x.lastTurn()], heldNote, "%s", text)
		}
		x.in.Timeline.Append(withoutTime(e))
	}
}

// isNoteAlone reports whether a record contains nothing, or only a note that is not about a hold. Such a note is
// about the source.
func isNoteAlone(r *stream.Record) bool {
	return len(r.Data) == 0 && r.Head == nil && !r.End && r.Lost == 0 && !strings.HasPrefix(r.Note, heldPrefix)
}

// noteSource reports a note about the source.
func (in *Inspector) noteSource(text string) {
	in.Timeline.Append(withoutTime(findingEvent(stream.NoTurn, sourceNote, "%s", text)))
}

func withoutTime(e stream.Event) stream.Event {
	e.At = stream.NoTime
	return e
}

func (in *Inspector) ensureExchange(number int) *Exchange {
	if x := in.byNumber[number]; x != nil {
		return x
	}
	x := &Exchange{
		Number: number, Head: new(stream.Head), in: in, HeadAt: stream.NoTime, known: knownSince{since: in.nextEvent()},
		exchangeContent: &in.idle,
	}
	x.ensureContent()
	x.onFrame, x.onEvent = x.handleFrame, x.handleEvent
	if in.byNumber == nil {
		in.byNumber = map[int]*Exchange{}
	}
	in.byNumber[number] = x
	in.exchanges = append(in.exchanges, x)
	return x
}

// recentHeads keeps the latest heads. Most exchanges of a log have equal heads, so only one copy is kept.
type recentHeads struct{ last []*stream.Head }

// maxHeads is the maximum number of kept heads.
const maxHeads = 4

// intern returns a head that equals h and may be shared. The result must not be modified.
func (hs *recentHeads) intern(h *stream.Head) *stream.Head {
	for _, of := range hs.last {
		if isSameHead(of, h) {
			return of
		}
	}
	own := *h
	if h.Header == nil { // heads with a header are not shared
		hs.last = append(hs.last[max(0, len(hs.last)+1-maxHeads):], &own)
	}
	return &own
}

func isSameHead(a, b *stream.Head) bool {
	return a.File == b.File && a.Run == b.Run && a.Origin == b.Origin && a.Method == b.Method && a.URL == b.URL && a.Status == b.Status && a.Header == nil && b.Header == nil &&
		a.Start.Equal(b.Start) && a.Wrappers == b.Wrappers && slices.Equal(a.Lacks, b.Lacks) && a.CutLines == b.CutLines &&
		a.ResponseFromHistory == b.ResponseFromHistory && a.EndUnknown == b.EndUnknown && a.NoDeltas == b.NoDeltas && a.UsageBefore == b.UsageBefore && a.EventNamesUnknown == b.EventNamesUnknown && a.Reconstructed == b.Reconstructed && a.Incremental == b.Incremental && a.Rewound == b.Rewound
}

// OtherLines contains the number of lines in a log that are outside exchanges, and the last of these lines.
type OtherLines struct {
	Count int64
	Last  [][]byte
}

// maxOtherLines is the maximum number of kept lines.
const maxOtherLines = 100

func (o *OtherLines) add(r *stream.Record) {
	o.Count += r.Others
	o.Last = append(o.Last, r.OtherLines...)
	if n := len(o.Last) - maxOtherLines; n > 0 {
		o.Last = append(o.Last[:0], o.Last[n:]...)
	}
}

// keepSurroundings keeps the text that surrounds the latest bytes in their log line. It does nothing if the bytes are
// not kept.
func (x *Exchange) keepSurroundings(r *stream.Record) {
	switch {
	case x.in.kept.ReadOnce:
	case x.chain != nil:
		x.Sent.SetSurround(r.Before, r.After)
	default:
		x.Response.SetSurround(r.Before, r.After)
	}
}

// LastLines returns the last of the lines, or nil if there are none.
func (o OtherLines) LastLines() []byte {
	if len(o.Last) == 0 {
		return nil
	}
	return o.Last[len(o.Last)-1]
}

// maxDetails is the maximum number of kept events in an exchange, for each kind that needs much memory:
// findings and failures, unknown events with their names, and usage.
const maxDetails = 1 << 16

// details counts the events of the kinds that maxDetails limits.
type details struct {
	x                          *Exchange
	findings, unknowns, usages int
	usage                      *stream.Event // the latest turn's usage events beyond the limit, merged, until they are added to the timeline; nil if there are none
}

// isBeyondLimit counts an event, and reports whether the event must not be added to the timeline. An unknown
// event beyond the limit loses its name. Usage events beyond the limit are merged into one event.
func (d *details) isBeyondLimit(e *stream.Event) bool {
	switch e.Kind {
	case stream.Found, stream.Fault, stream.Failure:
		if e.Kind == stream.Found && stream.PayloadOf[stream.Finding](*e).Diagnosis == protocol.CountedOnly {
			return false
		}
		d.findings++
		return d.findings > maxDetails
	case stream.Unknown:
		if d.unknowns++; d.unknowns > maxDetails {
			e.Text = ""
		}
	case stream.UsageEvent:
		if d.usages++; d.usages <= maxDetails {
			return false
		}
		usage := stream.PayloadOf[stream.Usage](*e)
		if d.usage != nil && d.usage.Turn != e.Turn {
			d.emitLateUsage()
		} else if d.usage != nil {
			usage = stream.PayloadOf[stream.Usage](*d.usage).Merge(usage)
		}
		e.What = &usage
		late := *e
		d.usage = &late
		return true
	}
	return false
}

// emitLateUsage emits the merged usage events beyond the limit.
func (d *details) emitLateUsage() {
	if e := d.usage; e != nil {
		d.usage, d.usages = nil, 0
		d.x.emit(*e)
		d.usages = maxDetails
	}
}

// reportExcess reports the number of findings that were not kept.
func (d *details) reportExcess() {
	if n := d.findings - maxDetails; n > 0 {
		d.x.emit(findingEvent(d.x.lastTurn(), protocol.CountedOnly,
			"toolscope keeps at most %d findings per exchange, and only counts the others: %s", maxDetails, stream.Own(count.Of(n, "finding"))))
	}
}
