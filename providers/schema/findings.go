package schema

import "toolscope/stream"

// Findings are those of this room.
var Findings = []*stream.Diagnosis{NoSuchTool, UnknownKey, WrongType, NotListed, TooMany, Invalid, Unchecked}

var (
	NoSuchTool = &stream.Diagnosis{
		Code: "NO_SUCH_TOOL", Severity: stream.Warn, By: stream.Model,
		Means: "The request declares no tool of that name.",
		Do:    "Answer the call with an error that names the tools there are.",
	}
	UnknownKey = &stream.Diagnosis{
		Code: "SCHEMA_UNKNOWN_KEY", Severity: stream.Warn, By: stream.Model,
		Short: "no such key",
		Means: "The arguments have a key that the tool's schema does not allow.",
		Do:    "Refuse the call in a tool result, or declare the key.",
	}
	WrongType = &stream.Diagnosis{
		Code: "SCHEMA_WRONG_TYPE", Severity: stream.Warn, By: stream.Model,
		Short: "wrong type",
		Means: "A value is of a type that the tool's schema does not allow.",
		Do:    "Refuse the call in a tool result; do not convert the value in silence.",
	}
	NotListed = &stream.Diagnosis{
		Code: "SCHEMA_ENUM", Severity: stream.Warn, By: stream.Model,
		Short: "not in the list",
		Means: "A value is none of those that the tool's schema lists.",
		Do:    "Refuse the call in a tool result that names the values there are.",
	}
	TooMany = &stream.Diagnosis{
		Code: "SCHEMA_TOO_MANY", Severity: stream.Warn, By: stream.Model,
		Short: "too many",
		Means: "There are more characters, elements or keys than the tool's schema allows.",
		Do:    "Refuse the call in a tool result, or raise the limit in the schema.",
	}
	Invalid = &stream.Diagnosis{
		Code: "SCHEMA_INVALID", Severity: stream.Warn, By: stream.Model,
		Short: "the schema says no",
		Means: "The arguments are whole, and the tool's schema does not allow them.",
		Do:    "Refuse the call in a tool result that says what is wrong.",
	}
	Unchecked = &stream.Diagnosis{
		Code: "SCHEMA_UNCHECKED", Severity: stream.Info, By: stream.Toolscope,
		Means: "The arguments were not held against a schema, and the message says why.",
		Do:    "Read no more into the silence than that: the call may be wrong all the same.",
	}
)
