package openairesponses

// histories contains inputs with the lines that are expected from them. The field again contains the lines after the
// history is written and read again, if they differ.
var histories = []struct{ name, input, want, again string }{
	{"functions",
		`{"role":"developer","content":"Be brief."},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Weather?"}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look "},{"type":"summary_text","text":"it up."}],"encrypted_content":"gA"},
		{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"One \"moment\".","annotations":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{\"city\": \"Oslo\"","status":"completed"},
		{"type":"function_call","call_id":"call_2","name":"now","namespace":"clock","arguments":""},
		{"type":"function_call_output","call_id":"call_1","output":"4 \"C\""},
		{"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"noon"}]},
		{"role":"user","content":"Go on."}`,
		`system
  text "Be brief."
user
  text "Weather?"
assistant
  reasoning item=rs_1 "Look it up." signature=gA
  text item=msg_1 "One \"moment\"."
  call id=call_1 item=fc_1 name=get_weather tool=function string {"city": "Oslo"
  call id=call_2 name=now space=clock tool=function string
user
  result id=call_1 "4 \"C\""
  result id=call_2 "noon"
user
  text "Go on."
`, ""},
	{"encrypted reasoning, stored reasoning, and one turn after the other",
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"},
		{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"call_1","output":""},
		{"type":"reasoning","id":"rs_2","summary":[]},
		{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"run_sql","input":"SELECT\t1"},
		{"type":"custom_tool_call_output","call_id":"call_2","output":"1"}`,
		`assistant
  reasoning item=rs_1 hidden signature=gA
  call id=call_1 name=f tool=function string {}
user
  result id=call_1
assistant
  reasoning item=rs_2
  call id=call_2 item=ctc_1 name=run_sql tool=custom string SELECT	1
user
  result id=call_2 "1"
`, ""},
	{"tools of the protocol that the client runs",
		`{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"],"timeout_ms":1000},"environment":{"type":"local"}},
		{"type":"local_shell_call","id":"lsh_1","call_id":"c2","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"},
		{"type":"apply_patch_call","id":"apc_1","call_id":"c3","operation":{"type":"delete_file","path":"a"},"status":"completed"},
		{"type":"computer_call","id":"cu_1","call_id":"c4","action":{"type":"wait"},"pending_safety_checks":[],"status":"completed"},
		{"type":"computer_call","id":"cu_2","call_id":"c5","actions":[{"type":"wait"}],"pending_safety_checks":[],"status":"completed"},
		{"type":"tool_search_call","id":"tsc_1","call_id":"c6","execution":"client","arguments":{"goal":"x"}},
		{"type":"mcp_approval_request","id":"mcpr_1","server_label":"docs","name":"search","arguments":"{}"},
		{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a","stderr":"b","outcome":{"type":"exit","exit_code":2}}]},
		{"type":"local_shell_call_output","id":"c2","output":"{\"output\":\"a\"}"},
		{"type":"apply_patch_call_output","call_id":"c3","status":"failed","output":"no such file"},
		{"type":"computer_call_output","call_id":"c4","output":{"type":"computer_screenshot","image_url":"data:,"}},
		{"type":"computer_call_output","call_id":"cu_2","output":{"type":"computer_screenshot","image_url":"data:,"}},
		{"type":"tool_search_output","call_id":"c6","execution":"client","tools":[{"type":"function","name":"f"}]},
		{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":false,"reason":"no"}`,
		`assistant
  call id=c1 item=sh_1 name=shell_call tool=server object {"commands":["ls"],"timeout_ms":1000}
  call id=c2 item=lsh_1 name=local_shell_call tool=server object {"type":"exec","command":["ls"],"env":{}}
  call id=c3 item=apc_1 name=apply_patch_call tool=server object {"type":"delete_file","path":"a"}
  call id=c4 item=cu_1 name=computer_call tool=server object {"type":"wait"}
  call id=c5 item=cu_2 name=computer_call tool=server object {"actions":[{"type":"wait"}]}
  call id=c6 item=tsc_1 name=tool_search_call tool=server object {"goal":"x"}
  call id=mcpr_1 name=search tool=mcp_approval host=docs string {}
user
  result id=c1 failed "ab"
  result id=c2 "{\"output\":\"a\"}"
  result id=c3 failed "no such file"
  result id=c4 media=1
  result id=c5 media=1
  result id=c6 "[{\"type\":\"function\",\"name\":\"f\"}]"
  result id=mcpr_1 failed "no"
`, ""},
	{"what the provider runs",
		`{"type":"program","id":"cm_1","call_id":"call_p","code":"await f({})","fingerprint":"gB"},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}","caller":{"type":"program","caller_id":"call_p"}},
		{"type":"function_call_output","call_id":"call_1","output":"1"},
		{"type":"program_output","id":"cmo_1","call_id":"call_p","result":"1","status":"completed"},
		{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","arguments":{"paths":["a"]},"status":"completed"},
		{"type":"tool_search_output","id":"tso_1","call_id":null,"execution":"server","tools":[],"status":"completed"},
		{"type":"mcp_call","id":"mcp_1","server_label":"docs","name":"search","arguments":"{\"q\":1}","output":"found"},
		{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"x"},"status":"completed"},
		{"type":"file_search_call","id":"fs_1","queries":["a"],"status":"completed"},
		{"type":"code_interpreter_call","id":"ci_1","code":"1+1","container_id":"cntr_1","status":"completed"},
		{"type":"image_generation_call","id":"ig_1","result":"AAAA","status":"completed"},
		{"type":"brand_new_call","id":"bn_1","call_id":"c9","action":{"a":1}}`,
		`assistant
  call id=call_p item=cm_1 name=program tool=server server string await f({}) signature=gB
  call id=call_1 item=fc_1 name=f tool=function parent=call_p string {}
user
  result id=call_1 "1"
assistant
  result id=call_p item=cmo_1 server "1"
  call id=tsc_1 name=tool_search_call tool=server server object {"paths":["a"]}
  result id=tsc_1 item=tso_1 server "[]"
  call id=mcp_1 name=search tool=mcp host=docs server string {"q":1}
  call id=ws_1 name=web_search_call tool=server server object {"type":"search","query":"x"}
  call id=fs_1 name=file_search_call tool=server server object {"queries":["a"]}
  call id=ci_1 name=code_interpreter_call tool=server server string 1+1
  call id=ig_1 name=image_generation_call tool=server server string
  call id=c9 item=bn_1 name=brand_new_call tool=server object {"a":1}
`, "-item=tso_1 "},
	{"messages of several blocks, and items that are no messages",
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Look:"},{"type":"input_image","image_url":"data:,"}]},
		{"type":"message","role":"user","content":[{"type":"brand_new","x":1},{"type":"input_text","text":"?"}]},
		{"role":"user","content":""},
		{"type":"mcp_list_tools","id":"mcpl_1","server_label":"docs","tools":[]},
		{"id":"msg_9","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},
		{"id":"msg_8","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"c"}]},
		{"type":"compaction","id":"cmp_1","encrypted_content":"gA"},
		{"id":"rs_1"}`,
		`user
  text "Look:"
  other
user
  other
user
  text
assistant
  other
  text item=msg_9 "a"
  text item=msg_9 "b"
  text item=msg_8 "c"
  other
  other
`, `user
  text "Look:"
user
  text
assistant
  text item=msg_9 "a"
  text item=msg_9 "b"
  text item=msg_8 "c"
`},
}
