package providers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// CarriedCall is a call as a later request carries it.
type CarriedCall struct {
	Exchange *Exchange
	To       *protocol.Target
	Part     *protocol.Part // nil if the request doesn't contain the call
	Body     []byte         // the request
	Args     []byte         // as the request contains them: the text, or the value in the body
	At, End  int            // their place in Body; At is -1 if unknown
}

// Carried returns a call as a request carries it. ok is false if the request can't be read.
func (v *View) Carried(c *stream.Call, exchange int) (b CarriedCall, ok bool) {
	x, t := v.Exchange(exchange), v.Session().Turn(c.Turn)
	if x == nil || t == nil {
		return b, false
	}
	b.Exchange = x
	for r := range x.eachRequest() {
		b.Body, b.To, ok = r.body, r.to, true
		past := replay.ReadPast(r.messages, r.to)
		for _, o := range new(replay.Observer).Observe(past, []replay.Candidate{{Turn: t, Target: TargetOf(t.Protocol)}}) {
			if o.Call == c && o.Part() != nil {
				b.Part = o.Part()
				b.locateArgs(r.messages)
				return b, true
			}
		}
	}
	return b, ok
}

// carriedCalls is the history of one request of an exchange. A WebSocket has several requests.
type carriedCalls struct {
	body     []byte
	to       *protocol.Target
	messages []protocol.Message
}

// eachRequest yields the histories of the exchange's requests, without keeping them.
func (x *Exchange) eachRequest() func(yield func(carriedCalls) bool) {
	return func(yield func(carriedCalls) bool) {
		if !isWebSocket(x.Head) {
			kept := x.past.messages != nil
			messages, to := x.History()
			if !kept {
				x.past.dropMessages()
			}
			if to != nil {
				yield(carriedCalls{x.RequestBody(), to, messages})
			}
			return
		}
		to := x.historyTarget()
		if to == nil || x.gap.requestBytes > 0 {
			return
		}
		var all []carriedCalls
		new(stream.Values).Write(x.Request.Bytes(0, x.Request.Size()), func(f stream.Frame) {
			if f.Kind == stream.FrameData {
				body := bytes.Clone(f.Data)
				messages, _ := to.Decode(body)
				all = append(all, carriedCalls{body, to, messages})
			}
		})
		for _, r := range all {
			if !yield(r) {
				return
			}
		}
	}
}

// locateArgs finds the arguments in the body, which has the parts in order.
func (b *CarriedCall) locateArgs(messages []protocol.Message) {
	b.Args, b.At = b.Part.Args, -1
	from := 0
	for i := range messages {
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			at := bytes.Index(b.Body[from:], p.Raw)
			if at < 0 || len(p.Raw) == 0 {
				continue
			}
			if from += at; p != b.Part {
				continue
			}
			value := findArgs(p.Raw, p)
			if value == nil {
				return
			}
			b.At = from + bytes.Index(p.Raw, value)
			b.End = b.At + len(value)
			if b.To.Form != protocol.TextForm {
				b.Args = value // a string in place of an object is shown as a string
			}
			return
		}
	}
}

// findArgs returns the value in the text of a call from which its arguments were read.
func findArgs(text protocol.Raw, p *protocol.Part) (value protocol.Raw) {
	is := func(v protocol.Raw) bool {
		return v.IsString() && p.Form == protocol.TextForm && bytes.Equal(v.Append(nil), p.Args) || !v.IsString() && bytes.Equal(v, p.Args)
	}
	s := text.Scan()
	look := func(v protocol.Raw) {
		if value == nil && is(v) {
			value = v
		} else if k := v.Kind(); value == nil && (k == '{' || k == '[') {
			value = findArgs(v, p)
		}
	}
	switch text.Kind() {
	case '{':
		for ok := s.Object(); ok; ok = s.Member() {
			if key := string(s.Key()); !slices.Contains(notArgs, key) {
				look(s.Value())
			}
		}
	case '[':
		for ok := s.Array(); ok; ok = s.Element() {
			look(s.Value())
		}
	}
	return value
}

// notArgs are fields of calls that never hold the arguments.
var notArgs = []string{"id", "call_id", "tool_call_id", "toolUseId", "name", "type", "status", "role"}

// VerdictOn returns whether the provider accepted a request that sent a call back, and how that is known,
// in our words or the provider's. An error about load or authentication proves nothing.
func (v *View) VerdictOn(r stream.SentBackCall) (verdict replay.Verdict, how string) {
	x, t := v.Exchange(r.Exchange), v.TurnAfter(&r)
	if x == nil {
		return replay.Unproven, "its request was dropped"
	}
	status, failure, answered := x.Head.Status, "", t != nil && t.Failure == "" && !t.HasGap()
	if t != nil {
		failure = t.Failure
	}
	switch socket := isWebSocket(x.Head); {
	case x.own:
		return replay.Unproven, "no provider answered it"
	case answered && (status == 0 || socket):
		return replay.Accepted, "it was answered"
	case status == 0, socket:
		return replay.Unproven, "no response was seen"
	case status < 300:
		return replay.Accepted, fmt.Sprintf("HTTP %d", status)
	case status == 400 || status == 422:
		verdict = replay.Refused
	}
	how = fmt.Sprintf("HTTP %d", status)
	if failure = strings.TrimSpace(failure); failure != "" {
		how += ": " + failure
	}
	return verdict, how
}

// Witnesses returns the requests that carried these calls of a turn and whose response shows whether the
// provider accepts them.
func (v *View) Witnesses(calls ...*stream.Call) (all []replay.Evidence) {
	if len(calls) == 0 {
		return nil
	}
	for _, r := range calls[0].SentBack {
		x := v.Exchange(r.Exchange)
		if x == nil || r.KeptByProvider {
			continue
		}
		w := replay.Evidence{}
		verdict, how := v.VerdictOn(r)
		if w.Verdict, w.Words = verdict, how; verdict == replay.Unproven || verdict == replay.Refused && !isAboutCalls(how) {
			continue
		}
		for _, c := range calls {
			if b, ok := v.Carried(c, r.Exchange); ok && b.Part != nil {
				w.To, w.Calls = b.To, append(w.Calls, *b.Part)
			}
		}
		if len(w.Calls) == len(calls) {
			all = append(all, w)
		}
	}
	return all
}

// isAboutCalls reports whether the text of a refusal may concern calls: a request may be refused for many
// other reasons.
func isAboutCalls(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc([]string{"tool", "function", "argument", "call_id"}, func(s string) bool { return strings.Contains(words, s) })
}
