// Package web writes a capture as one HTML page that needs no other file.
//
//	Page ─▶ Write ─▶ a head with its style, a section per turn, an article per call
//
// The page fetches nothing and runs no code. Its Content-Security-Policy allows only the page's own style
// sheet, which it names by hash. All text from outside goes through writeEscaped, which sanitises and escapes
// it. A state is always shown as a word, never only as a colour.
package web

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// A Page is the content of a page.
type Page struct {
	Name     string // path of the capture, as the user wrote it; the page shows only the last element
	Turns    []Turn
	Redacted bool // secrets were removed
	Partial  bool // the page leaves out some turns or calls in the capture
	In       *providers.Inspector
	Prices   *price.Table
}

// A Turn is a turn in the capture, with the calls that the page shows.
type Turn struct {
	*stream.Turn
	Calls []*stream.Call
}

// Write writes the page.
func Write(to io.Writer, p *Page) error {
	h := &writer{to: bufio.NewWriter(to)}
	name := filepath.Base(p.Name)
	h.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	sum := sha256.Sum256([]byte(styleSheet()))
	h.raw(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '`).text("sha256-" + base64.StdEncoding.EncodeToString(sum[:])).raw("'; base-uri 'none'; form-action 'none'\">\n")
	h.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	h.raw("<title>").text(name).raw(" – toolscope</title>\n<style>")
	h.write(styleSheet())
	h.raw("</style>\n</head>\n<body>\n")
	h.raw(`<a class="skip" href="#turns">Skip to the turns</a>`).raw("\n<header><h1>").text(name).raw("</h1>\n")
	if p.Redacted {
		h.raw("<p>toolscope removed the keys and other secrets that it found.</p>\n")
	}
	if p.Partial {
		h.raw("<p>This page shows only part of the capture.</p>\n")
	}
	h.raw("</header>\n")
	h.writeOverview(p)
	h.raw(`<main id="turns">`)
	for i := range p.Turns {
		h.writeTurn(p, &p.Turns[i])
	}
	h.raw("</main>\n<footer><p>Written by toolscope. This page fetches nothing and runs no code.</p></footer>\n</body>\n</html>\n")
	if h.err == nil {
		h.err = h.to.Flush()
	}
	return h.err
}

// writeOverview writes the totals and a list of the turns.
func (h *writer) writeOverview(p *Page) {
	calls, bad, findings := 0, 0, 0
	var total price.Sum
	for _, t := range p.Turns {
		total.Add(present.CostOf(p.Prices, p.exchangeOf(t.Turn), t.Turn))
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
	h.writeFact("cost", total.Dated())
	h.raw("</dl>\n<ol class=\"turns\">\n")
	for _, t := range p.Turns {
		h.raw(`<li><a href="#`).text(turnID(t.Turn)).raw(`">turn `).writeInt(int(t.Number) + 1).raw(" ").text(turnTitle(p, t.Turn)).raw("</a> ")
		h.writeState(screen.TurnLook(t.Turn))
		for _, c := range t.Calls {
			h.raw(` <span class="brief">`).text(present.CallName(c.Name)).raw(" ")
			h.writeStatus(c)
			h.raw("</span>")
		}
		h.raw("</li>\n")
	}
	h.raw("</ol></nav>\n")
}

func (p *Page) exchangeOf(t *stream.Turn) *providers.Exchange { return p.In.Exchange(t.Exchange) }

// turnTitle returns a short title for a turn.
func turnTitle(p *Page, t *stream.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return present.TurnTitle(p.exchangeOf(t), t)
}

// A markup is HTML from toolscope itself. Text from outside never has this type.
type markup string

// A writer writes HTML. It keeps the first error.
type writer struct {
	to    *bufio.Writer
	err   error
	clean []byte // buffer for sanitised text, reused
}

func (h *writer) write(s string) {
	if h.err == nil {
		_, h.err = h.to.WriteString(s)
	}
}

// raw writes markup without escaping it.
func (h *writer) raw(s markup) *writer {
	h.write(string(s))
	return h
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// text writes text that may come from outside, on one line. The output is valid in an element's content and
// between the quotes of an attribute.
func (h *writer) text(s string) *writer {
	h.writeEscaped([]byte(s))
	return h
}

func (h *writer) writeEscaped(b []byte) {
	h.clean = display.Drawer{}.AppendClean(h.clean[:0], b)
	if h.err == nil {
		_, h.err = escaper.WriteString(h.to, string(h.clean))
	}
}

// lines writes text that may come from outside, with its line breaks.
func (h *writer) lines(b []byte) *writer {
	for i, line := range bytes.Split(b, []byte("\n")) {
		if i > 0 {
			h.write("\n")
		}
		h.writeEscaped(line)
	}
	return h
}

func (h *writer) writeInt(n int) *writer {
	h.write(strconv.Itoa(n))
	return h
}

// writeFact writes a label and its value. It writes nothing if the value is empty.
func (h *writer) writeFact(word, is string) {
	if is != "" {
		h.raw("<div><dt>").text(word).raw("</dt><dd>").text(is).raw("</dd></div>")
	}
}

// A colourPair is a colour for light pages and a colour for dark pages.
type colourPair struct{ name, light, dark string }

// These are the page's backgrounds and text colours. Each text colour has a contrast of at least 4.5:1 on
// each background.
var (
	grounds = []colourPair{{"ground", "#ffffff", "#0d1117"}, {"panel", "#f6f8fa", "#161b22"}, {"wrong", "#ffebe9", "#3d0d12"}}
	inks    = []colourPair{
		{"ink", "#1f2328", "#e6edf3"}, {"muted", "#57606a", "#9ea7b1"}, {"link", "#0550ae", "#79c0ff"},
		{"good", "#116329", "#7ee787"}, {"caution", "#7d4e00", "#e3b341"}, {"bad", "#a40e26", "#ffa198"},
		{"key", "#0550ae", "#79c0ff"}, {"string", "#0a3069", "#a5d6ff"}, {"number", "#953800", "#ffab70"}, {"word", "#6639ba", "#d2a8ff"},
	}
	// lines are colours that are not used for text. Their contrast is at least 3:1.
	lines = []colourPair{{"line", "#818b98", "#6e7681"}, {"wait", "#818b98", "#6e7681"}, {"busy", "#0969da", "#4493f8"}, {"still", "#9a6700", "#d29922"}, {"seal", "#1f2328", "#e6edf3"}}
)

// styleSheet returns the page's style sheet.
func styleSheet() string {
	var light, dark strings.Builder
	for _, all := range [][]colourPair{grounds, inks, lines} {
		for _, t := range all {
			light.WriteString("--" + t.name + ":" + t.light + ";")
			dark.WriteString("--" + t.name + ":" + t.dark + ";")
		}
	}
	return "\n:root{color-scheme:light dark;" + light.String() + "}\n@media (prefers-color-scheme:dark){:root{" + dark.String() + "}}\n" + rules
}

const rules = `*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-999rem}
.skip:focus{position:static}
h1,h2,h3{line-height:1.25;margin:0 0 .5rem}
h1{font-size:1.5rem}h2{font-size:1.25rem}h3{font-size:1.0625rem;font-family:ui-monospace,monospace}
section{border-top:1px solid var(--line);margin-top:2rem;padding-top:1rem}
article{background:var(--panel);border:1px solid var(--line);border-radius:.375rem;margin:1rem 0;padding:.75rem}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0 0 .75rem}
.facts div{display:flex;gap:.375rem}
dt{color:var(--muted);flex:none}dd{margin:0}
.turns{padding-left:1.5rem}.turns li{margin:.25rem 0}
.brief{font-family:ui-monospace,monospace;font-size:.875rem;margin-left:.5rem}
.state{font-weight:600;white-space:nowrap}
.good{color:var(--good)}.caution{color:var(--caution)}.bad{color:var(--bad)}.muted{color:var(--muted)}
pre{background:var(--ground);border:1px solid var(--line);border-radius:.25rem;font:.875rem/1.45 ui-monospace,monospace;margin:.5rem 0;padding:.5rem;white-space:pre-wrap}
.k{color:var(--key)}.s{color:var(--string)}.n{color:var(--number)}.w{color:var(--word)}.p{color:var(--muted)}
mark{background:var(--wrong);color:var(--bad);text-decoration:underline wavy}
.findings{list-style:none;margin:.5rem 0;padding:0}.findings li{border-left:.25rem solid var(--line);margin:.375rem 0;padding-left:.5rem}
.findings .error{border-color:var(--bad)}.findings .warn{border-color:var(--caution)}
code{font-family:ui-monospace,monospace;font-size:.875rem}
summary{cursor:pointer;padding:.25rem 0}
.time{list-style:none;margin:0 0 .25rem;padding:0}
.time li{display:grid;gap:0 .75rem;grid-template-columns:12rem 1fr;align-items:center;margin:.25rem 0}
.time svg{display:block;height:1.125rem;width:100%;background:var(--panel)}
.time .when{color:var(--muted);font-size:.875rem;grid-column:2}
.axis{color:var(--muted);display:flex;font-size:.875rem;justify-content:space-between;margin:0 0 .75rem 12.75rem}
.wait{fill:var(--wait)}.busy{fill:var(--busy)}.still{fill:var(--still)}.seal{fill:var(--seal)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.875rem}
caption{text-align:left;padding:.25rem 0}
th,td{border:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top;overflow-wrap:normal}
thead th{background:var(--panel)}
@media (max-width:40rem){body{padding:.75rem}.time li{grid-template-columns:1fr}.time .when{grid-column:1}.axis{margin-left:0}}
@media print{.skip{display:none}article{break-inside:avoid}}
`
