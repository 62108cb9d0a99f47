package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A sessionEntry is an entry of a generated session: user, text, call, result, compact or rewind.
type sessionEntry struct {
	kind, id, text string
	turn           int // for text and calls: the number of their turn
}

// newSession returns a session of three rounds, each with parallel calls and their results.
func newSession(calls int) (s []sessionEntry) {
	s = append(s, sessionEntry{kind: "user", text: "list it"})
	for round := range 3 {
		s = append(s, sessionEntry{kind: "text", text: fmt.Sprint("I look at part ", round), turn: round})
		for n := range calls {
			s = append(s, sessionEntry{kind: "call", id: sessionCallID(round, n), turn: round})
		}
		for n := range calls {
			s = append(s, sessionEntry{kind: "result", id: sessionCallID(round, n), text: fmt.Sprintf("file %d of %d", n, round)})
		}
	}
	return append(s, sessionEntry{kind: "text", text: "That is all.", turn: 3})
}

func sessionCallID(round, n int) string { return fmt.Sprintf("toolu_r%dn%d", round, n) }

// sessionIndex returns the index of the entry with the given kind and id.
func sessionIndex(s []sessionEntry, kind, id string) int {
	return slices.IndexFunc(s, func(e sessionEntry) bool { return e.kind == kind && e.id == id })
}

// without returns a session without the entry that has the given kind and id.
func without(s []sessionEntry, kind, id string) []sessionEntry {
	i := sessionIndex(s, kind, id)
	return slices.Delete(slices.Clone(s), i, i+1)
}

// withEntries returns a session with more entries before index i.
func withEntries(s []sessionEntry, i int, more ...sessionEntry) []sessionEntry {
	return slices.Insert(slices.Clone(s), i, more...)
}

// entryJSON returns v as JSON.
func entryJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

type entryObject = map[string]any

// writeClaudeSession writes a session of Claude Code: an entry for each block. A result follows the entry of its call.
func writeClaudeSession(s []sessionEntry, lost int) string {
	var lines []string
	last, uuids := any(nil), map[string]string{}
	for i, e := range s {
		line := entryObject{"parentUuid": last, "isSidechain": false, "uuid": fmt.Sprintf("%08d-0000", i), "sessionId": "s1", "version": "2.1.332", "cwd": "/w", "timestamp": fmt.Sprintf("2026-11-22T10:%02d:%02d.000Z", i/60, i%60)}
		if i == lost {
			line["parentUuid"] = "ffffffff-0000"
		}
		block := entryObject{"type": "text", "text": e.text}
		stop := "end_turn"
		switch e.kind {
		case "user":
			line["type"], line["message"] = "user", entryObject{"role": "user", "content": e.text}
		case "result":
			if of := uuids[e.id]; of != "" && i != lost {
				line["parentUuid"] = of
			}
			line["type"], line["message"] = "user", entryObject{"role": "user", "content": []entryObject{{"type": "tool_result", "tool_use_id": e.id, "content": e.text}}}
		case "compact":
			line["type"], line["subtype"], line["logicalParentUuid"], line["parentUuid"], line["content"] = "system", "compact_boundary", last, nil, "Conversation compacted"
		case "rewind":
			last = fmt.Sprintf("%08d-0000", sessionIndex(s, "user", ""))
			continue
		case "call":
			block = entryObject{"type": "tool_use", "id": e.id, "name": "Bash", "input": entryObject{"command": "ls " + e.id}}
			uuids[e.id] = line["uuid"].(string)
			fallthrough
		default:
			if e.turn < 3 {
				stop = "tool_use"
			}
			line["type"], line["message"] = "assistant", entryObject{"id": fmt.Sprint("msg_", e.turn), "type": "message", "role": "assistant", "model": "claude-opus-4-5",
				"content": []entryObject{block}, "stop_reason": stop, "usage": entryObject{"input_tokens": 9, "output_tokens": 9}}
		}
		last = line["uuid"]
		lines = append(lines, entryJSON(line))
	}
	return strings.Join(lines, "\n") + "\n"
}

// writeCodexSession writes a session of Codex: an item for each entry.
func writeCodexSession(s []sessionEntry, _ int) string {
	var lines []string
	add := func(kind string, payload entryObject) {
		lines = append(lines, entryJSON(entryObject{"timestamp": fmt.Sprintf("2026-11-22T10:00:%02d.000Z", len(lines)%60), "type": kind, "payload": payload}))
	}
	add("session_meta", entryObject{"id": "s1", "session_id": "s1", "cwd": "/w", "originator": "codex_exec", "cli_version": "0.169.0", "timestamp": "2026-11-22T10:00:00.000Z"})
	for _, e := range s {
		switch e.kind {
		case "user":
			add("response_item", entryObject{"type": "message", "role": "user", "content": []entryObject{{"type": "input_text", "text": e.text}}})
		case "result":
			add("response_item", entryObject{"type": "function_call_output", "call_id": e.id, "output": e.text})
		case "call":
			add("response_item", entryObject{"type": "function_call", "id": "fc_" + e.id, "name": "shell", "arguments": `{"cmd":"ls ` + e.id + `"}`, "call_id": e.id})
		case "compact":
			add("compacted", entryObject{"message": "Summary.", "replacement_history": []entryObject{{"type": "message", "role": "user", "content": []entryObject{{"type": "input_text", "text": "Summary."}}}}})
		case "text":
			add("response_item", entryObject{"type": "message", "role": "assistant", "content": []entryObject{{"type": "output_text", "text": e.text}}})
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// eachSessionMessage calls f with the entries of each message: those of a turn, or a single entry.
func eachSessionMessage(s []sessionEntry, f func(entries []sessionEntry)) {
	for len(s) > 0 {
		n, own := 1, s[0].kind == "text" || s[0].kind == "call"
		for own && n < len(s) && (s[n].kind == "text" || s[n].kind == "call") && s[n].turn == s[0].turn {
			n++
		}
		f(s[:n])
		s = s[n:]
	}
}

// writePiSession writes a session of pi: a message for each turn and each result.
func writePiSession(s []sessionEntry, _ int) string {
	lines := []string{entryJSON(entryObject{"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-22T10:00:00.000Z", "cwd": "/w"})}
	last := any(nil)
	eachSessionMessage(s, func(entries []sessionEntry) {
		e := entries[0]
		m := entryObject{"role": "user", "content": []entryObject{{"type": "text", "text": e.text}}, "timestamp": 1795391578050}
		switch e.kind {
		case "result":
			m["role"], m["toolCallId"], m["toolName"], m["isError"] = "toolResult", e.id, "bash", false
		case "text", "call":
			var blocks []entryObject
			stop := "stop"
			for _, e := range entries {
				if e.kind == "text" {
					blocks = append(blocks, entryObject{"type": "text", "text": e.text})
					continue
				}
				stop = "toolUse"
				blocks = append(blocks, entryObject{"type": "toolCall", "id": e.id, "name": "bash", "arguments": entryObject{"command": "ls " + e.id}})
			}
			m["role"], m["content"], m["api"], m["provider"], m["model"], m["stopReason"] = "assistant", blocks, "anthropic-messages", "anthropic", "claude-sonnet-4-5", stop
			m["usage"] = entryObject{"input": 9, "output": 9, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 18}
		}
		id := fmt.Sprintf("%08x", len(lines))
		lines = append(lines, entryJSON(entryObject{"type": "message", "id": id, "parentId": last, "timestamp": "2026-11-22T10:00:01.000Z", "message": m}))
		last = id
	})
	return strings.Join(lines, "\n") + "\n"
}

// writeQwenSession writes a session of Qwen Code.
func writeQwenSession(s []sessionEntry, _ int) string {
	var lines []string
	last := any(nil)
	eachSessionMessage(s, func(entries []sessionEntry) {
		e := entries[0]
		kind, role, parts := "user", "user", []entryObject{{"text": e.text}}
		switch e.kind {
		case "result":
			kind, parts = "tool_result", []entryObject{{"functionResponse": entryObject{"id": e.id, "name": "run_shell_command", "response": entryObject{"output": e.text}}}}
		case "text", "call":
			kind, role, parts = "assistant", "model", nil
			for _, e := range entries {
				if e.kind == "text" {
					parts = append(parts, entryObject{"text": e.text})
					continue
				}
				parts = append(parts, entryObject{"functionCall": entryObject{"id": e.id, "name": "run_shell_command", "args": entryObject{"command": "ls " + e.id}}})
			}
		}
		line := entryObject{"uuid": fmt.Sprintf("%08d-0000", len(lines)), "parentUuid": last, "sessionId": "s1", "timestamp": "2026-11-22T10:00:01.000Z", "type": kind, "cwd": "/w", "version": "0.15.10", "message": entryObject{"role": role, "parts": parts}}
		if kind == "assistant" {
			line["model"] = "qwen3-coder-plus"
		}
		last = line["uuid"]
		lines = append(lines, entryJSON(line))
	})
	return strings.Join(lines, "\n") + "\n"
}

// writeClineSession writes a conversation of Cline: an array with all results of a turn in one message.
func writeClineSession(s []sessionEntry, _ int) string {
	var messages []entryObject
	add := func(role string, block entryObject) {
		if n := len(messages); n > 0 && messages[n-1]["role"] == role {
			messages[n-1]["content"] = append(messages[n-1]["content"].([]entryObject), block)
			return
		}
		messages = append(messages, entryObject{"role": role, "content": []entryObject{block}, "ts": 1757000000000 + len(messages)})
	}
	for _, e := range s {
		switch e.kind {
		case "user":
			add("user", entryObject{"type": "text", "text": "<task>\n" + e.text + "\n</task>"})
		case "result":
			add("user", entryObject{"type": "tool_result", "tool_use_id": e.id, "content": []entryObject{{"type": "text", "text": e.text}}})
		case "call":
			add("assistant", entryObject{"type": "tool_use", "id": e.id, "name": "execute_command", "input": entryObject{"command": "ls " + e.id}})
		case "text":
			add("assistant", entryObject{"type": "text", "text": e.text})
		}
	}
	return entryJSON(messages)
}

// sessionAgents lists the agents with the writers of their sessions. The flag repairs says that the agent itself adds
// missing results, so a missing result in the file is not sent.
var sessionAgents = []struct {
	name, file        string
	write             func(s []sessionEntry, lost int) string
	repairs, compacts bool
}{
	{"Claude Code", "s1.jsonl", writeClaudeSession, false, true},
	{"Codex", "rollout-2026-11-22T10-00-00-s1.jsonl", writeCodexSession, true, true},
	{"pi", "pi.jsonl", writePiSession, true, false},
	{"Qwen Code", "chat.jsonl", writeQwenSession, true, false},
	{"Cline", "api_conversation_history.json", writeClineSession, false, false},
}

// sessionFindings prints a session, and returns the codes of its findings above info, its findings about pairs, and "parent" if a note names a missing parent.
func sessionFindings(t *testing.T, folder, file, text string) string {
	t.Helper()
	path := filepath.Join(folder, file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []string
	calls := 0
	said := command(t, nil, "print", "--format", "jsonl", path)
	if strings.Contains(said.stderr, "its parent entry") {
		all = append(all, "parent")
	}
	for line := range strings.Lines(said.stdout) {
		var l struct {
			Type     string
			Findings []struct{ Code, Severity string }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Type == "call" {
			calls++
		}
		for _, f := range l.Findings {
			if text := f.Code + " " + f.Severity; (f.Severity != "info" || strings.HasPrefix(f.Code, "ORPHAN") || f.Code == "RESULT_TWICE") && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	if calls == 0 {
		t.Errorf("%s has no calls:\n%s", file, text)
	}
	return strings.Join(all, ", ")
}

// TestSessionSet checks sessions of agents as histories. Each broken session must have the finding about its broken
// rule, and no other above info. Sessions that their agents sent unchanged must have none.
func TestSessionSet(t *testing.T) {
	folder, broken, fine := t.TempDir(), 0, 0
	for _, agent := range sessionAgents {
		check := func(name, want string, s []sessionEntry, lost int) {
			t.Helper()
			if want == "" {
				fine++
			} else if broken++; agent.repairs { // another host may accept it
				want = strings.ReplaceAll(want, "warn", "info")
			}
			if got := sessionFindings(t, folder, agent.file, agent.write(s, lost)); got != want {
				t.Errorf("%s, %s: %q, want %q", agent.name, name, got, want)
			}
		}
		for _, calls := range []int{1, 3} {
			s := newSession(calls)
			check("complete", "", s, -1)
			check("not finished", "", s[:len(s)-1], -1)
			check("stopped before the last result", "", s[:len(s)-2], -1)
			check("stopped in the calls", "", s[:len(s)-1-calls], -1)
			for _, round := range []int{0, 2} {
				id := sessionCallID(round, calls-1)
				call, result := sessionIndex(s, "call", id), sessionIndex(s, "result", id)
				if !agent.repairs {
					check("no result", "ORPHAN_CALL warn", withEntries(without(s, "result", id), result, sessionEntry{kind: "user", text: "go on"}), -1)
				}
				if calls > 1 { // a turn without any call would be another problem
					check("no call", "ORPHAN_RESULT warn", without(s, "call", id), -1)
				}
				check("two responses in a row", "", withEntries(s, call-calls, sessionEntry{kind: "text", text: "One moment.", turn: 9}), -1)
				again := s[result]
				again.text = "stopped by the user"
				check("two results", "RESULT_TWICE warn", withEntries(s, result+1, again), -1)
				check("a result written twice", "", withEntries(s, result+1, s[result]), -1)
				check("a question after results", "", withEntries(s, result+1, sessionEntry{kind: "user", text: "hurry"}), -1)
				if calls > 1 {
					other := slices.Clone(s)
					first := result - calls + 1
					slices.Reverse(other[first : result+1])
					check("results in another order", "", other, -1)
				}
				if agent.compacts {
					start := call - calls // the text before the calls
					check("a compaction", "", withEntries(s, start, sessionEntry{kind: "compact"}, sessionEntry{kind: "user", text: "Summary."}), -1)
					if calls == 1 {
						check("a compaction before a result", "ORPHAN_RESULT warn", withEntries(s, result, sessionEntry{kind: "compact"}, sessionEntry{kind: "user", text: "Summary."}), -1)
					}
				}
				if agent.name == "Claude Code" {
					lost := call - calls
					check("a lost parent", "parent", s, lost)
					check("rewound", "", withEntries(s, call-calls, sessionEntry{kind: "rewind"}, sessionEntry{kind: "user", text: "look again"}), -1)
				}
			}
		}
	}
	if broken < 30 || fine < 100 {
		t.Error(broken, fine)
	}
	t.Log(broken, "broken sessions,", fine, "others")
}
