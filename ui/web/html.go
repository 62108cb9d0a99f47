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

// A markup is HTML of our own. Text from outside never has this type.
type markup string

// A writer writes HTML. It keeps the first error.
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

func (h *writer) write(s string) {
	if h.err == nil {
		_, h.err = h.to.WriteString(s)
	}
}

// raw writes markup as it is.
func (h *writer) raw(s markup) *writer {
	h.write(string(s))
	return h
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// text writes text that may come from outside, on one line. The place is the content of an element, or
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

// writeStyle writes the page's style sheet. The page's policy contains its hash.
func (h *writer) writeStyle() *writer {
	h.write(styleSheet())
	return h
}

// hashOf returns the hash of a text for a Content-Security-Policy.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// writeFact writes a label and its value, if the value is not empty.
func (h *writer) writeFact(word markup, is string) {
	if is != "" {
		h.raw("<div><dt>").raw(word).raw("</dt><dd>").text(is).raw("</dd></div>")
	}
}
