package providers

import (
	"errors"
	"slices"
	"time"

	"toolscope/providers/coding"
	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// An Exchange is one request and its response, as far as they have come.
type Exchange struct {
	Number  int
	Head    *stream.Head     // of the response; Method and URL also when only the request told; it never changes
	Coding  string           // the codings that were undone: "gzip", "chunked, br"
	Framing string           // how the response is framed, "" while unknown
	Dialect *dialect.Dialect // nil while unknown
	Why     string           // what gave the dialect away
	Ended   bool

	in      *Inspector
	from    stream.Location // where all its records stand
	turns   []int32         // timeline numbers of the decoder's turns
	times   []time.Duration // by turn: when the request began that it answers, or NoTime; nil if none is known
	stood   replay.Asked    // its place in its conversation, once observed
	why     string          // it ended, where that was not as it should be
	client  string          // the program that asks, as far as its header tells
	at      time.Duration
	headAt  time.Duration // when the head of the response came, or NoTime
	ahead   time.Duration // of the inspector's epoch: the time that its own times count from
	timed   bool          // ahead is known
	holds   int64         // bytes, as long as it may be let go of
	sum     uint64        // while it is cold: of what came
	known   known
	pinned  int32        // how often turns of it are pinned
	passing bool         // some of its records stand nowhere
	begun   bool         // bytes of the response have come
	own     bool         // toolscope answered, not a provider
	closing bool         // nothing more comes
	by      stream.Party // who ended it, 0 if that is not known
	aside   bool         // it is pinned, and its line goes on without it
	cold    bool         // it was let go of, and can be read again
	dropped bool         // it was let go of for good

	*reading
}

// held is a frame kept until the dialect is known, or a gap between two such frames.
type held struct {
	frame  stream.Frame
	number int32
	at     time.Duration
	missed int64 // bytes of a gap
}

// Broke says, in words, why the exchange ended, "" where it ended as it should.
func (x *Exchange) Broke() string { return x.why }

// Own reports whether toolscope gave the answer itself: no provider did.
func (x *Exchange) Own() bool { return x.own }

// learn merges what is newly known from outside the bytes.
func (x *Exchange) learn(h *stream.Head) {
	now := *x.Head
	if h.File != "" {
		now.File, now.Run, now.Origin = h.File, h.Run, h.Origin
	}
	if h.Method != "" {
		now.Method = h.Method
	}
	if h.URL != "" {
		now.URL = h.URL
	}
	if h.Wrappers != "" {
		now.Wrappers = h.Wrappers
	}
	now.EndUnknown, now.ResponseFromHistory = now.EndUnknown || h.EndUnknown, now.ResponseFromHistory || h.ResponseFromHistory
	now.EventNamesUnknown = now.EventNamesUnknown || h.EventNamesUnknown
	now.Incremental, now.CutLines = now.Incremental || h.Incremental, now.CutLines || h.CutLines
	now.Reconstructed = now.Reconstructed || h.Reconstructed
	for _, lack := range h.Lacks {
		if !slices.Contains(now.Lacks, lack) {
			now.Lacks = append(slices.Clip(now.Lacks), lack)
		}
	}
	if h.Status != 0 {
		now.Status, now.Header = h.Status, h.Header
		x.known.status = x.in.told()
	}
	x.Head = x.in.heads.same(&now)
	if h.Method != "" {
		x.asked(h)
	}
}

// receiveEach takes the bytes of the response that a record has, each piece as of when it came.
func (x *Exchange) receiveEach(r *stream.Record) {
	if len(r.Chunks) == 0 {
		x.receive(r.Data)
		return
	}
	from := 0
	for _, p := range r.Chunks {
		if x.at = p.At; x.at > 0 {
			x.at = x.at.Truncate(time.Microsecond)
		}
		x.receive(r.Data[from:p.End:p.End])
		from = p.End
	}
}

// receive takes bytes of the response as they came.
func (x *Exchange) receive(p []byte) {
	if !x.begun {
		x.begun = true
		chain, err := coding.New(x.Head.Header)
		if x.chain = chain; err != nil && !coding.IsText(p) {
			x.trouble = err
		}
	}
	if x.chain == nil {
		x.Response.AppendOwned(p, x.at)
		x.feed(p)
		return
	}
	x.Sent.AppendOwned(p, x.at)
	if x.gap.undecoded {
		return
	}
	for piece := range slices.Chunk(p, sentAtOnce) {
		body, err := x.chain.Write(piece)
		x.body(body)
		x.noteCodings(err)
	}
	if x.chain.Plain() {
		x.chain, x.Sent = nil, stream.Wire{}
	}
}

// sentAtOnce is how many bytes as sent are decoded at a time, before the result is read: a few
// bytes can decode to very many.
const sentAtOnce = 64 << 10

// noteCodings notes what the codings did.
func (x *Exchange) noteCodings(err error) {
	x.Coding = x.chain.Name()
	if err != nil && !x.broken {
		x.broken, x.trouble, x.bomb = true, err, errors.Is(err, coding.ErrExpands)
		x.tellTrouble()
	}
}

// body takes bytes of the response's body.
func (x *Exchange) body(p []byte) {
	if len(p) > 0 {
		x.Response.Append(p, x.at)
		x.feed(p)
	}
}

// tellTrouble says that the body cannot be decoded further, once there is a turn to say it of.
func (x *Exchange) tellTrouble() {
	turn := stream.NoTurn
	switch {
	case x.trouble == nil, len(x.turns) == 0 && !x.Ended:
		return
	case x.bomb && x.decoder == nil: // a body that decodes to too many bytes is reported, even if it says nothing
		x.use(&silent, "no answer")
		turn = x.lastTurn()
	case x.bomb, len(x.turns) > 0:
		turn = x.lastTurn()
	}
	found := codingBroken
	if x.bomb {
		found = codingBomb
	}
	x.emit(diagnose(turn, found, "the body cannot be decoded: %s", x.trouble))
	x.trouble = nil
}

// sniffAlways is how many bytes of a body are sniffed again with each record while they do not tell
// the framing. A longer head is sniffed again only after it has grown by a quarter: so the time
// stays linear.
const sniffAlways = 4096

// feed frames new bytes of the response, once the framing is known.
func (x *Exchange) feed(p []byte) {
	switch {
	case x.own:
		return // no provider sent it
	case x.gap.seeking:
		x.seek(false)
		return
	}
	if x.framer == nil {
		size := x.Response.Size()
		if x.first != nil && !x.first.told(p) || size < x.sniffAt {
			return
		}
		all := x.Response.Bytes(0, size)
		switch {
		case x.chooseFraming(all, false):
			x.first = nil
			x.frameAll()
		case x.first != nil:
		case beginsObject(all):
			x.first = new(firstObject)
			x.first.told(all)
		case size > sniffAlways:
			x.sniffAt = size + size/4
		}
		return
	}
	x.framer.Write(p, x.onFrame)
	x.letGoOfRead()
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
	if x.chain != nil && !x.gap.undecoded {
		rest, err := x.chain.Close()
		x.body(rest)
		x.noteCodings(err)
	}
	if x.bomb && !x.cutShort() { // the rest was sent and not read: toolscope itself cut it
		x.by, x.why = stream.Toolscope, ""
	}
	x.Ended, x.closing = true, true
	switch {
	case x.own, x.gap.undecoded:
	case x.gap.seeking:
		x.seek(true)
	case x.framer == nil:
		if all := x.Response.Bytes(0, x.Response.Size()); x.chooseFraming(all, true) {
			x.frameAll()
		}
	}
	if x.framer != nil {
		x.framer.Close(x.onFrame)
	}
	if x.own || x.gap.missed > 0 {
		x.endFrame(x.Response.Size())
	}
	if x.decoder == nil {
		x.choose(dialect.Evidence{}, true)
	}
	x.observe()
	x.tellOwn()
	x.endPlain()
	x.checkStatus()
	x.tellUnanswered()
	x.tellTrouble()
	x.tellGlued()
	if x.decoder != nil {
		x.out.To(x.takeEnding)
		x.decoder.Close()
		x.closeLast()
		x.closeOpen()
		x.decoder = over{}
		x.out.Free()
	}
	x.tellNotes()
	x.rememberOpen()
	x.known.end = x.in.now()
	x.in.retire(x)
}

// closeLast ends a turn that the decoder does not know of: one of frames that do not decode, or
// that it does not know.
func (x *Exchange) closeLast() {
	n := int32(len(x.turns) - 1)
	if n < 0 || x.out.Current().Number() != stream.NoTurn {
		return
	}
	turn := x.in.Session().Turn(x.turns[n])
	if turn.Closed() {
		return
	}
	if len(turn.Findings) == 0 && !turn.HasGap() && !x.cutShort() {
		x.emit(diagnose(n, dialectUnknown,
			"no frame says anything in %s: shown as they came, not interpreted", x.Dialect.Title))
	}
	x.emit(stream.Event{Kind: stream.TurnClose, Turn: n, Code: stream.CloseCut})
}

// over is the decoder of an exchange that has ended. It takes the place of the real one, whose
// memory is freed.
type over struct{}

func (over) Frame(stream.Frame) error { return nil }
func (over) Close()                   {}
