// Package web writes a capture as one HTML page that needs no other file.
//
//	Page ─▶ Write ─▶ a head with its style, a section per turn, an article per call
//
// The page fetches nothing and runs no code: its own policy forbids all except its style, which the policy
// names by hash. Text from outside is cleaned and then escaped; there is no other way to write it. A state
// is always a word, never only a colour.
package web

import (
	"io"
	"path/filepath"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// A Page is the content of a page.
type Page struct {
	Name     string // path of the capture, as the user wrote it; only the last part is shown
	Turns    []Turn
	Redacted bool // secrets were removed
	Partial  bool // the capture has turns or calls that the page leaves out
	In       *providers.Inspector
	Prices   *price.Table
}

// A Turn is a turn of the capture, with the calls to write.
type Turn struct {
	*stream.Turn
	Calls []*stream.Call
}

// Write writes the page.
func Write(to io.Writer, p *Page) error {
	h := newWriter(to)
	h.writeHead(p)
	h.writeOverview(p)
	h.raw(`<main id="turns">`)
	for i := range p.Turns {
		h.writeTurn(p, &p.Turns[i])
	}
	h.raw("</main>\n<footer><p>Written by toolscope. This page fetches nothing and runs no code.</p></footer>\n</body>\n</html>\n")
	return h.flush()
}

func (h *writer) writeHead(p *Page) {
	name := filepath.Base(p.Name)
	h.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	h.raw(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '`).text(hashOf(styleSheet())).raw("'; base-uri 'none'; form-action 'none'\">\n")
	h.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	h.raw("<title>").text(name).raw(" – toolscope</title>\n<style>").writeStyle().raw("</style>\n</head>\n<body>\n")
	h.raw(`<a class="skip" href="#turns">Skip to the turns</a>`).raw("\n<header><h1>").text(name).raw("</h1>\n")
	if p.Redacted {
		h.raw("<p>Keys and other secrets that toolscope found are removed.</p>\n")
	}
	if p.Partial {
		h.raw("<p>This page shows only part of the capture.</p>\n")
	}
	h.raw("</header>\n")
}

// writeOverview writes totals and a list of the turns.
func (h *writer) writeOverview(p *Page) {
	calls, bad, findings := 0, 0, 0
	var total price.Sum
	for _, t := range p.Turns {
		total.Add(p.costOf(t.Turn))
		findings += len(t.Findings)
		for _, c := range t.Calls {
			calls++
			findings += len(c.Findings)
			if screen.StatusRoles[c.Status()] == screen.Bad {
				bad++
			}
		}
	}
	h.raw(`<nav aria-label="Turns">`).raw(`<dl class="facts">`)
	h.writeFact("turns", screen.Count(len(p.Turns)).String())
	h.writeFact("calls", screen.Count(calls).String())
	h.writeFact("bad calls", screen.Count(bad).String())
	h.writeFact("findings", screen.Count(findings).String())
	h.writeFact("cost", total.String())
	h.raw("</dl>\n<ol class=\"turns\">\n")
	for _, t := range p.Turns {
		h.raw(`<li><a href="#`).text(turnID(t.Turn)).raw(`">turn `).writeInt(int(t.Number) + 1).raw(" ").text(turnTitle(p, t.Turn)).raw("</a> ")
		h.writeState(screen.TurnLook(t.Turn))
		for _, c := range t.Calls {
			h.raw(` <span class="brief">`).text(nameOf(c)).raw(" ")
			h.writeStatus(c)
			h.raw("</span>")
		}
		h.raw("</li>\n")
	}
	h.raw("</ol></nav>\n")
}

func (p *Page) exchangeOf(t *stream.Turn) *providers.Exchange { return p.In.Exchange(t.Exchange) }

func (p *Page) costOf(t *stream.Turn) price.Figure {
	head := stream.Head{}
	if x := p.exchangeOf(t); x != nil {
		head = *x.Head
	}
	return p.Prices.Turn(t, head)
}

// turnTitle returns a short title of a turn.
func turnTitle(p *Page, t *stream.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return panes.TurnTitle(p.exchangeOf(t), t)
}

func nameOf(c *stream.Call) string {
	if c.Name == "" {
		return "(no name)"
	}
	return c.Name
}

// joinWords joins the words that are not empty.
func joinWords(words ...string) string {
	var all []string
	for _, w := range words {
		if w != "" {
			all = append(all, w)
		}
	}
	return strings.Join(all, ", ")
}
