package providers

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/claudecode"
	"toolscope/providers/codexexec"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/json"
)

// requestCheck is the list of rules that an exchange's request breaks. The breaches are reported when the
// outcome of the request is known.
type requestCheck struct {
	breaches []requestBreach
	to       *protocol.Target
	session  *requestrules.Session // the conversation in an agent's session file; nil for other requests
	reported bool
}

// requestBreach is a breach with its places in the body.
type requestBreach struct {
	requestrules.Breach
	path       string // path of its first place; "" if the place was not found
	start, end int    // range of that place in the body
	known      bool   // a finding about the call already reports it
	ownHost    bool   // the request is to a host that has the rule
	call       stream.Ref
	fits       int // how well the provider's refusal matches the breach; 0 if it doesn't match
	cause      stream.Party
}

// requestOutcome is the outcome of a request.
type requestOutcome uint8

const (
	outcomeUnknown  requestOutcome = iota // no response was seen, or the error is not about the request
	requestAccepted                       // the model responded
	requestRefused
)

// checkRequest checks the request of an HTTP exchange. The parameter observed contains the earlier calls in
// the request.
func (h *history) checkRequest(body []byte, messages []protocol.Message, to *protocol.Target, past *replay.History, observed []replay.Observation) {
	x := h.x
	if sessionOf(x.Head) != nil && h.checkSession(body, messages, to) {
		return
	}
	if x.Head.Incremental || x.requests.latest != nil && x.requests.latest.Background || h.broken || x.AnsweredHere {
		return
	}
	host := x.Host()
	to = ruleTarget(to, host)
	r := &requestrules.Request{Body: body, Messages: messages, Target: to, Partial: h.on.keptByProvider}
	if to.Refusal.Name != "" {
		r.Tools = x.check.toolsIn(body)
	}
	h.check.to = to
	wantsReasoning := hasHost(to.WantReasoning, host)
	for _, b := range slices.Concat(requestrules.Check(r), h.reasoningBreaches(body, messages, past, wantsReasoning)) {
		of := h.addBreach(b, body, messages)
		of.ownHost = hasHost(to.Hosts, host) || wantsReasoning && b.Rule == replay.ReasoningKept
		if of.end > 0 {
			of.path = json.PathAt(body, of.start, of.end)
		}
		of.known = true
		for _, at := range b.Spots {
			ref, found := h.findingOf(observed, partAt(messages, at), at.ID, b.Diagnosis)
			of.known = of.known && found
			if of.call.Call == 0 {
				of.call = ref
			}
			if b.Diagnosis == replay.IDCollision.Diagnosis {
				of.cause = causeOfSameID(observed, at.ID)
			}
			if b.Rule == "arguments-json" && sendsBackBroken(observed, at.ID) {
				of.cause = stream.Model
			}
			if b.Rule == requestrules.ServerCallAnswered && at.Message == len(messages)-1 {
				of.cause = stream.Provider // it paused the turn, which the client continues
			}
			if b.Rule == requestrules.IDPresent && cameWithoutID(observed, partAt(messages, at)) {
				of.cause = stream.Gateway
			}
		}
	}
	if slices.ContainsFunc(h.check.breaches, func(b requestBreach) bool { return b.Rule == replay.SignatureKept }) {
		h.check.breaches = slices.DeleteFunc(h.check.breaches, func(b requestBreach) bool { return b.Rule == "thinking-unsigned" })
	}
}

// toolsOf returns the tools that a request declares, if the target has a rule for their names.
func toolsOf(body []byte, protocolName string, to *protocol.Target) []protocol.Tool {
	p := protocolNamed(protocolName)
	if to.Refusal.Name == "" || p == nil || p.Tools == nil {
		return nil
	}
	return p.Tools(body)
}

// ReadRequest reads a request to a target. If the target is nil, it uses the target in whose protocol it finds
// the most content. Without any content, the request has no target.
func ReadRequest(body []byte, to *protocol.Target) (*requestrules.Request, error) {
	r := &requestrules.Request{Body: body, Target: to, Partial: readHistoryLink(body).keptByProvider}
	var err error
	if to == nil {
		r.Messages, r.Target, err = guessHistory(body)
	} else {
		r.Messages, err = to.Decode(body)
	}
	if err == nil && r.Target != nil {
		r.Tools = toolsOf(body, r.Target.Protocol, r.Target)
	}
	return r, err
}

// addBreach adds a breach with its first place in the body.
func (h *history) addBreach(b requestrules.Breach, body []byte, messages []protocol.Message) *requestBreach {
	of := requestBreach{Breach: b, call: b.Spots[0].Call}
	if at := b.Spots[0]; at.Tool != "" && h.x.Protocol != nil {
		of.start, of.end = placeOfTool(body, h.x.Protocol, at.Tool)
	} else {
		of.start, of.end = placeOf(body, messages, at)
	}
	h.check.breaches = append(h.check.breaches, of)
	return &h.check.breaches[len(h.check.breaches)-1]
}

// reasoningBreaches returns the changes to reasoning and signatures as breaches. It skips reasoning that the request
// doesn't need, because the request is for another model or turns thinking off. With adaptive thinking, Anthropic
// doesn't require turns to begin with thinking, so only a refusal proves that breach. The same applies to plain
// reasoning, except at a host that wants it. Such a host accepts an empty field.
func (h *history) reasoningBreaches(body json.Value, messages []protocol.Message, past *replay.History, wanted bool) (all []requestrules.Breach) {
	for _, r := range past.Reasoning {
		needs, stated := h.needsReasoning(body, r.Turn)
		if !needs {
			continue
		}
		proof := requestrules.ByHost
		needed := wanted && !r.Older && !messages[r.Message].Raw.Get("reasoning_content").IsString()
		if !stated || r.Optional && !needed || r.Kind == replay.ReasoningDropped && body.Get("thinking").Get("type").Is("adaptive") {
			proof = requestrules.ByRefusal
		}
		words := stream.Messagef("%s, from turn %d", r.Words, r.Turn+1)
		all = append(all, requestrules.Of(r.Diagnosis, r.Rule, proof, requestrules.Spot{Message: r.Message, Part: r.Part, ID: r.ID, Words: words}))
	}
	return all
}

// needsReasoning reports whether a request must contain the reasoning of a turn: the request is for the same
// model and doesn't turn thinking off. In Anthropic's protocol, it must turn thinking on; a request that doesn't mention
// thinking may need the reasoning at other hosts, such as DeepSeek's, which think unless the request turns it off. The
// result stated is false for such a request.
func (h *history) needsReasoning(body json.Value, turn int32) (needs, stated bool) {
	t, model := h.x.in.Session().Turn(turn), ""
	if x := h.x; x.Protocol != nil && x.Protocol.Model != nil {
		model = x.Protocol.Model(x.Path(), body)
	}
	if model == "" {
		model = body.Get("model").Text()
	}
	thinking := body.Get("thinking").Get("type")
	needs = t != nil && isSameModel(model, t.Model) && !thinking.Is("disabled") && (t.Protocol != "anthropic" || !thinking.IsPresent() || thinking.Is("enabled") || thinking.Is("adaptive"))
	return needs, needs && (t.Protocol != "anthropic" || thinking.IsPresent())
}

// isSameModel reports whether two names may refer to the same model. Providers add a version to a name.
func isSameModel(a, b string) bool {
	return a == "" || b == "" || strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// partAt returns the part at a place in the messages, or nil if the place is not a part.
func partAt(messages []protocol.Message, at requestrules.Spot) *protocol.Part {
	if at.Message < 0 || at.Part < 0 {
		return nil
	}
	return &messages[at.Message].Parts[at.Part]
}

// findingOf returns the earlier call that a part of the request, or an id, belongs to. The result found reports
// whether the call has a finding with the same meaning as the diagnosis d.
func (h *history) findingOf(observed []replay.Observation, part *protocol.Part, id string, d *stream.Diagnosis) (call stream.Ref, found bool) {
	for i := range observed {
		o := &observed[i]
		isPart := part != nil && (o.Part() == part || o.ResultPart() == part)
		if hasID := id != "" && (o.ID == id || o.Call != nil && o.Call.ID == id); !hasID && !isPart {
			continue
		}
		call = o.Ref()
		t := h.x.in.Session().Turn(call.Turn)
		if t == nil || int(call.Call) > len(t.Calls) {
			continue
		}
		for _, f := range t.Calls[call.Call-1].Findings {
			same := f.Base() == d.Base() || d == replay.OrphanResult.Diagnosis && f.Base() == replay.CallDropped.Diagnosis
			found = found || same
		}
	}
	return call, found
}

// causeOfSameID returns the party that used an id for two calls, if responses show that the client only sent both
// calls back. Otherwise it returns 0.
func causeOfSameID(observed []replay.Observation, id string) stream.Party {
	for _, o := range observed {
		if o.Call == nil || o.Call.ID != id {
			continue
		}
		for _, f := range o.Call.Findings {
			if base := f.Base(); base == stream.IDDupAcrossTurns || base == stream.IDDup {
				return f.By
			}
		}
	}
	return 0
}

// sendsBackBroken reports whether the client sent back a call unchanged whose arguments were broken when they arrived.
func sendsBackBroken(observed []replay.Observation, id string) bool {
	return slices.ContainsFunc(observed, func(o replay.Observation) bool {
		return o.Call != nil && o.ID == id && o.Treatment == replay.Intact && o.Call.Syntax() == json.SyntaxBroken
	})
}

// cameWithoutID reports whether a call of the history already had no id when it arrived.
func cameWithoutID(observed []replay.Observation, part *protocol.Part) bool {
	return slices.ContainsFunc(observed, func(o replay.Observation) bool {
		return o.Call != nil && o.Part() == part && o.Call.ID == ""
	})
}

// causeOfRepeatedID returns the party that used an id for two calls, if an error refuses the request for this id and
// responses show both calls. Otherwise it returns 0.
func (in *Inspector) causeOfRepeatedID(words string) stream.Party {
	if !hasRuleWords(&requestBreach{Breach: requestrules.Breach{Rule: "id-unique"}}, words) {
		return 0
	}
	for _, id := range refusalIDs().FindAllString(words, -1) {
		for _, t := range in.Session().Turns {
			for _, c := range t.Calls {
				if c.ID != id && c.Item != id {
					continue
				}
				for _, f := range c.Findings {
					if base := f.Base(); base == stream.IDDupAcrossTurns || base == stream.IDDup {
						return f.By
					}
				}
			}
		}
	}
	return 0
}

// ruleTarget returns the target whose rules apply at a host. It is the target with the same protocol that describes
// the host or, if there is none, the given target.
func ruleTarget(to *protocol.Target, host string) *protocol.Target {
	for _, of := range Targets() {
		if of.Protocol == to.Protocol && hasHost(of.Hosts, host) {
			return of
		}
	}
	return to
}

// hasHost reports whether a list of suffixes of host names contains a suffix of the host.
func hasHost(ends []string, host string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return host == end || strings.HasSuffix(host, "."+strings.TrimPrefix(end, ".")) })
}

// isAtOwner reports whether the server is a host that the protocol's own target describes.
func (x *Exchange) isAtOwner() bool {
	host := x.Host()
	return host != "" && x.Protocol != nil && slices.ContainsFunc(Targets(), func(of *protocol.Target) bool { return of.Protocol == x.Protocol.Name && hasHost(of.Hosts, host) })
}

// Host returns the host name of the server, or "" if it is unknown.
func (x *Exchange) Host() string { return x.host }

// requestOutcome returns the outcome of the exchange's request.
func (x *Exchange) requestOutcome() requestOutcome {
	inFile := x.Head.ResponseFromHistory || x.Head.Reconstructed // the original request is unknown
	if x.AnsweredHere {
		return outcomeUnknown
	}
	answered := false
	for _, number := range x.turns {
		t := x.in.Session().Turn(number)
		switch {
		case t.Refusal != nil:
			return requestRefused
		case t.Failure != "":
			return outcomeUnknown
		}
		answered = answered || len(t.Calls) > 0 || len(t.Text) > 0 || len(t.Thinking) > 0
	}
	switch {
	case x.Head.Status >= 300, !answered, inFile:
		return outcomeUnknown
	}
	return requestAccepted
}

// reportRequest reports, once, the rules that the request breaks. It doesn't report a rule if the target's
// own host accepts the request.
func (h *history) reportRequest() {
	if h.check.reported || len(h.check.breaches) == 0 || h.check.session != nil && len(h.x.turns) == 0 {
		return
	}
	h.check.reported = true
	x := h.x
	outcome := x.requestOutcome()
	for i := range h.check.breaches {
		b := &h.check.breaches[i]
		severity, ok := h.gradeBreach(b, outcome)
		if !ok || outcome != requestRefused && !x.in.isNewBreach(x, b) {
			continue
		}
		grade := severity
		for j := range h.check.breaches { // a place in a request has at most one finding with a severity above info
			o := &h.check.breaches[j]
			other, isReported := h.gradeBreach(o, outcome)
			order := cmp.Or(cmp.Compare(b.fits, o.fits), cmp.Compare(grade, other), cmp.Compare(j, i))
			if isReported && b.path != "" && o.path == b.path && order < 0 {
				severity = stream.Info
			}
		}
		h.reportBreach(b, severity, outcome)
	}
}

// gradeBreach returns the severity of a breach. The result ok is false if the breach is not reported.
func (h *history) gradeBreach(b *requestBreach, outcome requestOutcome) (severity stream.Severity, ok bool) {
	severity, ok = stream.Error, true
	switch {
	case b.known:
		return severity, false
	case outcome == requestRefused:
		if b.fits == 0 {
			severity, ok = stream.Warn, b.Proof != requestrules.ByRefusal
		}
	case outcome == requestAccepted:
		severity, ok = stream.Info, !b.ownHost && b.Proof != requestrules.ByRefusal
	case h.check.session != nil:
		if severity = stream.Warn; b.Proof == requestrules.ByHost || !sendsCalls[innerWrapper(h.x.Head)] {
			severity = stream.Info
		}
	case b.Proof == requestrules.ByHost && b.ownHost:
		severity = stream.Warn
	case b.Proof == requestrules.ByHost:
		severity = stream.Info
	case b.Proof == requestrules.ByRefusal:
		ok = false
	}
	return severity, ok
}

// reportBreach reports a breach as a finding about the turn of the request. If the request has no turn, the
// finding is about the call, or about the source.
func (h *history) reportBreach(b *requestBreach, severity stream.Severity, outcome requestOutcome) {
	x, m := h.x, b.Message(b.path)
	if outcome == requestAccepted {
		m = stream.Messagef("%s; this host accepts the request, but %s does not", m, stream.Own(h.check.to.Title))
	}
	f := b.WithSeverity(severity).WithCause(cmp.Or(b.cause, stream.Client)).Finding("%s", m).WithDetail("illegal", b.detailFields()...)
	if len(x.turns) > 0 && b.Spots[0].Call.Call == 0 {
		x.emit(stream.Event{Kind: stream.Found, Turn: x.lastTurn(), Slot: stream.NoSlot, What: &f})
		return
	}
	e := stream.Event{Kind: stream.Found, Turn: stream.NoTurn, Slot: stream.NoSlot, At: stream.NoTime, What: &f}
	if t := x.in.Session().Turn(b.call.Turn); b.call.Call > 0 && t != nil && int(b.call.Call) <= len(t.Calls) {
		e.Turn, e.Slot, e.Frame = b.call.Turn, t.Calls[b.call.Call-1].Slot, t.LastFrame
	}
	x.in.Timeline.Append(e)
}

// detailFields returns the facts about the breach for programs, as far as they are known.
func (b *requestBreach) detailFields() []any {
	fields := []any{"rule", b.Rule}
	if b.path != "" {
		fields = append(fields, "path", b.path)
	}
	if id := b.Spots[0].ID; id != "" {
		fields = append(fields, "id", id)
	}
	if b.end > 0 {
		fields = append(fields, "start", b.start, "end", b.end)
	}
	return fields
}

// breachKey identifies a breach in a conversation.
type breachKey struct {
	conversation int32
	rule, at     string
}

// maxBreaches is the maximum number of kept keys of reported breaches.
const maxBreaches = 1 << 14

// isNewBreach reports whether the breach was not reported for an earlier request in the conversation, and records it.
// Breaches of rules about the host are reported once per conversation.
func (in *Inspector) isNewBreach(x *Exchange, b *requestBreach) bool {
	key := breachKey{rule: b.Rule}
	if n := len(x.requests.conversations); n > 0 && x.requests.conversations[n-1] != nil {
		key.conversation = x.requests.conversations[n-1].number
	}
	if at := b.Spots[0]; b.Proof == requestrules.ByRequest {
		key.at = at.ID + "\x00" + strconv.Itoa(at.Message)
	}
	if _, known := in.breaches.peek(key); known {
		return false
	}
	in.breaches.set(key, true, maxBreaches)
	return true
}

// placeOf returns the place of a part in the body. Messages are in the same order in the body, except the system
// prompt. The parts of a message may be in another order. A message without a text of its own has the place of its
// first part. The result end is 0 if the part was not found.
func placeOf(body []byte, messages []protocol.Message, at requestrules.Spot) (start, end int) {
	if at.Message < 0 {
		return 0, 0
	}
	from := 0
	for i := range messages {
		m, before, first, within := &messages[i], from, from, len(body)
		if n := bytes.Index(body[from:], m.Raw); n >= 0 && len(m.Raw) > 0 {
			from += n
			first, within = from, from+len(m.Raw)
			if i == at.Message && (at.Part < 0 || m.Parts[at.Part].Raw == nil) {
				return from, within
			}
		}
		for j := range m.Parts {
			raw := m.Parts[j].Raw
			n := bytes.Index(body[from:within], raw)
			if n < 0 && within < len(body) { // the message may contain its parts in another order
				from, n = first, bytes.Index(body[first:within], raw)
			}
			if n < 0 || len(raw) == 0 {
				continue
			}
			from += n
			if i == at.Message && max(0, at.Part) == j {
				return from, from + len(raw)
			}
			from += len(raw)
		}
		if within < len(body) {
			from = within
		}
		if m.Role == protocol.System { // the body may contain the system prompt after the messages
			from = before
		}
	}
	return 0, 0
}

// placeOfTool returns the place of a declared tool's name in the body. The result end is 0 if it was not found.
func placeOfTool(body json.Value, p *protocol.Protocol, name string) (start, end int) {
	quoted := json.AppendQuoted(nil, []byte(name))
	for _, key := range p.Marks.ToolKeys {
		for _, request := range []json.Value{body, body.Get("request")} {
			list := request.Get(key)
			from := bytes.Index(body, list)
			for from >= 0 && len(list) > 0 {
				n := bytes.Index(list, quoted)
				if n < 0 {
					break
				}
				start, end = from+n, from+n+len(quoted)
				if path := json.PathAt(body, start, end); strings.HasSuffix(path, ".name") {
					return start, end
				}
				from, list = end, list[n+len(quoted):]
			}
		}
	}
	return 0, 0
}

// sessionKey identifies a conversation in a session file.
type sessionKey struct {
	file         string
	conversation int32 // 0 if the file contains only one conversation
}

// maxSessions is the maximum number of conversations in session files that are followed.
const maxSessions = 1 << 12

// sendsCalls lists the session files of agents that send calls and results unchanged from the file. Other
// agents repair them first.
var sendsCalls = map[string]bool{claudecode.SessionWrapper: true, "cline task": true}

// checksResults lists other session files whose results are checked, because their ids are the ids that the
// provider received.
var checksResults = map[string]bool{codexexec.SessionWrapper: true, "pi session": true, "qwen-code session": true}

// checkSession checks the calls and results of a request in a session file. It returns false if the file
// contains the complete request. In this case, the same rules apply as for any other request.
func (h *history) checkSession(body []byte, messages []protocol.Message, to *protocol.Target) (done bool) {
	x, name := h.x, innerWrapper(h.x.Head)
	s, key := h.sessionState()
	if s == nil {
		return x.Head.Reconstructed
	}
	h.check.to, h.check.session = to, s
	switch {
	case x.Head.Rewound:
		s.Rewind()
	case !x.Head.Incremental:
		s.Compact()
	}
	breaches := s.Check(messages, sendsCalls[name] && !x.Head.UsageBefore)
	if !x.Head.Reconstructed && !x.Head.Incremental {
		h.check.session = nil
		return false
	}
	for _, b := range breaches {
		if !x.in.isInOtherSession(&b, key) {
			h.addBreach(b, body, messages)
		}
	}
	return true
}

// sessionState returns the session of the exchange, with its key. It returns nil if the calls and results of the agent
// aren't checked.
func (h *history) sessionState() (*requestrules.Session, sessionKey) {
	key := sessionKey{file: h.x.Head.File}
	if name := innerWrapper(h.x.Head); !sendsCalls[name] && !checksResults[name] {
		return nil, key
	}
	if l := h.latestConversation(); l != nil && !l.unnamed {
		key.conversation = l.number
	}
	s := h.x.in.sessions.get(key)
	if s == nil {
		s = new(requestrules.Session)
		h.x.in.sessions.set(key, s, maxSessions)
	}
	return s, key
}

// isInOtherSession reports whether a breach is a result without its call, and another session has the call. This
// session then probably continues the other one.
func (in *Inspector) isInOtherSession(b *requestrules.Breach, key sessionKey) bool {
	return b.Rule == "result-has-call" && slices.ContainsFunc(in.sessions.keys, func(other sessionKey) bool {
		return other != key && slices.ContainsFunc(b.Spots, func(at requestrules.Spot) bool { return in.sessions.get(other).HasCall(at.ID) })
	})
}

// addSessionCalls adds the calls of a turn to its session. It skips a turn that was cut off, because the
// agent also skips such a turn.
func (h *history) addSessionCalls(t *stream.Turn) {
	s := h.check.session
	if x := h.x; s == nil && x.Request.Size() == 0 && x.Head.Incremental && x.Head.Reconstructed && !x.in.alone { // the turn has no new request
		s, _ = h.sessionState()
	}
	if s == nil || t.Phase() == stream.TurnAborted {
		return
	}
	for _, c := range t.Calls {
		if !c.RunByProvider {
			s.AddCall(c.ID, c.Name, c.Ref())
		}
	}
}
