package hostguard

import (
	"crypto/rand"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// markField is a request header with the marks of the toolscope servers on this machine that the request
// has passed. It shows a server that its upstream, perhaps through other servers, is the server itself.
// The field is the connection's own (RFC 9110 §7.6.1), so other proxies don't forward it.
const markField = "Toolscope-Via"

// NewMark returns the mark of a server. It is random, so it reveals nothing.
func NewMark() string { return rand.Text() }

// TakeMarks removes the marks from a request's header and returns them.
func TakeMarks(h http.Header) (marks []string) {
	values, ok := h[markField]
	if !ok {
		return nil
	}
	delete(h, markField)
	for _, v := range values {
		for mark := range strings.SplitSeq(v, ",") {
			marks = append(marks, strings.TrimSpace(mark))
		}
	}
	isOurs := func(value string) bool { return strings.EqualFold(strings.TrimSpace(value), markField) }
	if rest := slices.DeleteFunc(slices.Clone(h["Connection"]), isOurs); len(rest) > 0 {
		h["Connection"] = rest
	} else {
		delete(h, "Connection")
	}
	return marks
}

// SetMarks sets the marks of a request to an upstream, if that may be a toolscope server on this machine.
func SetMarks(h http.Header, to *url.URL, marks []string) {
	if to.Scheme == "http" && isThisMachine(to.Hostname()) {
		h[markField] = []string{strings.Join(marks, ", ")}
		h["Connection"] = append(h["Connection"], markField)
	}
}

// isThisMachine reports whether a connection to a host name or address can only stay on this machine. The
// address 0.0.0.0 leads to the loopback.
func isThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return IsLoopback(host) || err == nil && addr.Unmap().IsUnspecified()
}
