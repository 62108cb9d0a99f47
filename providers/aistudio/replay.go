package aistudio

import (
	"slices"

	"toolscope/providers/protocol"
)

// target is the target of histories of AI Studio's page. Its models and messages are Gemini's, so
// the same rules are assumed: names as in FunctionDeclaration of Google's API reference, numbers that
// are doubles, a Struct that nests no deeper than protobuf's parsers allow, signatures, and the
// placeholder for a signature. How the service refuses a request is unknown.
var target = protocol.Target{
	Name: "aistudio", Title: "Google AI Studio", Protocol: "aistudio",
	Form:          protocol.PositionalForm,
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_.:-", First: "a-zA-Z_", Max: 128},
	Doubles:       true,
	UnorderedKeys: true,
	// The depth counts nested messages: 3 are the content, the part and the call; an object is a
	// Struct of entries of Values, a list is a ListValue of Values (struct.proto). 100 is the default
	// limit of protobuf's parsers.
	Depth:         protocol.DepthRule{Limit: 100, Base: 3, Object: 3, Array: 2},
	Reasoning:     protocol.PlainReasoning,
	HasSignatures: true,
	Sentinel:      "skip_thought_signature_validator",
	ErrorFlag:     true, ResultsFollow: true,
	Encode: encodeHistory,
	Decode: decodeHistory,
}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteContents(messages, writePart, func(role string, parts []byte) []byte {
		return positionalMessage{slices.Concat([]byte("["), parts, []byte("]")), stringOrNil(role)}.raw()
	})
}

func writePart(w *protocol.Writer, p *protocol.Part) {
	fields := make(positionalMessage, 15) // with the indexes of the package doc
	fields[14] = stringOrNil(p.Signature)
	switch {
	case p.Kind == protocol.CallPart && p.RunByProvider && p.Name == codeTool:
		fields[8] = positionalMessage{protocol.Raw("1"), protocol.AppendString(nil, p.Args)}.raw()
	case p.Kind == protocol.CallPart:
		fields[10] = positionalMessage{protocol.AppendString(nil, []byte(p.Name)), argsOf(p), stringOrNil(p.ID)}.raw()
	case p.Kind == protocol.ResultPart && p.RunByProvider && p.Name == codeTool:
		fields[9] = positionalMessage{outcomeCode(p.Failed), protocol.AppendString(nil, p.Text)}.raw()
	case p.Kind == protocol.ResultPart:
		object, _ := appendStruct(nil, protocol.WrapResponse(p))
		fields[11] = positionalMessage{protocol.AppendString(nil, []byte(p.Name)), object, stringOrNil(p.ID)}.raw()
	case p.Kind == protocol.TextPart, p.Kind == protocol.ReasoningPart && (len(p.Text) > 0 || p.Signature != ""):
		fields[1] = protocol.AppendString(nil, p.Text)
		if p.Kind == protocol.ReasoningPart && len(p.Text) > 0 {
			fields[12] = protocol.Raw("1")
		}
	default:
		return
	}
	w.Raw(fields.raw())
}

// argsOf returns the arguments of a call, nil if it has none. Arguments that are not an object are
// written as a string.
func argsOf(p *protocol.Part) protocol.Raw {
	if len(p.Args) == 0 {
		return nil
	}
	if object, ok := appendStruct(nil, p.Args); ok {
		return object
	}
	return protocol.AppendString(nil, p.Args)
}

const outcomeOK = 1

// outcomeCode returns the number of the outcome of a code run.
func outcomeCode(failed bool) protocol.Raw {
	if failed {
		return protocol.Raw("2")
	}
	return protocol.Raw("1")
}
