package panes

import (
	"bytes"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// TextReader shows text with line numbers: code, a diff, shell, Markdown, or plain lines. The text can grow, and only
// new bytes are laid out. Highlighting comes later: it runs in the background and covers complete lines.
type TextReader struct {
	screen.Window
	Size     int  // number of bytes, before tabs were replaced
	Complete bool // the text no longer grows

	hint  ContentHint
	text  []byte // tabs are replaced by spaces
	lines []int  // the offset where each line begins
	prose *layout.Text
	hits  Hits
	colours
}

// NewTextReader returns a reader of a complete text.
func NewTextReader(text string, h ContentHint) TextReader {
	r := TextReader{hint: h, Complete: true}
	r.Add([]byte(text))
	return r
}

// numbers is the number of cells before a line, for the cursor and the last digits of the line number.
const numbers = 6

// Kind returns the type of the text, such as Go or JSON, or "text" if it is unknown.
func (r *TextReader) Kind() string {
	if r.kind == "" {
		return "text"
	}
	return r.kind
}

// Lines returns the number of lines, at least 1.
func (r *TextReader) Lines() int { return max(1, len(r.lines)) }

// Add appends to the text.
func (r *TextReader) Add(more []byte) {
	r.Size += len(more)
	r.text = append(r.text, bytes.ReplaceAll(more, []byte("\t"), []byte("    "))...)
	if len(r.lines) == 0 {
		r.lines = append(r.lines, 0)
	}
	for at := r.lines[len(r.lines)-1]; ; {
		n := bytes.IndexByte(r.text[at:], '\n')
		if n < 0 {
			return
		}
		at += n + 1
		r.lines = append(r.lines, at)
	}
}

// LayOut lays out the new bytes, for w × h cells.
func (r *TextReader) LayOut(w, h int, draw display.Drawer) {
	if w = max(1, w-numbers-1); r.prose == nil || r.prose.Width() != w {
		off := r.Offset()
		r.prose = layout.NewProse(w, draw)
		defer func() {
			if !r.Stick {
				r.Show(off)
			}
		}()
	}
	r.prose.Extend(r.text, r.Complete)
	r.Resize(max(1, len(r.prose.Rows())), max(h, 1))
}

// Offset returns the byte offset of the cursor.
func (r *TextReader) Offset() int {
	if r.prose == nil || len(r.prose.Rows()) == 0 {
		return 0
	}
	return int(r.prose.Rows()[min(r.At, len(r.prose.Rows())-1)].Start)
}

// Show moves the cursor to the row of the byte at off. If the row is not visible, it is centred.
func (r *TextReader) Show(off int) {
	if len(r.prose.Rows()) == 0 {
		return
	}
	if row := r.prose.RowAt(off); row < r.Top || row >= r.Top+r.Height {
		r.Center(row)
	} else {
		r.MoveTo(row)
	}
}

// Find returns the offsets at which query occurs in the text, and keeps them for drawing.
func (r *TextReader) Find(query string) []int {
	r.hits = Hits{length: len(query)}
	if query != "" {
		r.hits.at = FindAll(r.text, query)
	}
	return r.hits.at
}

// Draw draws row y. After the last byte, it draws the parameter end, in the role given by as.
func (r *TextReader) Draw(p *screen.Pen, y int, end display.Text, as screen.Role) {
	n, rows := r.Top+y, r.prose.Rows()
	if n == 0 && len(rows) == 0 {
		p.Spaces(screen.Bare, numbers)
		p.Text(as, end)
	}
	if n >= len(rows) {
		return
	}
	mark := display.Lit(" ")
	if n == r.At {
		mark = p.Glyph.Mark
	}
	p.Text(screen.Accent, mark)
	row := rows[n]
	if row.Wrapped {
		p.Spaces(screen.Bare, numbers-1+max(0, int(row.Indent)-2))
		p.Text(screen.Muted, p.Glyph.Wraps.Between("", " "))
	} else {
		number := p.Format("%4d", sort.SearchInts(r.lines, int(row.Start)+1)%100_000)
		p.Text(screen.Muted, number)
		p.Spaces(screen.Bare, numbers-1-number.Width())
	}
	r.drawText(p, int(row.Start), int(row.End))
	if n == len(rows)-1 {
		p.Text(as, end)
	}
}

// drawText draws bytes of the text, without the line break.
func (r *TextReader) drawText(p *screen.Pen, off, end int) {
	end = off + len(screen.TrimEnd(r.text[off:end]))
	for off < end && p.Left > 0 {
		until, hit := end, false
		for _, at := range r.hits.hitsNear(off) {
			switch stop := at + r.hits.length; {
			case at <= off && off < stop:
				until, hit = min(until, stop), true
			case at > off:
				until = min(until, at)
			}
		}
		paint, stop := r.colourAt(off)
		until = off + unitEnd(p.Drawer, r.text[off:end], min(until, stop)-off)
		text := p.CleanBytes(r.text[off:until])
		if hit {
			p.TextOn(screen.Plain, screen.Match, text)
		} else {
			p.Paint(paint, text)
		}
		off = until
	}
}

// lexerFor guesses the type of content from its bytes, from a file name next to it, and from its key.
func lexerFor(content string, h ContentHint) chroma.Lexer {
	name := ""
	switch {
	case strings.HasPrefix(content, "diff --git") || strings.HasPrefix(content, "--- ") && strings.Contains(content, "\n+++ ") || strings.HasPrefix(content, "@@ "):
		name = "diff"
	case strings.HasPrefix(content, "*** Begin Patch"):
		name = "diff"
	case h.File != "":
		if l := lexers.Match(path.Base(h.File)); l != nil {
			return l
		}
	}
	key := strings.ToLower(h.Key)
	switch {
	case name != "":
	case key == "command" || key == "cmd" || key == "script" || strings.HasPrefix(content, "#!"):
		name = "bash"
	case json.Valid([]byte(content)) && strings.ContainsAny(content, "{["):
		name = "json"
	case strings.HasPrefix(content, "# ") || strings.Contains(content, "\n## ") || strings.Contains(content, "\n```"):
		name = "markdown"
	case key == "query" || key == "sql":
		name = "sql"
	default:
		if l := lexers.Analyse(content); l != nil {
			return l
		}
		return nil
	}
	return lexers.Get(name)
}

// colours are the highlighted spans of a text, from its start.
type colours struct {
	kind  string // the type of the text
	spans []colourSpan
	done  int            // number of highlighted bytes, in complete lines
	ink   *screen.Paints // the paints of the spans
	busy  *highlightJob  // the running job
}

// colourSpan is a span of one colour, up to the offset end. It starts at the end of the span before it.
type colourSpan struct {
	end int
	on  screen.Paint
}

// highlightJob is a highlighting job that runs in the background.
type highlightJob struct {
	ink *screen.Paints
	end int
}

// Chroma highlights about 2 MB/s and always starts at the beginning, so long texts are not highlighted.
// Except for short texts, a growing text is highlighted again only after it has grown by an eighth.
const (
	maxHighlight = 256 << 10
	shortText    = 16 << 10
)

// colourAt returns the paint of the byte at off, and the offset where that paint ends.
func (c *colours) colourAt(off int) (screen.Paint, int) {
	if off >= c.done {
		return screen.Paint{}, math.MaxInt
	}
	n := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].end > off })
	if n == len(c.spans) {
		return screen.Paint{}, c.done
	}
	return c.spans[n].on, c.spans[n].end
}

// Colour starts to highlight the complete lines, unless a job with the same paints is done or running.
func (r *TextReader) Colour(ink *screen.Paints, do func(func() func())) {
	end := len(r.text)
	if n := len(r.lines); n > 0 && !r.Complete {
		end = r.lines[n-1]
	}
	if end == 0 || end > maxHighlight || r.busy != nil && r.busy.ink == ink || r.done == end && r.ink == ink ||
		r.ink == ink && !r.Complete && end > shortText && end-r.done < r.done/8 {
		return
	}
	asked, text, hint := &highlightJob{ink, end}, string(r.text[:end]), r.hint
	r.busy = asked
	do(func() func() {
		kind, spans := highlightText(text, hint, ink)
		return func() {
			if r.busy == asked { // no other job has started, and the text has not been reset
				r.colours = colours{kind, spans, end, ink, nil}
			}
		}
	})
}

// highlightText highlights text. Some lexers alter the text. In that case, it stays plain.
func highlightText(text string, h ContentHint, p *screen.Paints) (kind string, spans []colourSpan) {
	lexer := lexerFor(text, h)
	if lexer == nil {
		return "text", nil
	}
	it, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return "text", nil
	}
	on, at := map[chroma.TokenType]screen.Paint{}, 0
	for _, tok := range it.Tokens() {
		if at == len(text) {
			break // a line break that the lexer added
		}
		if !strings.HasPrefix(text[at:], tok.Value) {
			return "text", nil
		}
		if _, ok := on[tok.Type]; !ok {
			on[tok.Type] = p.Of(p.Theme.TokenStyle(tok.Type))
		}
		at += len(tok.Value)
		spans = append(spans, colourSpan{at, on[tok.Type]})
	}
	if strings.TrimRight(text[at:], "\n") != "" {
		return "text", nil
	}
	return lexer.Config().Name, spans
}

// TextSheet shows several texts, one below the other. They are laid out once and drawn one row at a time.
type TextSheet struct {
	blocks []block
	Rows   int
	Look   int // the block to show first; LookAt is the byte in that block
	LookAt int
}

// block is one text of a sheet.
type block struct {
	caption display.Text // above the text; "" if there is none
	text    []byte
	toks    json.TokenList
	rows    []layout.Row
	pretty  bool   // indented by structure; white space between tokens is not shown
	marks   []Span // marked spans, in order
	first   int    // display row of the caption or, without a caption, of the first row of the text
}

// NewBlock lays out a text, indented or raw.
func NewBlock(caption display.Text, text []byte, raw bool, marks []Span, width int, draw display.Drawer) block {
	b := block{caption: caption, text: text, pretty: !raw, marks: marks}
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	if b.toks = lex.Tokens(); b.toks.Len() > 0 && b.toks.At(0).Kind == json.Junk {
		b.toks = json.TokenList{} // free text
	}
	if b.pretty {
		l := layout.NewJSON(width, draw)
		l.Extend(text, &lex, true)
		b.rows = l.Rows()
		return b
	}
	l := layout.NewText(width, draw)
	l.Extend(text, true)
	b.rows = l.Rows()
	return b
}

// captionRows returns the height of the caption.
func (b *block) captionRows() int {
	if b.caption.Empty() {
		return 0
	}
	return 1
}

// Add appends a block.
func (s *TextSheet) Add(b block) {
	b.first = s.Rows
	s.Rows += b.captionRows() + len(b.rows)
	s.blocks = append(s.blocks, b)
}

// LookRow returns the row of the byte that is shown first.
func (s *TextSheet) LookRow() int {
	if s.Look >= len(s.blocks) {
		return 0
	}
	b := &s.blocks[s.Look]
	n := sort.Search(len(b.rows), func(i int) bool { return int(b.rows[i].End) > s.LookAt })
	return b.first + b.captionRows() + min(n, max(0, len(b.rows)-1))
}

// Shows returns the text of a row, or nil for a caption.
func (s *TextSheet) Shows(row int) (text []byte) {
	n := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > row }) - 1
	if n < 0 || row >= s.Rows {
		return nil
	}
	b := &s.blocks[n]
	if row -= b.first + b.captionRows(); row < 0 {
		return nil
	}
	return b.text[b.rows[row].Start:b.rows[row].End]
}

// Marked reports whether a row shows marked bytes.
func (s *TextSheet) Marked(row int) bool {
	n := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > row }) - 1
	if n < 0 || row >= s.Rows {
		return false
	}
	b := &s.blocks[n]
	if row -= b.first + b.captionRows(); row < 0 {
		return false
	}
	r := b.rows[row]
	return slices.ContainsFunc(b.marks, func(m Span) bool { return m.Start < int(r.End) && int(r.Start) < m.End })
}

// Draw draws a row of the sheet. The parameter marked is the background for marked bytes.
func (s *TextSheet) Draw(p *screen.Pen, row int, marked screen.Surface) {
	n := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > row }) - 1
	if n < 0 || row >= s.Rows {
		return
	}
	b := &s.blocks[n]
	row -= b.first
	if row < b.captionRows() {
		p.Caption(screen.Muted, b.caption)
		return
	}
	b.draw(p, b.rows[row-b.captionRows()], marked)
}

// draw draws a row of the text, token by token.
func (b *block) draw(p *screen.Pen, r layout.Row, marked screen.Surface) {
	p.Spaces(screen.Bare, int(r.Indent))
	end := int(r.End)
	for off := int(r.Start); off < end && p.Left > 0; {
		until, role := end, screen.Plain
		n := tokenAt(b.toks, off)
		if n < b.toks.Len() && int(b.toks.At(n).End) > off {
			until, role = min(end, int(b.toks.At(n).End)), screen.TokenRoles[b.toks.At(n).Kind]
			if b.pretty && b.toks.At(n).Kind == json.Space {
				off = until
				continue
			}
		}
		if !b.pretty {
			until = off + unitEnd(p.Drawer, b.text[off:end], until-off)
		}
		b.drawMarked(p, role, off, until, marked)
		if b.pretty && n < b.toks.Len() && b.toks.At(n).Kind == json.Colon {
			p.Spaces(screen.Bare, 1)
		}
		off = until
	}
}

// drawMarked draws bytes of one token, split where marks begin and end.
func (b *block) drawMarked(p *screen.Pen, r screen.Role, off, end int, marked screen.Surface) {
	for off < end && p.Left > 0 {
		g, until := screen.Bare, end
		n := sort.Search(len(b.marks), func(i int) bool { return b.marks[i].End > off })
		if n < len(b.marks) {
			if m := b.marks[n]; m.Start <= off {
				g, until = marked, min(end, m.End)
			} else {
				until = min(end, m.Start)
			}
		}
		until = off + unitEnd(p.Drawer, b.text[off:end], until-off)
		drawEscapes(p, r, g, b.text[off:until])
		off = until
	}
}

// drawEscapes draws part of a token. Escapes in strings have their own colour.
func drawEscapes(p *screen.Pen, r screen.Role, g screen.Surface, b []byte) {
	if r != screen.StringToken && r != screen.KeyToken {
		p.Bytes(r, g, b)
		return
	}
	for len(b) > 0 && p.Left > 0 {
		n, as := bytes.IndexByte(b, '\\'), r
		switch {
		case n < 0:
			n = len(b)
		case n == 0:
			n, as = unitEnd(p.Drawer, b, json.EscapeLen(b)), screen.EscapeToken
		}
		p.Bytes(as, g, b[:n])
		b = b[n:]
	}
}
