package web

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strconv"
	"strings"

	"toolscope/ui/display"
)

// A literal is markup: text from outside is never one.
type literal string

// A writer writes HTML.
type writer struct {
	to    *bufio.Writer
	err   error
	clean []byte // scratch
}

func newWriter(to io.Writer) *writer { return &writer{to: bufio.NewWriter(to)} }

func (h *writer) flush() error {
	if h.err == nil {
		h.err = h.to.Flush()
	}
	return h.err
}

func (h *writer) put(s string) {
	if h.err == nil {
		_, h.err = h.to.WriteString(s)
	}
}

// raw writes markup.
func (h *writer) raw(s literal) *writer {
	h.put(string(s))
	return h
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// text writes what may have come from outside, on one line: in the content of an element, or
// between the quotes of an attribute.
func (h *writer) text(s string) *writer {
	h.bytes([]byte(s))
	return h
}

func (h *writer) bytes(b []byte) {
	h.clean = display.Drawer{}.AppendClean(h.clean[:0], b)
	if h.err == nil {
		_, h.err = escaper.WriteString(h.to, string(h.clean))
	}
}

// lines writes text with the line breaks it has.
func (h *writer) lines(b []byte) *writer {
	for i, line := range bytes.Split(b, []byte("\n")) {
		if i > 0 {
			h.put("\n")
		}
		h.bytes(line)
	}
	return h
}

func (h *writer) int(n int) *writer {
	h.put(strconv.Itoa(n))
	return h
}

// style writes the page's style, which its policy knows by its hash.
func (h *writer) style() *writer {
	h.put(style())
	return h
}

// hashOf is a text's name in a policy.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// fact is a word and what it is, if that is known.
func (h *writer) fact(word literal, is string) {
	if is != "" {
		h.raw("<div><dt>").raw(word).raw("</dt><dd>").text(is).raw("</dd></div>")
	}
}
