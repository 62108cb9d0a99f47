package mcp

import "toolscope/stream"

// Findings lists all diagnoses that this package makes.
var Findings = []*stream.Diagnosis{strayOutput, strayBody, strayAsk, strayAnswer, serverError}

var (
	strayOutput = &stream.Diagnosis{
		Code: "MCP_STDOUT", Severity: stream.Error, By: stream.Server,
		Meaning: "An MCP server wrote something to standard output that is not a message. Only messages are allowed there, and some clients end the connection.",
		Advice:  "Make the server write its log to standard error.",
	}
	strayBody = &stream.Diagnosis{
		Code: "MCP_BODY", Severity: stream.Error, By: stream.Server,
		Meaning: "An MCP server answered with something that is not a message of its protocol.",
		Advice:  "Look for something between the client and the server, such as a login page, or a gateway that answers itself.",
	}
	strayAsk = &stream.Diagnosis{
		Code: "MCP_STDIN", Severity: stream.Error, By: stream.Client,
		Meaning: "A client sent an MCP server something that is not a message of its protocol.",
		Advice:  "Report this to the maker of the client. A server may exit when it gets such a message.",
	}
	strayAnswer = &stream.Diagnosis{
		Code: "MCP_ANSWER", Severity: stream.Info, By: stream.Server,
		Meaning: "An MCP server answered a request that is not open: it was already answered, was cancelled, or began before the capture.",
		Advice:  "Nothing, if the request was cancelled just before. Otherwise look for an id that is used twice.",
	}
	serverError = &stream.Diagnosis{
		Code: "MCP_ERROR", Severity: stream.Warn, By: stream.Server,
		Meaning: "An MCP server reports an error without naming the request, because it couldn't read a message that the client sent.",
		Advice:  "Check the message that the client sent just before the error.",
	}
)
