package schema

import "toolscope/stream"

// Findings are those of this room.
var Findings = []*stream.Diagnosis{NoSuchTool, UnknownKey, WrongType, NotListed, TooMany, Invalid, Unchecked}

var (
	NoSuchTool = &stream.Diagnosis{
		Code: "NO_SUCH_TOOL", Severity: stream.Warn, By: stream.Model,
		Meaning: "The request declares no tool of that name.",
		Advice:  "Answer the call with an error that names the tools there are.",
	}
	UnknownKey = &stream.Diagnosis{
		Code: "SCHEMA_UNKNOWN_KEY", Severity: stream.Warn, By: stream.Model,
		Short:   "no such key",
		Meaning: "The arguments have a key that the tool's schema does not allow.",
		Advice:  "Refuse the call in a tool result, or declare the key.",
	}
	WrongType = &stream.Diagnosis{
		Code: "SCHEMA_WRONG_TYPE", Severity: stream.Warn, By: stream.Model,
		Short:   "wrong type",
		Meaning: "A value is of a type that the tool's schema does not allow.",
		Advice:  "Refuse the call in a tool result; do not convert the value in silence.",
	}
	NotListed = &stream.Diagnosis{
		Code: "SCHEMA_ENUM", Severity: stream.Warn, By: stream.Model,
		Short:   "not in the list",
		Meaning: "A value is none of those that the tool's schema lists.",
		Advice:  "Refuse the call in a tool result that names the values there are.",
	}
	TooMany = &stream.Diagnosis{
		Code: "SCHEMA_TOO_MANY", Severity: stream.Warn, By: stream.Model,
		Short:   "too many",
		Meaning: "There are more characters, elements or keys than the tool's schema allows.",
		Advice:  "Refuse the call in a tool result, or raise the limit in the schema.",
	}
	Invalid = &stream.Diagnosis{
		Code: "SCHEMA_INVALID", Severity: stream.Warn, By: stream.Model,
		Short:   "the schema says no",
		Meaning: "The arguments are whole, and the tool's schema does not allow them.",
		Advice:  "Refuse the call in a tool result that says what is wrong.",
	}
	Unchecked = &stream.Diagnosis{
		Code: "SCHEMA_UNCHECKED", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The arguments were not held against a schema, and the message says why.",
		Advice:  "Read no more into the silence than that: the call may be wrong all the same.",
	}
)
