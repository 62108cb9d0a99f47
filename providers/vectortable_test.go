package providers

// vectors are the cases that an inspector can show. Cases 54 to 58 are about replaying calls, which an
// inspector doesn't do.
var vectors = []vector{
	{1, "a first fragment replaces the placeholder {}, it does not follow it", "anthropic/placeholder_object_is_replaced", []string{
		"complete tool_use", `  sealed object complete: {"city": "Oslo"}`,
	}, nil},
	{2, "one empty fragment is no arguments, which is sealed", "anthropic/no_arguments", []string{
		"complete tool_use", "  sealed empty no arguments",
	}, nil},
	{3, "the start of the block has the whole input, and no delta follows", "anthropic/whole_input_in_block_start", []string{
		"complete tool_use", `  sealed object complete: {"player":"p1"}`,
	}, nil},
	{4, "the call stands in message_start and nowhere else", "anthropic/prepopulated_in_message_start", []string{
		"complete tool_use", `  sealed object complete: {"player":"p1"}`,
	}, nil},
	{5, "deltas of two open blocks take turns", "anthropic/parallel_two_blocks_interleaved", []string{
		"complete tool_use", `  sealed object complete: {"city":"Oslo"}  INTERLEAVED`, `  sealed object complete: {"zone":"CET"}  INTERLEAVED`,
	}, nil},
	{6, "a limit cuts the arguments, and the block is stopped all the same", "anthropic/max_tokens_after_block_stop", []string{
		"truncated max_tokens", `  truncated prefix cut short: {"x":"ab  ARGS_CUT!!`,
	}, nil},
	{7, "an error event in the middle of a call", "anthropic/error_event_mid_call", []string{
		"aborted  PROVIDER_ERROR!!", `  aborted prefix aborted: {"city":"Os  ARGS_CUT!!`,
	}, []string{
		"PROVIDER_ERROR: the provider reports overloaded_error: Overloaded",
	}},
	{8, "no event: lines, only the types in the bodies", "anthropic/event_name_missing", []string{
		"complete tool_use  EVENT_NAME_MISSING", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{9, "a whole object, nothing, and then more: code that ran what parsed ran something else", "openaichat/trailing", []string{
		"complete tool_calls", `  sealed trailing malformed: {"query": "test"}, "limit": 10}  ARGS_TRAILING!!  EARLY_WRONG!`,
	}, []string{
		`parsable object: early wrong with {"query": "test"}`,
	}},
	{10, "code that takes what does not parse for a string runs the first fragment", "openaichat/first_fragment_looks_like_a_value", []string{
		"complete tool_calls", `  sealed object complete: {"urls": ["a"]}`,
	}, []string{
		`any arguments: early wrong with {"ur`,
	}},
	{11, "two whole calls at index 0, each with an id", "openaichat/index_reused_new_ids", []string{
		"complete tool_calls  IDX_REUSED!", `  sealed object complete: {"city":"Oslo"}`, `  sealed object complete: {"city":"Bergen"}`,
	}, nil},
	{12, "later fragments have neither index nor id: they are of the latest call", "openaichat/index_missing", []string{
		"complete tool_calls  IDX_MISSING", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{13, "later fragments have an empty id and an empty name: they are of the same call", "openaichat/id_empty_on_continuation", []string{
		"complete tool_calls", `  sealed object complete: {"city":"Oslo"}  ID_EMPTY  NAME_EMPTY_CONT`,
	}, nil},
	{14, "the arguments are an object and no string: its bytes are kept", "openaichat/arguments_object", []string{
		"complete tool_calls", `  sealed object complete: { "a": 1.0 }  ARGS_OBJECT!`,
	}, nil},
	{15, "a string in the string: DOUBLE_ENCODED is ARGS_DOUBLE in the list of deviations", "openaichat/double_encoded", []string{
		"complete tool_calls", `  sealed double-encoded not an object: "{\"a\":1}"  ARGS_DOUBLE!`,
	}, nil},
	{16, "two objects in one call", "openaichat/concatenated", []string{
		"complete tool_calls", `  sealed concat malformed: {"a":1}{"b":2}  ARGS_CONCAT!!  EARLY_WRONG!`,
	}, []string{
		"ARGS_CONCAT: 2 objects in one call: parallel calls were merged",
	}},
	{17, "null is meant as {}", "openaichat/arguments_null", []string{
		"complete tool_calls", "  sealed empty no arguments  ARGS_NULL!",
	}, nil},
	{17, "so is null as a text, which is kept", "openaichat/arguments_null_as_text", []string{
		"complete tool_calls", "  sealed nonobject not an object: null  ARGS_NULL!  ARGS_NOTOBJECT!",
	}, nil},
	{17, "so is the empty string", "openaichat/arguments_empty", []string{
		"complete tool_calls", "  sealed empty no arguments  ARGS_EMPTY",
	}, nil},
	{17, "so is nothing at all", "openaichat/arguments_missing", []string{
		"complete tool_calls", "  sealed empty no arguments  ARGS_MISSING",
	}, nil},
	{18, "the finish reason is stop although a call came", "openaichat/finish_stop", []string{
		"complete stop  FIN_STOP", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{19, "a limit cuts the arguments", "openaichat/finish_length_mid_args", []string{
		"truncated length", `  truncated prefix cut short: {"city":"Os  ARGS_CUT!!`,
	}, nil},
	{20, "an error object beside the choice that ends in it", "openaichat/finish_error_with_error_object", []string{
		"aborted error  FIN_ERROR!!  PROVIDER_ERROR!!  UPSTREAM_ERROR", `  aborted prefix aborted: {"city":"Os  ARGS_CUT!!`,
	}, []string{
		"PROVIDER_ERROR: the provider reports 502: Upstream failed",
	}},
	{21, "comments between the chunks say nothing and are counted", "openaichat/openrouter_comments", []string{
		"complete tool_calls", `  sealed object complete: {"city":"Oslo"}`,
	}, []string{
		"heartbeats 3",
	}},
	{22, "usage comes behind the finish, in a chunk without choices", "openaichat/usage_empty_choices_chunk", []string{
		"complete tool_calls", `  sealed object complete: {"city":"Oslo"}`,
	}, []string{
		"usage input=100 output=20", "cost $0.0003",
	}},
	{23, "xAI counts reasoning beside the completion: 26 and 196 are billed", "openaichat/usage_xai_reasoning_outside", []string{
		"complete tool_calls", `  sealed object complete: {"city":"Oslo"}`,
	}, []string{
		"usage input=291 cache_read=6 output=222 reasoning=196", "cost $0.002511",
	}},
	{24, "DeepSeek counts it inside: 83 are billed", "openaichat/usage_deepseek_reasoning_inside", []string{
		"complete tool_calls", `  sealed object complete: {"city":"Oslo"}`,
	}, []string{
		"usage input=339 cache_read=320 output=83 reasoning=39", "cost $0.001169",
	}},
	{25, "function_call, as it was before there were tools", "openaichat/legacy_function_call", []string{
		"complete function_call", `  sealed object complete: {"city":"Oslo"}  LEGACY_FUNCTION_CALL`,
	}, nil},
	{26, "the input of a custom tool is no JSON", "openaichat/custom_tool", []string{
		"complete tool_calls", "  sealed freeform complete: SELECT 1;",
	}, nil},
	{27, "a call of a tool named parallel holds three", "openaichat/parallel_tool", []string{
		"complete tool_calls", `  sealed object complete: {"tool_uses":[{"recipient_name":"functions.a","parameters":{}},{"recipient_name":"functions.a","parameters":{"n":1}},{"recipient_name":"functions.b","parameters":{}}]}  PARALLEL_WRAPPER!`,
	}, []string{
		"PARALLEL_WRAPPER: the arguments of one call contain other calls (3): the model called a tool that was not declared",
	}},
	{28, "the arguments are said four times and are the same", "openairesponses/one_call", []string{
		"complete completed", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{28, "or are not", "openairesponses/all_copies_differ", []string{
		"complete completed", `  sealed object complete: {"a":3}  DONE_MISMATCH!!  DONE_MISMATCH!!  DONE_MISMATCH!!`,
	}, nil},
	{29, "every event has another item id: the index says whose it is", "openairesponses/ids_rotate", []string{
		"complete completed  ITEM_ID_ROTATED", `  sealed object complete: {"city":"Oslo"}`, `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{30, "an error event and a failed response are one error", "openairesponses/error_nested_then_failed", []string{
		"aborted failed  PROVIDER_ERROR!!", `  aborted prefix aborted: {"ci  ARGS_CUT!!`,
	}, nil},
	{31, "a limit cuts the arguments, of which no done came", "openairesponses/incomplete_before_done", []string{
		"truncated incomplete  FIN_INCOMPLETE", `  sealed object complete: {"city":"Oslo"}`, `  truncated prefix cut short: {"city":"Ro  ARGS_CUT!!`,
	}, []string{
		"FIN_INCOMPLETE: the response is incomplete: max_output_tokens",
	}},
	{32, "a patch: its text is free, the item round it is an object", "openairesponses/apply_patch", []string{
		"complete completed", `  sealed object complete: {"type":"create_file","diff":"+# \"A\"\n","path":"a.md"}`,
	}, nil},
	{33, "a call of a program is done with the status in_progress", "openairesponses/program_with_a_call", []string{
		"complete completed", "  sealed freeform complete: await tools.get_weather({})", `  sealed object complete: {"city":"Oslo"}`, `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{34, "two lanes of a WebSocket are two turns; a third follows", "openairesponses/websocket_lanes", []string{
		"complete completed", `  sealed object complete: {"city":"Oslo"}`, "complete completed", `  sealed object complete: {"city":"Rome"}`, "complete completed", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{35, "a whole call, and then an empty text with STOP", "gemini/call_then_stop", []string{
		"complete STOP", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{36, "a call without args", "gemini/args_absent", []string{
		"complete STOP", "  sealed empty no arguments",
	}, nil},
	{37, "a string in two pieces, closed, and the end", "gemini/partial_one_string", []string{
		"complete STOP", `  sealed object complete: {"location":"Boston"}`,
	}, nil},
	{38, "a part that only says that it continues is not the end", "gemini/partial_nested", []string{
		"complete STOP", `  sealed object complete: {"recipe":{"ingredients":[{"amount":"16 oz","name":"Noodles"},{"amount":2,"name":"Eggs"}],"name":"Lasagna","steps":["Cook."]}}`,
	}, []string{
		"heartbeats 2",
	}},
	{39, "a number that does not continue, and no end but STOP", "gemini/partial_no_end", []string{
		"complete STOP", `  sealed object complete: {"ops":[{"id":"a1","price":0.5}]}`,
	}, nil},
	{40, "an array with line ends and commas between the chunks", "gemini/array_crlf", []string{
		"complete STOP", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{41, "an error without data: before it", "gemini/error_without_data", []string{
		"aborted  PROVIDER_ERROR!!",
	}, []string{
		"PROVIDER_ERROR: the provider reports UNAVAILABLE: The model is overloaded. Please try again later.",
	}},
	{41, "the same inside a call", "gemini/error_without_data_mid_call", []string{
		"aborted  PROVIDER_ERROR!!  UNTERMINATED_FRAME", `  aborted prefix aborted: {"city":"Os  ARGS_CUT!!`,
	}, nil},
	{42, "an integer that no double holds", "gemini/int_precision", []string{
		"complete STOP", `  sealed object complete: {"text":"9007199254740993 \\\" 1","ok":-9007199254740992,"n":[1,9007199254740993]}  INT_PRECISION`, `  sealed object complete: {"n":1.7976931348623157e+308,"m":-123456789012345678901}  INT_PRECISION`,
	}, []string{
		"INT_PRECISION: 9007199254740993 has more digits than a double can store: Google and most clients pass numbers on as doubles",
	}},
	{43, "an object in a list, which is no number", "aistudio/objects_in_list_two_fields", []string{
		"complete 1", `  sealed object complete: {"todos":[{"id":"1","status":"pending"}]}  LIST_AMBIGUOUS  LENGTH_FIRST_DIVERGENCE!`,
	}, []string{
		`LENGTH_FIRST_DIVERGENCE: a client that checks an array's length before its content reads {"todos":[{"id":["1"],"status":["pending"]}]} instead of {"todos":[{"id":"1","status":"pending"}]}`,
	}},
	{43, "the same in one more array", "aistudio/objects_in_list_wrapped", []string{
		"complete 1", `  sealed object complete: {"todos":[{"id":"1","status":"pending"}]}  LIST_AMBIGUOUS  LENGTH_FIRST_DIVERGENCE!`,
	}, []string{
		`LENGTH_FIRST_DIVERGENCE: a client that checks an array's length before its content reads {"todos":[{}]} instead of {"todos":[{"id":"1","status":"pending"}]}`,
	}},
	{44, "an object without members and a list without items", "aistudio/empty_values", []string{
		"complete 1", `  sealed object complete: {"o":{},"l":[]}`,
	}, nil},
	{45, "a list of one string, with an array round it and without", "aistudio/lists_of_one", []string{
		"complete 1", `  sealed object complete: {"tasks":["task1"]}`, `  sealed object complete: {"tasks":["task1"]}  LIST_AMBIGUOUS`,
	}, nil},
	{46, "a signed part has 15 fields", "aistudio/call_then_finish", []string{
		"complete 1", `  sealed object complete: {"city":"Oslo"}  SIGNED_PART_MISSED`,
	}, nil},
	{47, "the prefix of the same, cut anywhere", "aistudio/call_then_finish", []string{
		"complete 1", `  sealed object complete: {"city":"Oslo"}  SIGNED_PART_MISSED`,
	}, nil},
	{48, "an error whose first element is left out", "aistudio/error_body", []string{
		"aborted  PROVIDER_ERROR!!",
	}, []string{
		"PROVIDER_ERROR: the provider reports PERMISSION_DENIED: The caller does not have permission",
	}},
	{49, "a line with a call, and the line that ends the response with stop", "ollama/one_call", []string{
		"complete stop", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{50, "an error line", "ollama/error_line", []string{
		"aborted  PROVIDER_ERROR!!", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{51, "binary messages, cut anywhere", "bedrock/one_call", []string{
		"complete tool_use", `  sealed object complete: {"city":"Oslo"}`,
	}, nil},
	{51, "a checksum is wrong: what follows cannot be found", "bedrock/corrupt", []string{
		"aborted  FRAME_UNDECODABLE!!  NO_TERMINATOR!!", `  aborted prefix aborted: {"city":  ARGS_CUT!!`,
	}, nil},
	{52, "metadata before messageStop", "bedrock/metadata_before_stop", []string{
		"complete tool_use", `  sealed object complete: {"city":"Oslo"}`,
	}, []string{
		"usage input=100 output=20",
	}},
	{53, "a start and an end without a delta; tool_calls is one object", "cohere/no_arguments", []string{
		"complete TOOL_CALL", "  sealed empty no arguments", `  sealed object complete: {"zone":1}`,
	}, nil},
}
