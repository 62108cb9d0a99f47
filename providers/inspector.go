package providers

import (
	"strings"
	"time"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/schema"
	"toolscope/stream"
)

// Inspector follows any number of exchanges at once and folds them into one timeline, in the order
// their bytes came. The zero value is ready. It belongs to one goroutine.
type Inspector struct {
	Timeline stream.Timeline
	Request  []byte     // body of a request that stands in for those that were not captured
	Others   OtherLines // what the source has besides exchanges

	exchanges     []*Exchange
	byNumber      map[int]*Exchange
	turns         int32 // turns opened
	log           recordOrder
	forced        *protocol.Protocol
	rereads       map[int]*protocol.Protocol // by exchange: read as this, or by its bytes
	closed        bool
	alone         bool // it reads one exchange once more: what others make of it is not its matter
	kept          evictor
	sets          []*schema.Set
	heads         recentHeads
	idle          exchangeContent // see Exchange.mind
	observer      replay.Observer
	recall        callIndex
	conversations conversations
	executed      mcpTraffic
	epoch         time.Time            // what the clock said at time 0, zero where that is not known
	began         map[string]time.Time // by run: what its clock said at its time 0, as far as an exchange of it told
}

// Exchanges are all exchanges, in the order they began.
func (in *Inspector) Exchanges() []*Exchange { return in.exchanges }

// Exchange is the exchange of that number, or nil.
func (in *Inspector) Exchange(number int) *Exchange { return in.byNumber[number] }

// Session is the fold of all events so far.
func (in *Inspector) Session() *stream.Session { return in.Timeline.Session() }

// Write takes one record.
func (in *Inspector) Write(r stream.Record) {
	if !in.routeMCP(r) {
		in.writeModelRecord(r)
	}
}

// writeModelRecord takes a record that is to or of a model, or of the source.
func (in *Inspector) writeModelRecord(r stream.Record) {
	in.log.add(r)
	if r.At > 0 {
		r.At = r.At.Truncate(time.Microsecond) // as a capture keeps it: live and recorded are the same
	}
	in.Others.add(r)
	if len(r.Data) == 0 && r.Head == nil && !r.End && r.Lost == 0 {
		if r.Note != "" {
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
	x.noteLocation(r.Location)
	if r.Head != nil && !x.timed && !r.Head.Start.IsZero() && r.At >= 0 {
		began := r.Head.Start.Round(0).Add(-r.At) // by the wall, not by what the machine counts
		if in.epoch.IsZero() {
			in.epoch = began
		}
		x.ahead, x.timed = began.Sub(in.epoch), true
	}
	if r.Head != nil {
		if x.mergeHead(r.Head); !r.Request && r.Head.Status != 0 && x.headAt == stream.NoTime {
			x.headAt = r.At
		}
		x.own = x.own || !r.Request && r.Head.Status != 0 && r.By == stream.Toolscope.String()
		in.noteRunStart(x)
	}
	isBent := strings.HasPrefix(r.Note, faultPrefix)
	if !isBent {
		x.holdNote(r)
	}
	if len(x.turns) > 0 {
		x.reportNotes()
	}
	if r.Request {
		x.noteRequestStart(r.At)
		x.gap.requestBytes += r.Lost
		if len(r.Data) > 0 {
			x.Request.AppendOwned(r.Data, r.At)
			x.Request.SetSurround(r.Before, r.After)
			x.known.noteSize(told, x.Request.Size())
			if isWebSocket(x.Head) {
				x.readClientMessage(r.Data, r.At)
			}
			x.observeMessage(r.At)
		}
		return
	}
	x.at = r.At
	if r.Lost > 0 {
		x.noteGap(r.Lost)
	}
	if len(r.Data) > 0 {
		x.receiveRecord(&r)
		x.keepSurroundings(r)
	}
	if isBent { // of the answer that these bytes are of
		x.holdNote(r)
	}
	if len(x.turns) > 0 {
		x.reportNotes()
	}
	if r.End {
		x.why, x.by = r.Why, partyOf(r.By)
		x.end()
	}
}

// maxRuns is of how many runs it is kept when they began: a hub brings new ones for as long as it stands.
const maxRuns = 1 << 14

// noteRunStart keeps when the run of an exchange began, for those of it whose own beginning was not seen.
func (in *Inspector) noteRunStart(x *Exchange) {
	if _, known := in.began[x.Head.Run]; known || !x.timed {
		return
	}
	if in.began == nil || len(in.began) >= maxRuns {
		in.began = map[string]time.Time{}
	}
	in.began[x.Head.Run] = in.epoch.Add(x.ahead)
}

// partyOf is the culprit with that name, 0 if there is none.
func partyOf(name string) stream.Party {
	for _, c := range stream.Parties {
		if c.String() == name {
			return c
		}
	}
	return 0
}

// Close says that no more records come: whatever is still open was cut.
func (in *Inspector) Close() {
	in.closed = true
	in.executed.trimHeads(in.writeModelRecord)
	for _, x := range in.exchanges {
		x.end()
	}
	if len(in.executed.log.Servers) > 0 {
		in.matcher().End()
	}
}

// End says that no more of one exchange comes: what is still open was cut.
func (in *Inspector) End(number int) {
	if x := in.byNumber[number]; x != nil && !x.Ended {
		in.Write(stream.Record{Exchange: number, At: x.at, End: true, Location: x.from})
	}
}

// faultPrefix begins the note of an answer that the client was not given as it is.
const faultPrefix = "bent by toolscope"

// heldPrefix begins the note of an answer that the client waited for.
const heldPrefix = "held by toolscope"

// holdNote keeps the Note of a record until there is a turn to tell it of. It keeps none about an
// answer of toolscope's own: a finding says the same.
func (x *Exchange) holdNote(r stream.Record) {
	if r.Note != "" && !(x.own && r.Head != nil) {
		x.notes = append(x.notes, r.Note)
	}
}

// reportNotes reports the notes on the exchange's first turn, what was bent on its latest, or on the
// source if there is no turn.
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

// noteSource reports something that happened to the source.
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
		Number: number, Head: new(stream.Head), in: in, headAt: stream.NoTime, known: knownSince{since: in.nextEvent()},
		exchangeContent: &exchangeContent{requests: requestState{sentAt: stream.NoTime}},
	}
	x.onFrame, x.onEvent = x.handleFrame, x.handleEvent
	if in.byNumber == nil {
		in.byNumber = map[int]*Exchange{}
	}
	in.byNumber[number] = x
	in.exchanges = append(in.exchanges, x)
	return x
}
