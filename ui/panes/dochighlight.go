package panes

import (
	"encoding/json"
	"math"
	"path"
	"sort"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"toolscope/ui/screen"
)

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

// colours are the highlighting of a text, from its start on.
type colours struct {
	kind  string // the type of the text
	spans []colourSpan
	done  int            // bytes that are highlighted: complete lines
	ink   *screen.Paints // the paints of the spans
	busy  *highlightJob  // the running job
}

// colourSpan is a span of one colour, given by its end.
type colourSpan struct {
	end int
	on  screen.Paint
}

// highlightJob is a highlighting that runs in the background.
type highlightJob struct {
	ink *screen.Paints
	end int
}

// Chroma handles about 2 MB/s and always starts at the beginning. So long texts are not highlighted. All
// but short texts are highlighted again only after they have grown by an eighth.
const (
	maxHighlight = 256 << 10
	shortText    = 16 << 10
)

// colourAt returns the paint of the byte at off, and where it ends.
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

// Colour starts to highlight the complete lines, unless that is already done or running with these paints.
func (r *TextReader) Colour(ink *screen.Paints, do func(func() func())) {
	end := r.lineEnd()
	if end == 0 || end > maxHighlight || r.busy != nil && r.busy.ink == ink || r.done == end && r.ink == ink ||
		r.ink == ink && !r.Complete && end > shortText && end-r.done < r.done/8 {
		return
	}
	asked, text, hint := &highlightJob{ink, end}, string(r.text[:end]), r.hint
	r.busy = asked
	do(func() func() {
		kind, spans := highlightText(text, hint, ink)
		return func() {
			if r.busy == asked { // the text is still the same
				r.colours = colours{kind, spans, end, ink, nil}
			}
		}
	})
}

// highlightText highlights a text. If the lexer alters the text, as some do, it stays plain.
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
			break // an extra line end
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
