package web

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// writeCall writes a call as an article.
func (h *writer) writeCall(p *Page, t *Turn, c *stream.Call) {
	id := callID(c)
	h.raw(`<article id="`).text(id).raw(`" aria-labelledby="`).text(id).raw(`h"><h3 id="`).text(id).raw(`h">`).text(nameOf(c)).raw(" ")
	h.writeStatus(c)
	h.raw("</h3>\n<dl class=\"facts\">")
	h.writeFact("id", c.ID)
	h.writeFact("provider", c.Phase().String())
	h.writeFact("bytes", joinWords(c.Syntax().String(), screen.Bytes(len(c.Args())).String()))
	h.writeFact("deltas", screen.Count(c.Deltas()).String())
	h.writeFact("also", strings.Join(panes.AboutCall(c), ", "))
	h.raw("</dl>\n")
	h.writeArguments(c)
	h.writeFindings(c.Findings)
	h.writeRuns(t.Turn, c)
	h.writeResult(c.LatestResult())
	if !c.Discarded {
		h.writePreviews(p, t, c)
	}
	h.raw("</article>\n")
}

// writeRuns lists the programs that run the call, and when they run it.
func (h *writer) writeRuns(t *stream.Turn, c *stream.Call) {
	var say []string
	for _, x := range []stream.RunRule{stream.AtSeal, stream.AtEnd} {
		say = append(say, panes.RunBy(t, c, x)...)
	}
	if len(say) == 0 {
		return
	}
	h.raw("<details><summary>Programs that run this call, and when</summary><ul>")
	for _, who := range say {
		h.raw("<li>").text(who).raw("</li>\n")
	}
	h.raw("</ul></details>\n")
}

// maxColouredBytes is the maximum size of arguments with coloured tokens. The markup of a colour is often
// longer than the token.
const maxColouredBytes = 256 << 10

// writeArguments writes the arguments in rows, by their own tokens. Bytes that are not JSON are marked, and
// written as received.
func (h *writer) writeArguments(c *stream.Call) {
	args, tokens := c.Args(), c.Lexer().Tokens()
	if len(args) == 0 {
		return
	}
	h.raw("<pre>")
	if c.Freeform() || len(args) > maxColouredBytes || tokens.Len() == 0 {
		h.lines(args)
	} else {
		r := rows{writer: h}
		for i, tok := range tokens.All() {
			r.writeToken(tok.Kind, args[tokens.Start(i):tok.End])
		}
	}
	if role := screen.CallRole(c); role == screen.Bad || c.MayGrow() {
		h.raw(`<span class="`).raw(roles[role]).raw(`"> `).text(screen.UnicodeGlyphs.Status[c.Status()].String()).raw("</span>")
	}
	h.raw("</pre>\n")
}

// rows lays out JSON, one field per row.
type rows struct {
	*writer
	depth int
	fresh bool // a bracket was opened, and is still empty
	ended bool // an object or array was closed
}

// classes maps kinds of tokens to CSS classes.
var classes = map[stream.TokenKind]markup{
	stream.Key: "k", stream.String: "s", stream.Number: "n", stream.True: "w", stream.False: "w", stream.Null: "w",
}

// maxIndent is the maximum number of levels by which rows are indented.
const maxIndent = 24

func (r *rows) startRow() { r.write("\n" + strings.Repeat("  ", min(r.depth, maxIndent))) }

func (r *rows) writeToken(kind stream.TokenKind, piece []byte) {
	closes := kind == stream.ObjectClose || kind == stream.ArrayClose
	switch {
	case kind == stream.Space:
		return
	case kind == stream.Junk:
		r.raw("<mark>").lines(piece).raw("</mark>")
		return
	case closes:
		if r.depth--; !r.fresh {
			r.startRow()
		}
	case r.fresh || r.ended && r.depth == 0:
		r.startRow()
	}
	r.fresh, r.ended = false, closes
	switch kind {
	case stream.ObjectOpen, stream.ArrayOpen:
		r.writePunct(piece)
		r.depth++
		r.fresh = true
	case stream.Comma:
		r.writePunct(piece)
		r.startRow()
	case stream.Colon:
		r.writePunct(append(piece[:len(piece):len(piece)], ' '))
	case stream.ObjectClose, stream.ArrayClose:
		r.writePunct(piece)
	default:
		r.raw(`<span class="`).raw(classes[kind]).raw(`">`).text(string(piece)).raw("</span>")
	}
}

func (r *rows) writePunct(piece []byte) {
	r.raw(`<span class="p">`).text(string(piece)).raw("</span>")
}

// writeResult writes the result of the tool.
func (h *writer) writeResult(r *stream.SentBackCall) {
	if r == nil {
		return
	}
	h.raw("<details><summary>Result")
	if r.ResultCode == stream.ResultFailed {
		h.raw(`: <span class="bad">error</span>`)
	}
	h.raw(", ").text(screen.Bytes(r.Result.Bytes).String()).raw("</summary><pre>").lines([]byte(r.Result.Text))
	if len(r.Result.Text) < r.Result.Bytes {
		h.raw(`<span class="muted">… the rest is not kept</span>`)
	}
	h.raw("</pre></details>\n")
}
