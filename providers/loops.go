package providers

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

var callLoop = &stream.Diagnosis{
	Code: "LOOP", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Model,
	Verdict:      "loop",
	SeverityNote: "info if the results are not errors and there are fewer than 5 rounds, because the model may repeat such calls on purpose",
	Meaning:      "The model repeats the same calls with the same arguments and gets the same results. Nothing changes between the rounds.",
	Advice:       "Stop the run, or tell the model in a message that the repeated calls don't help. Check the result: it may report an error without enough information for the model to avoid the error.",
}

// Minimum numbers of rounds for a loop, and other limits.
const (
	minRounds       = 3
	minUsefulRounds = 5  // for a warning about calls without an error
	minShortRounds  = 8  // for calls with a short result, which may be a confirmation
	minWaitRounds   = 10 // for calls that wait
	shortResult     = 16 // minimum length in bytes of a result that is not short
	maxPeriod       = 3  // maximum number of calls in a round
)

// callLoops finds repeated rounds of the same calls with the same results in a conversation.
type callLoops struct {
	steps    [maxPeriod]loopStep // the latest steps, beginning with the last one
	same     [maxPeriod]int      // by period minus 1: number of consecutive calls that equal the call one period earlier
	bytes    [maxPeriod]int      // by period minus 1: bytes of these calls and their results
	turns    [maxPeriod]int32    // by period minus 1: turn of the first of these calls
	reported [maxPeriod]uint8    // by period minus 1: the reported grade
	said     uint64              // number of user messages in requests that contain only new messages
}

// loopStep is a call with its result.
type loopStep struct {
	hash uint64 // hash of the call and its result; 0 for none
	size int    // size of the arguments and the result
	turn int32
	kind stepKind
}

// stepKind is the kind of a call with its result. The kind of a round is the lowest kind of its calls.
type stepKind uint8

const (
	stepWaits        stepKind = iota + 1 // the call waits for something, or its result is empty or one short word
	stepFailsWaiting                     // the call waits, and the result is an error
	stepShort                            // the result is a short text
	stepUseful                           // the result is not an error
	stepFails
)

// round is a round of a loop, completed by a call.
type round struct {
	count, period int // number of rounds so far, and calls per round; period is 0 if there is no loop
	kind          stepKind
	first         int32 // turn of the first call
	bytes         int   // size of the arguments and results, without the first round
}

// addStep adds a call with its result, and returns the round that it completes.
func (l *callLoops) addStep(s loopStep) (r round) {
	if s.hash == 0 {
		*l = callLoops{said: l.said}
		return r
	}
	kind := s.kind
	for p := 1; p <= maxPeriod; p++ {
		if p > 1 {
			kind = min(kind, l.steps[p-2].kind)
		}
		before := l.steps[p-1]
		if before.hash != s.hash || before.turn == s.turn {
			l.same[p-1], l.reported[p-1], l.bytes[p-1] = 0, 0, 0
			continue
		}
		if l.same[p-1] == 0 {
			l.turns[p-1] = before.turn
		}
		l.same[p-1]++
		l.bytes[p-1] += s.size
		if n := l.same[p-1]/p + 1; r.period == 0 && n >= minRounds && l.same[p-1]%p == 0 {
			r = round{n, p, kind, l.turns[p-1], l.bytes[p-1]}
		}
	}
	copy(l.steps[1:], l.steps[:])
	l.steps[0] = s
	return r
}

// gradeRound returns the severity of a round. The result isNew is false if an earlier round had at least the
// same grade.
func (l *callLoops) gradeRound(r round) (severity stream.Severity, isNew bool) {
	grade := uint8(0)
	switch {
	case r.kind == stepFails, r.kind == stepUseful && r.count >= minUsefulRounds, r.kind == stepFailsWaiting && r.count >= minWaitRounds:
		grade, severity = 2, stream.Warn
	case r.kind == stepUseful, r.kind == stepShort && r.count >= minShortRounds:
		grade = 1
	}
	if r.period == 0 || grade <= l.reported[r.period-1] {
		return 0, false
	}
	l.reported[r.period-1] = grade
	return severity, true
}

// reportLoop reports a call with its result if it completes a round of a loop.
func (h *history) reportLoop(l *agentConversation, ref stream.Ref, call *loopCall) {
	t, c := h.x.in.Session().Find(ref)
	if call == nil || t == nil || c == nil || c.RunByProvider {
		return
	}
	step := call.asStep(h.x.in.conversations.hashSeed(), ref.Turn)
	if st := c.Status(); st == stream.Aborted || st == stream.CutShort {
		step = loopStep{} // the model didn't finish the call, and the client may have replaced its arguments
	}
	r := l.loops.addStep(step)
	severity, isNew := l.loops.gradeRound(r)
	if !isNew {
		return
	}
	what, result := stream.Own("call has been"), stream.Own("result")
	if r.period > 1 {
		what = stream.Own(fmt.Sprintf("%d calls have been", r.period))
	}
	if r.kind == stepFails || r.kind == stepFailsWaiting {
		result = "error"
	}
	m := stream.Messagef("the same %s made %s since turn %d, most recently %s %s, each time with the same %s (%s)", what, stream.Own(count.Of(r.count, "time")),
		r.first+1, stream.Fact(call.name), stream.Clip(call.args, 0, maxLoopQuote), result, stream.Clip(bytes.TrimSpace(call.result), 0, maxLoopQuote))
	f := callLoop.WithSeverity(severity).Finding("%s", m).
		WithDetail("loop", "n", r.count, "period", r.period, "since_turn", int(r.first)+1, "bytes", r.bytes)
	h.x.in.Timeline.Append(stream.Event{Kind: stream.Found, At: h.x.at, Turn: ref.Turn, Slot: c.Slot, Frame: t.LastFrame, What: &f})
}

// maxLoopQuote is the maximum number of bytes that a message quotes of arguments or of a result.
const maxLoopQuote = 60

// loopCall is a call with its result, from a history.
type loopCall struct {
	name         string
	args, result []byte
	failed       bool
	media        bool   // the result contains more than text
	said         uint64 // a value that changes with each user message before the call
}

// asStep returns the call as a step. A call whose result contains more than text doesn't make a loop, because
// toolscope doesn't compare images.
func (c *loopCall) asStep(seed maphash.Seed, turn int32) loopStep {
	s := loopStep{turn: turn, kind: stepUseful, size: len(c.args) + len(c.result)}
	text := c.result
	words := bytes.Fields(text[:min(len(text), 2*shortResult)])
	fails := c.failed || errorStart().Match(text[:min(len(text), maxErrorStart)]) || failedCommand().Match(text[:min(len(text), stream.MaxResultBytes)])
	text = agentLines().ReplaceAllLiteral(text, nil)
	waits := waitsByName().MatchString(c.name) || waitsByArgs().Match(c.args[:min(len(c.args), maxErrorStart)])
	if fails {
		text = varyingWords().ReplaceAllLiteral(text[:min(len(text), stream.MaxResultBytes)], []byte("*"))
	}
	switch {
	case c.media:
		return loopStep{}
	case fails && waits:
		s.kind = stepFailsWaiting
	case fails:
		s.kind = stepFails
	case waits:
		s.kind = stepWaits
	case len(text) < shortResult && len(words) < 2:
		s.kind = stepWaits
	case len(text) < shortResult:
		s.kind = stepShort
	}
	args, ok := json.Canonical(c.args, json.Exact) // the form that json.Same compares
	if !ok {
		args = c.args
	}
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(c.name + "\x00")
	_, _ = h.Write(args)
	_ = h.WriteByte(0)
	_, _ = h.Write(text)
	s.hash = h.Sum64() ^ c.said | 1
	return s
}

// maxErrorStart is the number of bytes at the start of a text in which words are searched for.
const maxErrorStart = 200

var (
	// errorStart matches results that begin like errors.
	errorStart = lazyregexp.New(`(?i)^\s*(?:<tool_use_error>|(?:fatal )?error\b|traceback\b|exit(?:ed with)?(?: code)? [1-9]|[^\n]{0,120}: (?:command )?not found\b|command failed\b)`)
	// failedCommand matches the results with which Gemini CLI, Qwen Code, Codex and pi report that a shell command
	// failed.
	failedCommand = lazyregexp.New(`(?s)^(?:<untrusted_context>\n)?(?:Output|Command): .*\nExit Code: [1-9]\d*\n|` +
		`^(?:Chunk ID: \w+\n)?(?:Wall time:? [0-9.]+ seconds\n)?(?:Process exited with code|Exit code:) [1-9]|\nCommand exited with code [1-9]\d*\s*$`)
	// agentLines matches the lines that agents add to each result of a shell command, and that differ each time.
	agentLines = lazyregexp.New(`(?m)^(?:Wall time:? [0-9.]+ seconds|Chunk ID: [0-9a-f]+|Process Group PGID: \d+)$`)
	// varyingWords matches words in errors that differ each time.
	varyingWords = lazyregexp.New(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.,]*Z?|\b\d+(?:\.\d+)? ?(?:ms|s|µs)\b|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}|0x[0-9a-fA-F]+|/tmp/[\w./-]+`)
	// waitsByName and waitsByArgs match calls that wait.
	waitsByName = lazyregexp.New(`(?i)wait|sleep|poll|status|await|monitor|BashOutput|TaskOutput|write_stdin`)
	waitsByArgs = lazyregexp.New(`\b(?:sleep|timeout|watch)\b`)
)

// userWords computes a hash of the user's messages in a history before each call.
type userWords struct {
	messages []protocol.Message
	at, part int
	hash     uint64
	seed     maphash.Seed
}

// hashBefore returns a hash of the user's messages before the call with the given id. The result found is
// false if the history doesn't contain the call. Calls should be looked up in their order.
func (w *userWords) hashBefore(id string) (hash uint64, found bool) {
	for restarted := false; ; restarted = true {
		for ; w.at < len(w.messages); w.at, w.part = w.at+1, 0 {
			m := &w.messages[w.at]
			for ; w.part < len(m.Parts); w.part++ {
				if p := &m.Parts[w.part]; p.Kind == protocol.CallPart && p.ID == id {
					return w.hash, true
				}
			}
			if text, ok := wordsOfUser(m); ok {
				w.hash = w.hash*31 ^ maphash.Bytes(w.seed, text)
			}
		}
		if restarted {
			return 0, false
		}
		w.at, w.part, w.hash = 0, 0, 0
	}
}

// wordsOfUser returns the first text of a user message that contains no results. For any other message, the
// result ok is false.
func wordsOfUser(m *protocol.Message) (text []byte, ok bool) {
	if m.Role != protocol.User {
		return nil, false
	}
	for i := range m.Parts {
		if m.Parts[i].Kind == protocol.ResultPart {
			return nil, false
		}
		if text == nil && len(m.Parts[i].Text) > 0 {
			text = m.Parts[i].Text
		}
	}
	return text, text != nil
}

// loopCallOf returns an observed call with its result, or nil if it has no result.
func (w *userWords) loopCallOf(o *replay.Observation, said uint64) *loopCall {
	result := o.ResultPart()
	if result == nil {
		return nil
	}
	call := &loopCall{result: result.Text, media: result.Media > 0, failed: o.Result == stream.ResultFailed, said: said}
	if p := o.Part(); p != nil {
		call.name, call.args = p.Name, p.Args
		if hash, found := w.hashBefore(p.ID); found {
			call.said = hash
		}
		return call
	}
	if o.Call == nil {
		return nil
	}
	call.name, call.args = o.Call.Name, o.Call.Args()
	return call
}
