package mock

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolscope/capture/fault"
	"toolscope/stream/count"
)

// notFound answers 404 and names the known paths.
func (p *Provider) notFound(w http.ResponseWriter, r *http.Request) {
	var paths []string
	for _, e := range p.entries {
		if line := e.describeRequest(); !slices.Contains(paths, line) {
			paths = append(paths, line)
		}
	}
	const most = 20
	if n := len(paths) - most; n > 0 {
		paths = append(paths[:most], fmt.Sprintf("%d more", n))
	}
	message := fmt.Sprintf("no recorded exchange matches %s %s; there are: %s", quoteUnsafe(r.Method), escapePath(r.URL.Path), strings.Join(paths, ", "))
	fault.Error(w, http.StatusNotFound, "not_found_error", message)
}

// listExchanges answers with a list of the exchanges and faults.
func (p *Provider) listExchanges(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fmt.Fprintf(w, "toolscope serve: %d recorded exchanges\n\n", len(p.entries))
	for _, e := range p.entries {
		fmt.Fprintf(w, "%s  %s  (%s)\n", e.describeRequest(), e.About(), quoteUnsafe(e.File))
	}
	for _, f := range p.faults.All() {
		fmt.Fprintf(w, "fault: %s\n", f)
	}
}

// describeRequest returns which requests the exchange answers, as text that is safe to print.
func (x *Exchange) describeRequest() string {
	switch {
	case x.URL == "":
		return "any POST"
	case x.Socket:
		return "WebSocket " + escapePath(x.Path())
	case x.Method == "":
		return "any method " + escapePath(x.Path())
	}
	return quoteUnsafe(x.Method) + " " + escapePath(x.Path())
}

// About describes the response in a few words.
func (x *Exchange) About() string {
	switch {
	case x.isUnanswered():
		return "no response"
	case x.Socket:
		return "WebSocket, " + count.Of(len(x.Chunks), "message")
	}
	words := fmt.Sprintf("%d, %s", x.statusCode(), count.Of(len(x.Chunks), "chunk"))
	if x.EndAfter > 0 {
		words += fmt.Sprintf(" in %.1f s", x.EndAfter.Seconds())
	}
	if x.Cut {
		words += ", cut off"
	}
	return words
}

// escapePath escapes a path as in a URL: ASCII that is safe to print.
func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// quoteUnsafe quotes text that is not safe to print unquoted.
func quoteUnsafe(text string) string {
	if quoted := strconv.QuoteToASCII(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}
