package requestrules

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Findings lists the findings that only this package makes.
var Findings = []*stream.Diagnosis{ResultTwice, IDIllegal, RequestIllegal}

// Findings about a request.
var (
	ResultTwice = &stream.Diagnosis{
		Code: "RESULT_TWICE", Severity: stream.Error, OtherSeverities: []stream.Severity{stream.Info, stream.Warn}, By: stream.Client,
		Verdict:      "two results",
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The history has more than one result for a call. Anthropic, Bedrock and OpenAI refuse the request.",
		Advice:       "Keep only one result for each call. Look for code that adds a result when it resumes or repairs a history.",
	}
	IDIllegal = &stream.Diagnosis{
		Code: "ID_ILLEGAL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		Verdict:      "illegal id",
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The id of a call is too long for the target, or contains characters that the target doesn't accept. The target refuses the request.",
		Advice:       "Replace the id, in both the call and its result, with an id that the target accepts.",
	}
	RequestIllegal = &stream.Diagnosis{
		Code: "REQUEST_ILLEGAL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		Verdict:      "bad request",
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The messages of a request break a rule of its target, e.g. about the order of roles or about empty text. The target refuses the request.",
		Advice:       "Change the code that builds the request. The finding's message names the place in the request.",
	}
)
