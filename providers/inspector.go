package providers

import (
	"bytes"
	"fmt"
	"time"

	"toolscope/providers/coding"
	"toolscope/providers/dialect"
	"toolscope/providers/schema"
	"toolscope/stream"
)

// Inspector follows any number of exchanges at once and folds them into one
// timeline, in the order things came. The zero value is ready; it belongs to
// one goroutine.
type Inspector struct {
	Timeline stream.Timeline
	Request  []byte // body of a request that stands in for those that were not captured

	exchanges []*Exchange
	byNumber  map[int]*Exchange
	turns     int32 // turns opened
	log       arrivals
	forced    *dialect.Dialect
	rereads   map[int]*dialect.Dialect // by exchange: read as this, or by its bytes
	closed    bool
	sets      []*schema.Set
}

// An Exchange is one request and its response, as far as they have come.
type Exchange struct {
	Number   int
	Head     stream.Head // of the response; Method and URL also when only the request told
	Request  stream.Wire
	Response stream.Wire      // the body, decoded
	Sent     stream.Wire      // the response's bytes as they came, when that is something else
	Coding   string           // the codings that were undone: "gzip", "chunked, br"
	Framing  string           // how the response is framed, "" while unknown
	Dialect  *dialect.Dialect // nil while unknown
	Why      string           // what gave the dialect away
	Ended    bool

	in      *Inspector
	chain   *coding.Chain // nil until there are bytes, and when there is nothing to undo
	begun   bool          // bytes of the response have come
	broken  bool          // they cannot be decoded any further
	framer  stream.Framer
	decoder dialect.Decoder
	clock   dialect.Clock // the decoder, if its protocol stamps frames
	turns   []int32       // timeline numbers of the decoder's turns
	frame   int32         // number of the frame being decoded
	at      time.Duration
	first   *firstObject // the body began with one, which does not tell how it is framed
	pending []held       // frames that wait for a dialect
	waiting int          // how many of them hold data
	check   toolCheck
	onFrame func(stream.Frame)
	onEvent func(stream.Event)
}

// held is a frame kept until the dialect is known.
type held struct {
	frame  stream.Frame
	number int32
	at     time.Duration
}

// Exchanges are all exchanges, in the order they began.
func (in *Inspector) Exchanges() []*Exchange { return in.exchanges }

// Exchange is the exchange of that number, or nil.
func (in *Inspector) Exchange(number int) *Exchange { return in.byNumber[number] }

// Session is the fold of all events so far.
func (in *Inspector) Session() *stream.Session { return in.Timeline.Session() }

// Write takes one record.
func (in *Inspector) Write(r stream.Record) {
	in.log.add(r)
	if r.Note != "" {
		in.note(r.Note)
	}
	if len(r.Data) == 0 && r.Head == nil && !r.End {
		return
	}
	x := in.exchange(r.Exchange)
	if r.Head != nil {
		x.learn(*r.Head)
	}
	if r.Request {
		if len(r.Data) > 0 {
			x.Request.Append(r.Data, r.At)
		}
		return
	}
	x.at = r.At
	if len(r.Data) > 0 {
		x.receive(r.Data)
	}
	if r.End {
		x.end()
	}
}

// Close says that no more records come: whatever is still open was cut.
func (in *Inspector) Close() {
	in.closed = true
	for _, x := range in.exchanges {
		x.end()
	}
}

// note records something that happened to the source.
func (in *Inspector) note(text string) {
	in.Timeline.Append(stampless(dialect.Diagnose(stream.NoTurn, stream.NoSlot, "SOURCE_NOTE", stream.Info, text)))
}

func stampless(e stream.Event) stream.Event {
	e.At = stream.NoTime
	return e
}

func (in *Inspector) exchange(number int) *Exchange {
	if x := in.byNumber[number]; x != nil {
		return x
	}
	x := &Exchange{Number: number, in: in}
	x.onFrame, x.onEvent = x.take, x.emit
	if in.byNumber == nil {
		in.byNumber = map[int]*Exchange{}
	}
	in.byNumber[number] = x
	in.exchanges = append(in.exchanges, x)
	return x
}

// learn merges what is newly known from outside the bytes.
func (x *Exchange) learn(h stream.Head) {
	if h.File != "" {
		x.Head.File = h.File
	}
	if h.Method != "" {
		x.Head.Method = h.Method
	}
	if h.URL != "" {
		x.Head.URL = h.URL
	}
	if h.Status != 0 {
		x.Head.Status, x.Head.Header = h.Status, h.Header
	}
}

// receive takes bytes of the response as they came.
func (x *Exchange) receive(p []byte) {
	if !x.begun {
		x.begun = true
		chain, err := coding.New(x.Head.Header)
		if x.chain = chain; err != nil {
			x.badCoding(err)
		}
	}
	if x.chain == nil {
		x.body(p)
		return
	}
	x.Sent.Append(p, x.at)
	body, err := x.chain.Write(p)
	x.body(body)
	x.decoded(err)
	if x.chain.Plain() {
		x.chain, x.Sent = nil, stream.Wire{}
	}
}

// decoded notes what the codings did.
func (x *Exchange) decoded(err error) {
	x.Coding = x.chain.Name()
	if err != nil && !x.broken {
		x.broken = true
		x.badCoding(err)
	}
}

// body takes bytes of the response's body.
func (x *Exchange) body(p []byte) {
	if len(p) > 0 {
		x.Response.Append(p, x.at)
		x.feed(p)
	}
}

// badCoding says that the body cannot be decoded further.
func (x *Exchange) badCoding(err error) {
	turn := stream.NoTurn
	if x.decoder != nil {
		turn = x.lastTurn()
	}
	x.emit(dialect.Diagnose(turn, stream.NoSlot, "CODING_BROKEN", stream.Error, "the body cannot be decoded: "+err.Error()))
}

// feed frames new bytes of the response, once the framing is known.
func (x *Exchange) feed(p []byte) {
	if x.framer == nil {
		if x.first != nil && !x.first.told(p) {
			return
		}
		all := x.Response.Bytes(0, x.Response.Size())
		if x.chooseFraming(all, false) {
			x.first = nil
			x.frameAll()
		} else if x.first == nil && beginsObject(all) {
			x.first = new(firstObject)
			x.first.told(all)
		}
		return
	}
	x.framer.Write(p, x.onFrame)
}

// frameAll frames the bytes that waited for a framing, as of when they came.
func (x *Exchange) frameAll() {
	now := x.at
	for n := range x.Response.Records() {
		var p []byte
		p, x.at = x.Response.Record(n)
		x.framer.Write(p, x.onFrame)
	}
	x.at = now
}

func (x *Exchange) chooseFraming(head []byte, ended bool) bool {
	contentType := ""
	if v := x.Head.Header["Content-Type"]; len(v) > 0 {
		contentType = v[0]
	}
	f, ok := sniffFraming(contentType, head, ended)
	if isWebSocket(x.Head) && beginsObject(head) {
		f, ok = framing{"WebSocket messages", new(stream.Values)}, true
	}
	x.Framing, x.framer = f.name, f.framer
	return ok
}

// end closes the exchange: nothing more comes.
func (x *Exchange) end() {
	if x.Ended {
		return
	}
	x.Ended = true
	if x.chain != nil {
		rest, err := x.chain.Close()
		x.body(rest)
		x.decoded(err)
	}
	if x.framer == nil {
		if all := x.Response.Bytes(0, x.Response.Size()); x.chooseFraming(all, true) {
			x.frameAll()
		}
	}
	if x.framer != nil {
		x.framer.Close(x.onFrame)
	}
	if x.decoder == nil {
		x.choose(dialect.Evidence{}, true)
	}
	x.checkStatus()
	if x.decoder != nil {
		x.decoder.Close(x.onEvent)
		x.closeLast()
	}
}

// checkStatus makes an HTTP error of a response that does not tell one itself:
// an empty body, a gateway's page.
func (x *Exchange) checkStatus() {
	if x.Head.Status < 400 {
		return
	}
	for _, number := range x.turns {
		if t := x.in.Session().Turn(number); t.Failure != "" {
			return
		}
	}
	if x.decoder == nil {
		x.Dialect, x.Why, x.decoder = &unknown, "no body", &unknownDecoder{empty: true}
	}
	x.emit(stream.Event{Kind: stream.Failure, Turn: x.lastTurn(), Text: fmt.Sprintf("HTTP status %d, and nothing that says why", x.Head.Status),
		More: &stream.Detail{ID: fmt.Sprint(x.Head.Status)}})
}

// closeLast ends a turn of which the decoder knows nothing: one that had
// nothing but frames that do not decode.
func (x *Exchange) closeLast() {
	if n := len(x.turns); n > 0 && x.decoder.Turn() == stream.NoTurn && !x.in.Session().Turn(x.turns[n-1]).Closed() {
		x.emit(stream.Event{Kind: stream.TurnClose, Turn: int32(n - 1), Code: stream.CloseCut})
	}
}

// take handles one frame as it is completed.
func (x *Exchange) take(f stream.Frame) {
	n := x.Response.EndFrame(f.End)
	f = unwrap(f)
	if x.decoder == nil {
		f.Event, f.Data = bytes.Clone(f.Event), bytes.Clone(f.Data)
		x.pending = append(x.pending, held{f, n, x.at})
		if f.Kind == stream.FrameData {
			x.choose(dialect.Evidence{Event: f.Event, Data: f.Data}, false)
		}
		return
	}
	x.decode(f, n)
}

// patience is how many data frames may pass before a weak sign of a dialect is
// enough, or the stream is shown as of no known dialect.
const patience = 16

// choose decides on a dialect if the evidence suffices, and has it decode the
// frames that waited.
func (x *Exchange) choose(e dialect.Evidence, last bool) {
	e.Path, e.Header = pathOf(x.Head.URL), x.Head.Header
	best, score := recognise(e)
	if d := x.in.forcedFor(x.Number); d != nil {
		best, score = d, dialect.Score{Points: dialect.Sure, Why: "as you said"}
	}
	if e.Data != nil {
		x.waiting++
	}
	last = last || x.waiting >= patience
	for i := 0; last && best == nil && i < len(x.pending); i++ {
		best, score = recognise(dialect.Evidence{Event: x.pending[i].frame.Event, Data: x.pending[i].frame.Data})
	}
	var seen *dialect.Dialect
	if best == nil {
		seen = seenIn(e)
	}
	switch {
	case best != nil && (score.Points >= dialect.Likely || last):
	case seen != nil:
		best, score = seen, dialect.Score{Why: "the shape of a frame"}
	case last && len(x.pending) > 0:
		best, score = &unknown, dialect.Score{Why: "nothing in it is known"}
	default:
		return
	}
	x.Dialect, x.Why, x.decoder = best, score.Why, best.New()
	x.clock, _ = x.decoder.(dialect.Clock)
	pending, at := x.pending, x.at
	x.pending = nil
	for _, h := range pending {
		x.at = h.at
		x.decode(h.frame, h.number)
	}
	x.at = at
}

// decode has the dialect read one frame.
func (x *Exchange) decode(f stream.Frame, number int32) {
	x.frame = number
	switch {
	case f.Kind == stream.FrameResidue:
		x.fault(f.Why)
		return
	case f.Kind != stream.FrameData:
		x.emit(stream.Event{Kind: stream.Heartbeat, Turn: x.decoder.Turn()})
		return
	}
	if f.Failed {
		x.failure(f)
		return
	}
	switch err := x.decoder.Decode(f, x.onEvent); {
	case err != nil && f.Cut:
		x.fault(fmt.Sprintf("the stream was cut inside it (%v)", err))
	case err != nil:
		x.fault(err.Error())
	case f.Cut && x.Framing == "SSE":
		x.emit(dialect.Diagnose(x.lastTurn(), stream.NoSlot, "UNTERMINATED_FRAME", stream.Info,
			"the last event has no blank line after it: browsers and some SDKs drop it"))
	}
}

// failure reports a frame that the framing itself marks as an error.
func (x *Exchange) failure(f stream.Frame) {
	message := dialect.Raw(f.Data).Get("message").Text()
	if message == "" {
		message = string(f.Data)
	}
	x.emit(stream.Event{Kind: stream.Failure, Turn: x.lastTurn(), Text: message, More: &stream.Detail{ID: string(f.Event)}})
}

// askedModel is the model the request asks for, where the response cannot tell.
func (x *Exchange) askedModel() string {
	if x.Dialect.Model == nil {
		return ""
	}
	return x.Dialect.Model(pathOf(x.Head.URL), x.request())
}

// fault says that the frame does not decode.
func (x *Exchange) fault(why string) {
	x.emit(stream.Event{Kind: stream.Fault, Turn: x.lastTurn(), Text: why})
}

// lastTurn is the open turn, or else the last one; the first before there is any.
func (x *Exchange) lastTurn() int32 {
	if t := x.decoder.Turn(); t != stream.NoTurn {
		return t
	}
	return int32(max(0, len(x.turns)-1))
}

// emit stamps an event and adds it to the timeline. The first event of a turn
// opens it, whatever it is.
func (x *Exchange) emit(e stream.Event) {
	e.At, e.Frame = x.at, x.frame
	if x.clock != nil && e.At == stream.NoTime {
		e.At = x.clock.Now()
	}
	if e.Turn == stream.NoTurn && e.Kind == stream.Unknown {
		e.Turn = x.lastTurn() // so that there is a place to see it
	}
	if e.Turn != stream.NoTurn {
		for int(e.Turn) >= len(x.turns) {
			x.turns = append(x.turns, x.in.turns)
			x.in.turns++
			if e.Kind != stream.TurnOpen {
				x.emit(stream.Event{Kind: stream.TurnOpen, Turn: int32(len(x.turns) - 1), More: new(stream.Detail)})
			}
		}
		e.Turn = x.turns[e.Turn]
	}
	if e.Kind == stream.TurnOpen {
		e.More.Exchange, e.More.Dialect = x.Number, x.Dialect.Name
		if e.More.Model == "" {
			e.More.Model = x.askedModel()
		}
	}
	x.in.Timeline.Append(e)
	if e.Kind == stream.CallOpen || len(x.check.watches) > 0 {
		x.watch(e)
	}
}
