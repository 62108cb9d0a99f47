package openaichat

import "toolscope/providers/protocol"

// openAI says how Chat Completions takes history. It accepts arguments as text, complete JSON or not.
// The rules are from OpenAI's published API description (FunctionObject) and its own error messages.
var openAI = protocol.Target{
	Name: "openai-chat", Title: "OpenAI Chat Completions", Protocol: "openai-chat",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Max: 40, Required: true},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 64},
	Freeform:      true,
	Reasoning:     protocol.NoReasoning,
	ResultsFollow: true,
	Refusal: protocol.Refusal{
		LongID:     "Invalid 'messages[N].tool_calls[M].id': string too long. Expected a string with maximum length 40, but got a string with length {n} instead.",
		Name:       "Invalid 'messages[N].tool_calls[M].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
		LoneCall:   "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}",
		LoneResult: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// mistral is Mistral's own API. It requires ids of nine letters and digits (error 3280) and as many
// results as calls (error 3230), and accepts reasoning as a part of the content.
var mistral = protocol.Target{
	Name: "mistral", Title: "Mistral", Protocol: "openai-chat",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Class: "a-zA-Z0-9", Min: 9, Max: 9, Required: true},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 64},
	Reasoning:     protocol.PlainReasoning,
	ResultsFollow: true,
	Refusal: protocol.Refusal{
		ID:         "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
		LoneCall:   "Not the same number of function calls and responses",
		LoneResult: "Not the same number of function calls and responses",
	},
	Encode:  encodeMistral,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// llamaCPP is llama.cpp's server. Its chat templates parse the arguments, so it refuses a text that is
// not JSON with status 500.
var llamaCPP = protocol.Target{
	Name: "llama.cpp", Title: "llama.cpp", Protocol: "openai-chat",
	Form:          protocol.TextForm,
	JSONOnly:      true,
	Reasoning:     protocol.PlainReasoning,
	TakesUnpaired: true,
	Refusal: protocol.Refusal{
		Args: "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] ...",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}
