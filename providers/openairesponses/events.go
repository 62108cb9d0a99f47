package openairesponses

// itemEvent is an event about an item of that type. An event without a handler repeats others, or has
// nothing of interest.
type itemEvent struct {
	item string
	does func(*decoder, *item)
}

// itemEvents are the events about items, except those that begin and end one.
var itemEvents = map[string]itemEvent{
	"response.function_call_arguments.delta":    {"function_call", (*decoder).readArgsDelta},
	"response.function_call_arguments.done":     {"function_call", (*decoder).readArgsDone},
	"response.custom_tool_call_input.delta":     {"custom_tool_call", (*decoder).readArgsDelta},
	"response.custom_tool_call_input.done":      {"custom_tool_call", (*decoder).readArgsDone},
	"response.mcp_call_arguments.delta":         {"mcp_call", (*decoder).readArgsDelta},
	"response.mcp_call_arguments.done":          {"mcp_call", (*decoder).readArgsDone},
	"response.code_interpreter_call_code.delta": {"code_interpreter_call", (*decoder).readArgsDelta},
	"response.code_interpreter_call_code.done":  {"code_interpreter_call", (*decoder).readCodeDone},

	"response.apply_patch_call_operation_diff.delta": {"apply_patch_call", (*decoder).readDiffDelta},
	"response.apply_patch_call_operation_diff.done":  {"apply_patch_call", (*decoder).readDiffDone},
	"response.shell_call_command.added":              {"shell_call", (*decoder).readCommandAdded},
	"response.shell_call_command.delta":              {"shell_call", (*decoder).readCommandDelta},
	"response.shell_call_command.done":               {"shell_call", (*decoder).readCommandDone},

	"response.output_text.delta":            {"message", (*decoder).readTextDelta},
	"response.output_text.done":             {"message", (*decoder).readTextDone},
	"response.refusal.delta":                {"message", (*decoder).readTextDelta},
	"response.refusal.done":                 {"message", (*decoder).readTextDone},
	"response.reasoning_text.delta":         {"reasoning", (*decoder).readReasoningDelta},
	"response.reasoning_text.done":          {"reasoning", (*decoder).readReasoningDone},
	"response.reasoning_summary_text.delta": {"reasoning", (*decoder).readSummaryDelta},
	"response.reasoning_summary_text.done":  {"reasoning", (*decoder).readSummaryDone},

	"response.content_part.added": {}, "response.content_part.done": {}, "response.output_text.annotation.added": {},
	"response.reasoning_summary_part.added": {}, "response.reasoning_summary_part.done": {},
	"response.mcp_call.in_progress": {}, "response.mcp_call.completed": {}, "response.mcp_call.failed": {},
	"response.mcp_list_tools.in_progress": {}, "response.mcp_list_tools.completed": {}, "response.mcp_list_tools.failed": {},
	"response.code_interpreter_call.in_progress": {}, "response.code_interpreter_call.interpreting": {},
	"response.code_interpreter_call.completed": {},
	"response.web_search_call.in_progress":     {}, "response.web_search_call.searching": {}, "response.web_search_call.completed": {},
	"response.file_search_call.in_progress": {}, "response.file_search_call.searching": {},
	"response.file_search_call.completed":        {},
	"response.image_generation_call.in_progress": {}, "response.image_generation_call.generating": {},
	"response.image_generation_call.partial_image": {}, "response.image_generation_call.completed": {},
	"response.shell_call_output_content.delta": {}, "response.shell_call_output_content.done": {},
	"response.audio.delta": {}, "response.audio.done": {},
	"response.audio.transcript.delta": {}, "response.audio.transcript.done": {},
}
