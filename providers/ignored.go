package providers

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// framesIgnored is the finding that a protocol claimed a stream but doesn't interpret much of it.
var framesIgnored = &stream.Diagnosis{
	Code: "FRAMES_IGNORED", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Toolscope,
	Verdict:      "frames unread",
	SeverityNote: "info if you set the protocol",
	Meaning:      "toolscope chose a protocol but doesn't recognise most frames of the response, or a frame about a tool. Calls may be missing.",
	Advice:       "Look at the frames in the wire pane. If the protocol is wrong, set the right protocol with --protocol.",
}

// minIgnoredFrames is the minimum number of data frames in a response. In shorter responses, the share of unknown
// frames doesn't matter.
const minIgnoredFrames = 4

// ignoredFrames counts the data frames of an exchange that its decoder doesn't interpret. Such a frame makes
// only unknown events, apart from findings and the opening of a turn.
type ignoredFrames struct {
	x       *Exchange
	frames  int
	ignored int
	ofTools bool          // an unknown frame is about a tool
	names   []ignoredName // names of unknown frames, at most maxIgnoredNames

	unknown, known bool   // the current frame has made unknown events, or known ones
	what           string // name in the unknown event of the current frame
}

// ignoredName is a name of unknown frames, with the number of these frames.
type ignoredName struct {
	name  string
	count int
}

const maxIgnoredNames = 6

// afterEvent records an event of the current frame.
func (c *ignoredFrames) afterEvent(e *stream.Event) {
	switch e.Kind {
	case stream.Unknown:
		c.unknown, c.what = true, e.Text
	case stream.Found, stream.TurnOpen:
	default:
		c.known = true
	}
}

// endFrame counts the current frame.
func (c *ignoredFrames) endFrame(f *stream.Frame) {
	c.frames++
	unknown, what := c.unknown && !c.known, c.what
	c.unknown, c.known, c.what = false, false, ""
	if !unknown {
		return
	}
	name := frameName(f)
	if isQuiet(c.x.Protocol, name) {
		return
	}
	c.ignored++
	c.ofTools = c.ofTools || isAboutTools(name+" "+what) || slices.ContainsFunc(firstKeys(f.Data), isAboutTools)
	i := slices.IndexFunc(c.names, func(n ignoredName) bool { return n.name == name })
	switch {
	case i >= 0:
		c.names[i].count++
	case len(c.names) < maxIgnoredNames:
		c.names = append(c.names, ignoredName{name, 1})
	}
}

// frameName returns the name of a frame: its type, its event name, or its first key.
func frameName(f *stream.Frame) string {
	data := json.Value(f.Data)
	for _, key := range [...]string{"type", "event_type", "event"} {
		if kind := data.Get(key); kind.HasText() {
			return stream.Clip([]byte(kind.Text()), 0, maxNameBytes)
		}
	}
	if len(f.Event) > 0 {
		return stream.Clip(f.Event, 0, maxNameBytes)
	}
	if keys := firstKeys(f.Data); len(keys) > 0 {
		return stream.Clip([]byte(keys[0]), 0, maxNameBytes)
	}
	return "frame"
}

const maxNameBytes = 60

// firstKeys returns the first keys of an object.
func firstKeys(object json.Value) (keys []string) {
	s := object.Scan()
	for ok := s.Object(); ok && len(keys) < 32; ok = s.Member() {
		keys = append(keys, string(s.Key()))
	}
	return keys
}

// isQuiet reports whether a protocol's frames with the given name contain nothing about calls.
func isQuiet(p *protocol.Protocol, name string) bool {
	return slices.ContainsFunc(p.Quiet, func(quiet string) bool {
		prefix, found := strings.CutSuffix(quiet, "*")
		return name == quiet || found && strings.HasPrefix(name, prefix)
	})
}

// isAboutTools reports whether the name of a frame or a key is about tools or their calls.
func isAboutTools(name string) bool {
	if name = strings.ToLower(name); name == "parent_tool_use_id" { // every line of an agent has this key
		return false
	}
	return slices.ContainsFunc([]string{"tool", "function_call", "functioncall", "call_id", "callid"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// reportIgnored reports the frames that the decoder doesn't interpret, if there are many or if they are about
// tools.
func (c *ignoredFrames) reportIgnored() {
	partial := c.x.gap.missed > 0 || c.x.cutShort() || c.x.cutByUnknown() // the decoder might have interpreted the missing frames
	many := c.frames >= minIgnoredFrames && 2*c.ignored >= c.frames && !partial
	if !isDecoded(c.x.Protocol) || !many && !c.ofTools {
		return
	}
	d := framesIgnored
	if c.x.Why == forcedReason {
		d = d.WithSeverity(stream.Info)
	}
	var names []string
	left := c.ignored
	for _, n := range c.names {
		names = append(names, fmt.Sprintf("%s ×%d", n.name, n.count))
		left -= n.count
	}
	if left > 0 {
		names = append(names, fmt.Sprintf("others ×%d", left))
	}
	c.x.emit(findingEvent(c.x.lastTurn(), d, "toolscope doesn't recognise %d of %s in %s: %s",
		c.ignored, stream.Own(count.Of(c.frames, "frame")), stream.Own(c.x.Protocol.Title), stream.Fact(strings.Join(names, ", "))))
}

// isDecoded reports whether p is one of the protocols that toolscope decodes.
func isDecoded(p *protocol.Protocol) bool {
	return p != nil && slices.ContainsFunc(All, func(q protocol.Protocol) bool { return q.Name == p.Name })
}
