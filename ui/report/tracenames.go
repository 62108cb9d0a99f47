package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"toolscope/stream"
)

// spanIDs returns the ids of the turn's trace and span: a hash of its start, URL and response id. If the start
// is unknown, the machine, the file and the number of the turn replace it.
func (of *TracedTurn) spanIDs() (trace [16]byte, id [8]byte) {
	t := of.Turn
	seed := fmt.Sprint("\x00", of.Machine, "\x00", of.File, "\x00", t.Number)
	if at := of.clockTime(turnStart(of)); !at.IsZero() {
		seed = strconv.FormatInt(at.UnixMicro(), 10)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", seed, of.TurnOfExchange, of.URL, cmp.Or(t.ID, answerHash(t))))
	copy(trace[:], sum[:])
	copy(id[:], sum[16:])
	return trace, id
}

// answerHash returns a hash of a response, for a response without an id.
func answerHash(t *stream.Turn) string {
	sum := sha256.New()
	for _, text := range [][]byte{t.Text, t.Thinking, []byte(t.Failure)} {
		sum.Write(text)
	}
	for _, c := range t.Calls {
		sum.Write(c.Args())
	}
	return string(sum.Sum(nil))
}

// Flags of a span in OTLP: isRemote says that the parent is remote, and knowsRemote that isRemote is valid.
const (
	knowsRemote = 0x100
	isRemote    = 0x200
)

// setParent makes the span that the request names the parent of a turn's span. Turns of a trace that is not
// sampled have spans too: their flags say so, and the collector decides.
func (of *TracedTurn) setParent(s *Span) {
	trace, parent, flags, ok := traceParent(of.TraceParent)
	if !ok {
		return
	}
	s.Trace, s.Parent, s.Flags = trace, parent, knowsRemote|isRemote|uint32(flags)
	if len(of.TraceState) <= maxStateLen && !strings.ContainsFunc(of.TraceState, func(c rune) bool { return c < ' ' || c > '~' }) {
		s.State = of.TraceState
	}
}

// maxStateLen is the maximum length of a tracestate: https://www.w3.org/TR/trace-context/#tracestate-limits
const maxStateLen = 512

// traceParent parses a traceparent header. Later versions of the header may have more parts at the end:
// https://www.w3.org/TR/trace-context/#traceparent-header
func traceParent(text string) (trace [16]byte, span [8]byte, flags byte, ok bool) {
	part := strings.Split(text, "-")
	if len(part) < 4 || part[0] == "00" && len(part) > 4 || part[0] == "ff" {
		return trace, span, 0, false
	}
	var version, bits [1]byte
	for i, to := range [][]byte{version[:], trace[:], span[:], bits[:]} {
		if len(part[i]) != 2*len(to) || part[i] != strings.ToLower(part[i]) {
			return trace, span, 0, false
		}
		if _, err := hex.Decode(to, []byte(part[i])); err != nil {
			return trace, span, 0, false
		}
	}
	return trace, span, bits[0], trace != [16]byte{} && span != [8]byte{}
}

// operationName returns the conventions' name of the operation that the request asks for.
func (of *TracedTurn) operationName() string {
	if u, err := url.Parse(of.URL); err == nil {
		path := strings.TrimSuffix(u.Path, "/")
		if strings.HasSuffix(path, "/completions") && !strings.HasSuffix(path, "/chat/completions") || strings.HasSuffix(path, "/api/generate") {
			return "text_completion"
		}
	}
	return cmp.Or(operations[of.Turn.Protocol], "chat")
}

// providerName returns the conventions' name of the provider, by its host or else by its protocol; "" if they
// have no name for it.
func (of *TracedTurn) providerName() string {
	if u, err := url.Parse(of.URL); err == nil {
		for _, s := range hostProviders {
			if strings.HasSuffix(u.Hostname(), s.host) && strings.HasPrefix(u.Hostname(), s.begins) {
				return s.name
			}
		}
	}
	return protocolProviders[of.Turn.Protocol]
}

// hasFailed reports whether the turn was aborted or rejected. It returns false if the client ended the turn or
// toolscope did not see its end, because then a failure is unknown.
func (of *TracedTurn) hasFailed() bool {
	t := of.Turn
	if p := t.Phase(); p != stream.TurnAborted && p != stream.TurnRejected {
		return false
	}
	return t.EndedBy != stream.Client && (t.EndedBy != stream.Toolscope || of.AnsweredHere)
}

// errorType returns the class of a turn's failure: the HTTP status of an error, else the phase.
func (of *TracedTurn) errorType() string {
	if of.Status >= 400 {
		return strconv.Itoa(of.Status)
	}
	return of.Turn.Phase().String()
}
