package mcp

import "toolscope/stream"

// Findings are those that are made here.
var Findings = []*stream.Diagnosis{strayOutput, strayBody, strayAsk, strayAnswer, serverError}

var (
	strayOutput = &stream.Diagnosis{
		Code: "MCP_STDOUT", Severity: stream.Error, By: stream.Server,
		Meaning: "An MCP server wrote something to standard output that is no message: that is where messages go and nothing else, and some clients end the connection.",
		Advice:  "Have the server write what it logs to standard error.",
	}
	strayBody = &stream.Diagnosis{
		Code: "MCP_BODY", Severity: stream.Error, By: stream.Server,
		Meaning: "An MCP server answered with something that is no message of its protocol.",
		Advice:  "Look at what stands between: a login page, or a gateway that answers itself.",
	}
	strayAsk = &stream.Diagnosis{
		Code: "MCP_STDIN", Severity: stream.Error, By: stream.Client,
		Meaning: "A client sent an MCP server something that is no message of its protocol.",
		Advice:  "Report it to whoever makes the client: servers may end here.",
	}
	strayAnswer = &stream.Diagnosis{
		Code: "MCP_ANSWER", Severity: stream.Info, By: stream.Server,
		Meaning: "An MCP server answered a request that nobody has open: it was answered already, was taken back, or began before the recording.",
		Advice:  "Nothing, if the request was taken back just before; otherwise look for an id that is used twice.",
	}
	serverError = &stream.Diagnosis{
		Code: "MCP_ERROR", Severity: stream.Warn, By: stream.Server,
		Meaning: "An MCP server reports an error without saying of which request: it could not read what it was sent.",
		Advice:  "Look at what was sent just before.",
	}
)
