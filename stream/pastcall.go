package stream

import (
	"slices"
	"time"
)

// trim gives back room that no more is expected for.
func (c *Call) trim() {
	c.args.trim()
	c.deltas.trim()
	c.lex.toks.trim()
}

// page is what grows with the arguments of a call.
type page struct {
	args   growing
	deltas trail[Delta]
	toks   trail[Token]
	from   int
}

func (c *Call) page() page { return page{c.args, c.deltas, c.lex.toks, c.from} }

// turnPage keeps what is there now, which is going to be replaced: the past still needs it.
func (c *Call) turnPage() {
	c.keepBase()
	c.pages = append(c.pages, c.page())
}

// pastCall is a call as it was at the checkpoints after era, up to at.
type pastCall struct {
	base   *Call // the call with all the rest, if that changed before the next version
	before *pastCall
	half   string
	lex    lexed

	firstArgAt, sealedAt, lastArgAt          time.Duration
	at, era                                  int32
	args, deltas, turned                     uint32 // turned: pages
	findings, told, sentBack, got            uint32
	closedBy, copies, repeated               int32
	sealedBy, sealEvent                      int32
	argsFrame, argsFrom                      int32
	reached                                  uint16
	phase                                    Phase
	answered                                 Code
	countedAs                                Status
	counted, stopped, frozen, settled, wrong bool
}

func (c *Call) setAside(at int32) *pastCall {
	return &pastCall{
		before: c.before, half: c.half, lex: c.lex.setAside(), firstArgAt: c.FirstArgAt, sealedAt: c.SealedAt, lastArgAt: c.LastArgAt,
		at: at, era: c.era, args: uint32(len(c.args.s)), deltas: uint32(c.deltas.n), turned: uint32(len(c.pages)),
		findings: uint32(len(c.Findings)), told: uint32(len(c.told)), sentBack: uint32(len(c.SentBack)), got: uint32(len(c.Got)),
		closedBy: c.ClosedBy, copies: int32(c.Copies), repeated: c.repeated, sealedBy: c.sealedBy, sealEvent: c.sealEvent,
		argsFrame: c.argsFrame, argsFrom: c.argsFrom, reached: c.reached, phase: c.phase, answered: c.Answered,
		countedAs: c.countedAs, counted: c.counted, stopped: c.stopped, frozen: c.frozen, settled: c.settled, wrong: c.broken,
	}
}

func (p *pastCall) bytes() int {
	if p.before != nil && p.before.base != nil {
		return oldCallSize + callSize
	}
	return oldCallSize
}

// keepBase says that something of the call is about to change that its versions do not have.
func (c *Call) keepBase() {
	if p := c.before; p != nil && p.base == nil {
		base := *c
		own := *c.writing
		own.args, own.deltas, own.pages, own.lex = growing{}, trail[Delta]{}, nil, Lexer{err: c.lex.err}
		base.writing = &own
		base.before = nil
		p.base = &base
	}
}

// asOf is the call as it was at a checkpoint, after n events.
func (c *Call) asOf(era int32, n int) *Call {
	if c.era < era {
		return c
	}
	p, base := c.before, c
	for ; ; p = p.before {
		if p.base != nil {
			base = p.base
		}
		if p.era < era {
			break
		}
	}
	then, own, at := *base, *base.writing, c.page()
	then.writing = &own
	if int(p.turned) < len(c.pages) {
		at = c.pages[p.turned]
	}
	then.before = nil
	then.args, then.deltas, then.from = at.args.upto(int(p.args)), trail[Delta]{at.deltas.of, int(p.deltas)}, at.from
	then.pages = slices.Clip(c.pages[:p.turned])
	then.lex = p.lex.on(at.toks, &base.lex, int(p.args), c.freeform)
	p.over(&then)
	then.Findings, then.told = base.Findings[:p.findings:p.findings], base.told[:p.told:p.told]
	then.SentBack, then.Got = c.SentBack[:p.sentBack:p.sentBack], c.Got[:p.got:p.got]
	for i := range then.runs {
		if int(then.runs[i].event) >= n {
			then.runs[i] = run{}
		}
	}
	return &then
}

// over sets what the version says.
func (p *pastCall) over(c *Call) {
	c.half, c.FirstArgAt, c.SealedAt, c.LastArgAt = p.half, p.firstArgAt, p.sealedAt, p.lastArgAt
	c.ClosedBy, c.Copies, c.repeated, c.sealedBy, c.sealEvent = p.closedBy, int(p.copies), p.repeated, p.sealedBy, p.sealEvent
	c.argsFrame, c.argsFrom, c.reached, c.phase, c.Answered = p.argsFrame, p.argsFrom, p.reached, p.phase, p.answered
	c.countedAs, c.counted, c.stopped, c.frozen, c.settled, c.broken = p.countedAs, p.counted, p.stopped, p.frozen, p.settled, p.wrong
}

// lexed is what a lexer was.
type lexed struct {
	deep         []uint64 // Lexer.object, where that is more than a word
	object       uint64
	toks         uint32
	docs         int32
	depth        uint16
	last, first  TokenKind
	mode         mode
	hex, left    uint8 // left: of the word
	some, closed bool
}

func (l *Lexer) setAside() lexed {
	x := lexed{
		toks: uint32(l.toks.n), docs: int32(l.docs), depth: uint16(l.depth), last: l.last, first: l.first, mode: l.mode,
		hex: l.hex, left: uint8(len(l.word)), some: l.some, closed: l.closed,
	}
	switch {
	case l.depth > 64:
		x.deep = slices.Clone(l.object)
	case l.depth > 0:
		x.object = l.object[0]
	}
	return x
}

// on is that lexer, of a text of so many bytes. Its tokens are the first of toks; since is what it
// has become.
func (x *lexed) on(toks trail[Token], since *Lexer, size int, unread bool) Lexer {
	l := Lexer{
		toks: trail[Token]{toks.of, int(x.toks)}, last: x.last, some: x.some, pos: size, mode: x.mode, depth: int(x.depth),
		hex: x.hex, docs: int(x.docs), first: x.first, closed: x.closed,
	}
	switch {
	case x.deep != nil:
		l.object = slices.Clone(x.deep)
	case x.depth > 0:
		l.object = []uint64{x.object}
	}
	if word := words[x.last]; x.mode == inWord {
		l.word = word[len(word)-int(x.left):]
	}
	if unread {
		l.pos = 0
	} else if err := since.err; err != nil && err.Offset < size {
		l.err = err
	}
	return l
}

// words are the literals.
var words = [...]string{True: "true", False: "false", Null: "null", Junk: ""}
