package aistudio

import (
	"slices"

	"toolscope/providers/protocol"
)

// target is where the history of AI Studio's page goes. The models behind it are Gemini's and so
// are the messages, so what those demand is assumed here: names as in FunctionDeclaration of
// Google's API reference, numbers that are doubles, a Struct that nests no deeper than protobuf's
// parsers go, signatures and the value that stands for one. What its service answers to what it
// refuses is not known.
var target = protocol.Target{
	Name: "aistudio", Title: "Google AI Studio", Protocol: "aistudio",
	Form:          protocol.PositionalForm,
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_.:-", First: "a-zA-Z_", Max: 128},
	Doubles:       true,
	UnorderedKeys: true,
	// Messages in messages: 3 are the content, the part and the call, an object is a Struct of
	// entries of Values, a list a ListValue of Values (struct.proto); 100 is what protobuf's
	// parsers take by default.
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
	fields := make(positionalMessage, 15) // by the indices in the package's doc
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

// argsOf are the arguments of a call, nil if it has none; what is no object goes as the string it
// is.
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

// outcomeCode is how running code ended, by its number.
func outcomeCode(failed bool) protocol.Raw {
	if failed {
		return protocol.Raw("2")
	}
	return protocol.Raw("1")
}
