package providers

import (
	"slices"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/schema"
	"toolscope/providers/toolrun"
	"toolscope/stream"
)

// Findings are all that toolscope can make, each once: those of the fold, of this package, of the
// protocols and of the schemas, the losses of replay, and what may be demanded of a run.
func Findings() []*stream.Diagnosis {
	all := slices.Concat(stream.Findings, findings, wanted, protocol.Findings, mcp.Findings, toolrun.Findings)
	for _, d := range All {
		all = append(all, d.Findings...)
	}
	all = append(all, schema.Findings...)
	for _, k := range replay.Kinds {
		if !slices.Contains(all, k.Diagnosis) {
			all = append(all, k.Diagnosis)
		}
	}
	return all
}

// findingEvent is the event of a finding about a turn.
func findingEvent(turn int32, d *stream.Diagnosis, format string, args ...any) stream.Event {
	f := d.Finding(format, args...)
	return stream.Event{Kind: stream.Found, Turn: turn, Slot: stream.NoSlot, What: &f}
}

// findings are those of this package: what is seen before a dialect reads a frame.
var findings = []*stream.Diagnosis{
	sourceNote, faultNote, heldNote, sourceChanged, protocolUnknown, protocolUndecoded, unterminatedFrame, blankLinesMissing, codingBroken,
	codingBomb, cacheBroken,
}

var (
	sourceNote = &stream.Diagnosis{
		Code: "SOURCE_NOTE", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The source of the bytes cannot tell everything, or says something about itself: a log without deltas, a proxy that answered itself.",
		Advice:  "Read the note before you judge what is shown.",
	}
	faultNote = &stream.Diagnosis{
		Code: "BENT", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "Toolscope was asked to bend this answer, with --fault: a proxy shows what the provider sent, while its client was given something else, and toolscope cut writes the bent one.",
		Advice:  "Blame nobody else for what the client does next.",
	}
	heldNote = &stream.Diagnosis{
		Code: "HELD", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The client was given this answer later than the provider sent it, or not all of it: somebody held it at a breakpoint (proxy --break).",
		Advice:  "Blame nobody else for what the client did meanwhile; the times shown are those at which the provider sent it.",
	}
	sourceChanged = &stream.Diagnosis{
		Code: "SOURCE_CHANGED", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "Of a big file only the latest and what is looked at is kept; this turn was to be read again, and the file is gone or another one now.",
		Advice:  "Open the file again, or a copy that nobody changes.",
	}
	protocolUnknown = &stream.Diagnosis{
		Code: "DIALECT_UNKNOWN", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "What came is of no protocol that this version knows: it is shown as it came, not interpreted.",
		Advice:  "Name the protocol with --dialect if you know it.",
	}
	protocolUndecoded = &stream.Diagnosis{
		Code: "DIALECT_SEEN", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "The protocol is recognised, but this version does not decode it: the frames are shown as they came.",
		Advice:  "Look at the wire pane; nothing is known of its calls.",
	}
	unterminatedFrame = &stream.Diagnosis{
		Code: "UNTERMINATED_FRAME", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The last event has no blank line after it: browsers and some SDKs drop it.",
		Advice:  "Nothing, if your client reads it; otherwise have the host end its events.",
	}
	blankLinesMissing = &stream.Diagnosis{
		Code: "BLANK_LINES_MISSING", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "No blank line stands between the events: clients take them for one and cannot read it.",
		Advice:  "Have the gateway send an empty line after each event.",
	}
	codingBroken = &stream.Diagnosis{
		Code: "CODING_BROKEN", Severity: stream.Error, By: stream.Gateway,
		Meaning: "The body cannot be unpacked: it is not the coding its headers say, or it is damaged.",
		Advice:  "Ask for it uncompressed, with Accept-Encoding: identity.",
	}
	cacheBroken = &stream.Diagnosis{
		Code: "CACHE_BROKEN", Severity: stream.Info, By: stream.Client,
		Meaning: "The request has something else where the one before it in its lane had what the provider had cached: behind that nothing is read from the cache.",
		Advice:  "If it costs much, keep tools, system prompt and earlier messages as they are from request to request, and add only at the end.",
	}
	codingBomb = &stream.Diagnosis{
		Code: "CODING_BOMB", Severity: stream.Error, By: stream.Provider,
		Meaning: "The body unpacks to 100 times what was sent, beyond 10 MiB, or to more than 256 MiB: it is read no further, and its bytes are kept as they were sent.",
		Advice:  "Find out who sends that: no answer of a model is so big or so empty.",
	}
)
