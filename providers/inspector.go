package providers

import (
	"strings"
	"time"

	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/providers/schema"
	"toolscope/stream"
)

// Inspector follows any number of exchanges at once and folds them into one timeline, in the order
// their bytes came. The zero value is ready. It belongs to one goroutine.
type Inspector struct {
	Timeline stream.Timeline
	Request  []byte // body of a request that stands in for those that were not captured
	Others   Others // what the source has besides exchanges

	exchanges []*Exchange
	byNumber  map[int]*Exchange
	turns     int32 // turns opened
	log       arrivals
	forced    *dialect.Dialect
	rereads   map[int]*dialect.Dialect // by exchange: read as this, or by its bytes
	closed    bool
	alone     bool // it reads one exchange once more: what others make of it is not its matter
	kept      keeper
	sets      []*schema.Set
	heads     heads
	idle      reading // see Exchange.mind
	observer  replay.Observer
	recall    recall
	lanes     lanes
	executed  executing
	epoch     time.Time            // what the clock said at time 0, zero where that is not known
	began     map[string]time.Time // by run: what its clock said at its time 0, as far as an exchange of it told
}

// Exchanges are all exchanges, in the order they began.
func (in *Inspector) Exchanges() []*Exchange { return in.exchanges }

// Exchange is the exchange of that number, or nil.
func (in *Inspector) Exchange(number int) *Exchange { return in.byNumber[number] }

// Session is the fold of all events so far.
func (in *Inspector) Session() *stream.Session { return in.Timeline.Session() }

// Write takes one record.
func (in *Inspector) Write(r stream.Record) {
	if !in.execute(r) {
		in.write(r)
	}
}

// write takes a record that is to or of a model, or of the source.
func (in *Inspector) write(r stream.Record) {
	in.log.add(r)
	if r.At > 0 {
		r.At = r.At.Truncate(time.Microsecond) // as a capture keeps it: live and recorded are the same
	}
	in.Others.take(r)
	if len(r.Data) == 0 && r.Head == nil && !r.End && r.Lost == 0 {
		if r.Note != "" {
			in.note(r.Note)
		}
		return
	}
	told, x := in.told(), in.exchange(r.Exchange)
	x.mind()
	defer func() {
		if in.now() < told {
			x.known.hush(told)
		}
	}()
	x.stands(r.Location)
	if r.Head != nil && !x.timed && !r.Head.Start.IsZero() && r.At >= 0 {
		began := r.Head.Start.Round(0).Add(-r.At) // by the wall, not by what the machine counts
		if in.epoch.IsZero() {
			in.epoch = began
		}
		x.ahead, x.timed = began.Sub(in.epoch), true
	}
	if r.Head != nil {
		if x.learn(r.Head); !r.Request && r.Head.Status != 0 && x.headAt == stream.NoTime {
			x.headAt = r.At
		}
		x.own = x.own || !r.Request && r.Head.Status != 0 && r.By == stream.Toolscope.String()
		in.clocked(x)
	}
	isBent := strings.HasPrefix(r.Note, bent)
	if !isBent {
		x.note(r)
	}
	if len(x.turns) > 0 {
		x.tellNotes()
	}
	if r.Request {
		x.sends(r.At)
		x.gap.asked += r.Lost
		if len(r.Data) > 0 {
			x.Request.AppendOwned(r.Data, r.At)
			x.Request.SetSurround(r.Before, r.After)
			x.known.ask(told, x.Request.Size())
			if isWebSocket(x.Head) {
				x.says(r.Data, r.At)
			}
			x.askAgain(r.At)
		}
		return
	}
	x.at = r.At
	if r.Lost > 0 {
		x.miss(r.Lost)
	}
	if len(r.Data) > 0 {
		x.receiveEach(&r)
		x.beside(r)
	}
	if isBent { // of the answer that these bytes are of
		x.note(r)
	}
	if len(x.turns) > 0 {
		x.tellNotes()
	}
	if r.End {
		x.why, x.by = r.Why, culpritOf(r.By)
		x.end()
	}
}

// mostRuns is of how many runs it is kept when they began: a hub brings new ones for as long as it stands.
const mostRuns = 1 << 14

// clocked keeps when the run of an exchange began, for those of it whose own beginning was not seen.
func (in *Inspector) clocked(x *Exchange) {
	if _, known := in.began[x.Head.Run]; known || !x.timed {
		return
	}
	if in.began == nil || len(in.began) >= mostRuns {
		in.began = map[string]time.Time{}
	}
	in.began[x.Head.Run] = in.epoch.Add(x.ahead)
}

// culpritOf is the culprit with that name, 0 if there is none.
func culpritOf(name string) stream.Party {
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
	in.executed.close(in.write)
	for _, x := range in.exchanges {
		x.end()
	}
	if len(in.executed.log.Servers) > 0 {
		in.join().End()
	}
}

// End says that no more of one exchange comes: what is still open was cut.
func (in *Inspector) End(number int) {
	if x := in.byNumber[number]; x != nil && !x.Ended {
		in.Write(stream.Record{Exchange: number, At: x.at, End: true, Location: x.from})
	}
}

// bent begins the note of an answer that the client was not given as it is.
const bent = "bent by toolscope"

// heldBack begins the note of an answer that the client waited for.
const heldBack = "held by toolscope"

// note keeps the Note of a record until there is a turn to tell it of. It keeps none about an
// answer of toolscope's own: a finding says the same.
func (x *Exchange) note(r stream.Record) {
	if r.Note != "" && !(x.own && r.Head != nil) {
		x.notes = append(x.notes, r.Note)
	}
}

// tellNotes reports the notes on the exchange's first turn, what was bent on its latest, or on the
// source if there is no turn.
func (x *Exchange) tellNotes() {
	notes := x.notes
	x.notes = nil
	for _, text := range notes {
		if len(x.turns) == 0 {
			x.in.note(text)
			continue
		}
		e := diagnose(x.turns[0], sourceNote, "%s", text)
		if strings.HasPrefix(text, bent) {
			e = diagnose(x.turns[x.lastTurn()], bentNote, "%s", text)
		}
		if strings.HasPrefix(text, heldBack) {
			e = diagnose(x.turns[x.lastTurn()], heldNote, "%s", text)
		}
		x.in.Timeline.Append(stampless(e))
	}
}

// note reports something that happened to the source.
func (in *Inspector) note(text string) {
	in.Timeline.Append(stampless(diagnose(stream.NoTurn, sourceNote, "%s", text)))
}

func stampless(e stream.Event) stream.Event {
	e.At = stream.NoTime
	return e
}

func (in *Inspector) exchange(number int) *Exchange {
	if x := in.byNumber[number]; x != nil {
		return x
	}
	x := &Exchange{
		Number: number, Head: new(stream.Head), in: in, headAt: stream.NoTime, known: known{since: in.told()},
		reading: &reading{asks: asking{sentAt: stream.NoTime}},
	}
	x.onFrame, x.onEvent = x.take, x.takeEvent
	if in.byNumber == nil {
		in.byNumber = map[int]*Exchange{}
	}
	in.byNumber[number] = x
	in.exchanges = append(in.exchanges, x)
	return x
}
