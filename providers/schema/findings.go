package schema

import "toolscope/stream"

// Findings lists the diagnoses of this package.
var Findings = []*stream.Diagnosis{NoSuchTool, UnknownKey, WrongType, NotListed, TooMany, Invalid, Unchecked}

// The diagnoses of this package.
var (
	NoSuchTool = &stream.Diagnosis{
		Code: "NO_SUCH_TOOL", Severity: stream.Warn, By: stream.Model,
		Meaning: "The model called a tool that the request doesn't declare.",
		Advice:  "Refuse the call in a tool result that lists the declared tools.",
	}
	UnknownKey = &stream.Diagnosis{
		Code: "SCHEMA_UNKNOWN_KEY", Severity: stream.Warn, By: stream.Model,
		Short:   "no such key",
		Meaning: "The arguments have a key that the tool's schema doesn't allow.",
		Advice:  "Refuse the call in a tool result, or declare the key.",
	}
	WrongType = &stream.Diagnosis{
		Code: "SCHEMA_WRONG_TYPE", Severity: stream.Warn, By: stream.Model,
		Short:   "wrong type",
		Meaning: "A value has a type that the tool's schema doesn't allow.",
		Advice:  "Refuse the call in a tool result. Don't convert the value silently.",
	}
	NotListed = &stream.Diagnosis{
		Code: "SCHEMA_ENUM", Severity: stream.Warn, By: stream.Model,
		Short:   "not in the list",
		Meaning: "A value is not one of those that the tool's schema lists.",
		Advice:  "Refuse the call in a tool result that lists the allowed values.",
	}
	TooMany = &stream.Diagnosis{
		Code: "SCHEMA_TOO_MANY", Severity: stream.Warn, By: stream.Model,
		Short:   "too many",
		Meaning: "A value has more characters, elements or keys than the tool's schema allows.",
		Advice:  "Refuse the call in a tool result, or raise the limit in the schema.",
	}
	Invalid = &stream.Diagnosis{
		Code: "SCHEMA_INVALID", Severity: stream.Warn, By: stream.Model,
		Short:   "breaks the schema",
		Meaning: "The arguments are complete, and the tool's schema doesn't allow them.",
		Advice:  "Refuse the call in a tool result that names the error.",
	}
	Unchecked = &stream.Diagnosis{
		Code: "SCHEMA_UNCHECKED", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The arguments were not checked against a schema; the message says why.",
		Advice:  "Don't treat the arguments as valid: the call may still be wrong.",
	}
)
