package cli

import (
	"fmt"
	"strings"
	"sync"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
)

// A witness looks at records on their way to the screen, to be asked afterwards
// what failed.
type witness struct {
	mu sync.Mutex
	in providers.Inspector
}

func (w *witness) see(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.Write(coreRecord(r))
}

// end is what failed until now. Answers that have not ended yet have not failed:
// the user left them.
func (w *witness) end() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return failures(&w.in)
}

// failures are the answers that failed, a text each: the provider, the HTTP
// status, and the words it has for that.
func failures(in *providers.Inspector) (list []string) {
	for _, x := range in.Exchanges() {
		if words := failure(in, x); x.Ended && words != "" {
			list = append(list, x.Head.File+": "+words)
		}
	}
	return list
}

func failure(in *providers.Inspector, x *providers.Exchange) string {
	words, done := "", false
	for _, t := range in.Session().Turns {
		if t.Exchange != x.Number {
			continue
		}
		if t.Failure != "" && words == "" {
			words = t.Failure
		}
		switch t.Phase() {
		case stream.TurnComplete, stream.TurnTruncated, stream.TurnRejected:
			done = true
		}
	}
	status := x.Head.Status
	switch {
	case status >= 300 && status < 400:
		return fmt.Sprintf("HTTP %d: it answers from another host, which is not asked", status)
	case status >= 400:
		if !strings.HasPrefix(words, "HTTP status") {
			words = fmt.Sprintf("HTTP %d: %s", status, words)
		}
		return words + retryAfter(x.Head.Header)
	case words != "":
		return words
	case status == 0:
		return x.Broke()
	case !done:
		if why := x.Broke(); why != "" {
			return why
		}
		return "the answer broke off, or is none of a known protocol"
	}
	return ""
}

// retryAfter says when the provider wants to be asked again.
func retryAfter(h map[string][]string) string {
	if v := h["Retry-After"]; len(v) > 0 && v[0] != "" {
		if strings.Trim(v[0], "0123456789.") == "" {
			return " (retry after " + v[0] + " s)"
		}
		return " (retry after " + v[0] + ")"
	}
	return ""
}
