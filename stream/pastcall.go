package stream

import "slices"

// freeSpare frees unused room once no more arguments are expected.
func (c *Call) freeSpare() {
	c.args.freeSpare()
	c.deltas.freeSpare()
	c.lex.toks.freeSpare()
}

// argsState is the part of a call that grows with its arguments.
type argsState struct {
	args   appendText
	deltas appendList[Delta]
	toks   appendList[Token]
	from   int
}

func (c *Call) argsState() argsState { return argsState{c.args, c.deltas, c.lex.toks, c.from} }

// saveArgsState saves the arguments before they are replaced, because past sessions still need them.
func (c *Call) saveArgsState() {
	c.keepBase()
	c.savedArgs = append(c.savedArgs, c.argsState())
}

// callSnapshot is a call as it was at the checkpoints after era, up to at.
type callSnapshot struct {
	base   *Call // the call with all other fields, if one of them changed before the next snapshot
	before *callSnapshot
	lex    lexerSnapshot

	callState
	deltaProgress
	at, era                            int32
	args, deltas, savedArgs            uint32 // lengths
	findings, diagnoses, sentBack, got uint32
}

func (c *Call) takeSnapshot(at int32) *callSnapshot {
	return &callSnapshot{
		before: c.before, lex: c.lex.takeSnapshot(), callState: c.callState, deltaProgress: c.deltaProgress,
		at: at, era: c.era, args: uint32(len(c.args.s)), deltas: uint32(c.deltas.n), savedArgs: uint32(len(c.savedArgs)),
		findings: uint32(len(c.Findings)), diagnoses: uint32(len(c.diagnoses)), sentBack: uint32(len(c.SentBack)), got: uint32(len(c.Runs)),
	}
}

func (p *callSnapshot) storedSize() int {
	if p.before != nil && p.before.base != nil {
		return callSnapshotSize + callSize
	}
	return callSnapshotSize
}

// keepBase keeps a copy of the call before a field changes that its snapshots do not have.
func (c *Call) keepBase() {
	if p := c.before; p != nil && p.base == nil {
		base := *c
		own := *c.callContent
		own.args, own.deltas, own.savedArgs, own.lex = appendText{}, appendList[Delta]{}, nil, Lexer{err: c.lex.err}
		base.callContent = &own
		base.before = nil
		p.base = &base
	}
}

// atCheckpoint returns the call as it was at a checkpoint, after n events.
func (c *Call) atCheckpoint(era int32, n int) *Call {
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
	then, own, at := *base, *base.callContent, c.argsState()
	then.callContent = &own
	if int(p.savedArgs) < len(c.savedArgs) {
		at = c.savedArgs[p.savedArgs]
	}
	then.before = nil
	then.args, then.deltas, then.from = at.args.prefixTo(int(p.args)), appendList[Delta]{at.deltas.of, int(p.deltas)}, at.from
	then.savedArgs = slices.Clip(c.savedArgs[:p.savedArgs])
	then.lex = p.lex.restoreLexer(at.toks, &base.lex, int(p.args), c.freeform)
	then.callState, then.deltaProgress = p.callState, p.deltaProgress
	then.Findings, then.diagnoses = base.Findings[:p.findings:p.findings], base.diagnoses[:p.diagnoses:p.diagnoses]
	then.SentBack, then.Runs = c.SentBack[:p.sentBack:p.sentBack], c.Runs[:p.got:p.got]
	for i := range then.runs {
		if int(then.runs[i].event) >= n {
			then.runs[i] = ruleRunState{}
		}
	}
	return &then
}

// lexerSnapshot is a lexer's state.
type lexerSnapshot struct {
	deep         []uint64 // Lexer.object, if it is longer than one word
	object       uint64
	toks         uint32
	docs         int32
	depth        uint16
	last, first  TokenKind
	mode         lexerState
	hex, left    uint8 // left: bytes left of the word
	some, closed bool
}

func (l *Lexer) takeSnapshot() lexerSnapshot {
	x := lexerSnapshot{
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

// restoreLexer restores the lexer, for a text of size bytes. Its tokens are the first of toks; since is
// the lexer's later state. unread is set for free text, which is not lexed.
func (x *lexerSnapshot) restoreLexer(toks appendList[Token], since *Lexer, size int, unread bool) Lexer {
	l := Lexer{
		toks: appendList[Token]{toks.of, int(x.toks)}, last: x.last, some: x.some, pos: size, mode: x.mode, depth: int(x.depth),
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

// words are the literals, by token.
var words = [...]string{True: "true", False: "false", Null: "null", Junk: ""}
