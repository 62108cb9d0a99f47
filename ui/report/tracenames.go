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

// spanIDs are those of the turn's trace and span.
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

// answerHash stands for the id of an answer that has none.
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

// Flags of a span: those of its trace, and where its parent is.
const (
	knowsRemote = 0x100
	isRemote    = 0x200
)

// setParent puts a turn's span below the one that its request names. A trace that is not to be recorded has
// it nevertheless, and its flags say so: that is for the collector to leave out.
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

// maxStateLen is how long a tracestate is at most: https://www.w3.org/TR/trace-context/#tracestate-limits
const maxStateLen = 512

// traceParent reads a header of that name. Versions after the first may have more parts behind these:
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

// operationName is what was asked for, as the conventions call it.
func (of *TracedTurn) operationName() string {
	if u, err := url.Parse(of.URL); err == nil {
		path := strings.TrimSuffix(u.Path, "/")
		if strings.HasSuffix(path, "/completions") && !strings.HasSuffix(path, "/chat/completions") || strings.HasSuffix(path, "/api/generate") {
			return "text_completion"
		}
	}
	return cmp.Or(operations[of.Turn.Protocol], "chat")
}

// providerName is who answers, as the conventions call it: by its host, or by its protocol; "" where they have
// no word for it.
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

// hasFailed reports whether an answer did not end as it should, or none came. Where the client ended it, or
// toolscope saw no more of it, nobody knows that anything failed.
func (of *TracedTurn) hasFailed() bool {
	t := of.Turn
	if p := t.Phase(); p != stream.TurnAborted && p != stream.TurnRejected {
		return false
	}
	return t.EndedBy != stream.Client && (t.EndedBy != stream.Toolscope || of.AnsweredHere)
}

// errorType is the class of what a turn failed with.
func (of *TracedTurn) errorType() string {
	if of.Status >= 400 {
		return strconv.Itoa(of.Status)
	}
	return of.Turn.Phase().String()
}
