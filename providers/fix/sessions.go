package fix

import (
	"bytes"
	"slices"

	"toolscope/stream/json"
)

// Codex is the form of Codex's session files. The facts are from running Codex 0.169.0 with damaged sessions.
var Codex = &Form{
	Title: "session of Codex", Client: "Codex", DefaultTarget: "openai-responses", ItemTitle: "item",
	RuleWords: map[string]string{
		"call-answered":   `Codex adds the result "aborted"`,
		"result-has-call": "Codex leaves this result out",
	},
	ignored: []string{"trailing-space"},
	history: "input",
	read:    readCodex,
	newLine: newCodexLine,
}

// codexNotes are items that Codex doesn't send.
var codexNotes = []string{"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "context_compaction", "other"}

// eachLine calls the function do with each line of the file that is a JSON object, and with the line's range,
// including the line end. It counts the other lines.
func (d *document) eachLine(do func(entry json.Value, from, to int)) {
	text := d.text
	for from, number := 0, 1; from < len(text); number++ {
		to := len(text)
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n + 1
		}
		line := bytes.Trim(bytes.TrimPrefix(text[from:to], []byte("\ufeff")), " \t\r\n")
		switch {
		case len(line) == 0:
		case json.IsObject(line):
			do(line, from, to)
		default:
			if d.Damaged++; d.Damaged == 1 {
				d.FirstDamaged = number
			}
		}
		from = to
	}
}

// readCodex finds the items of a session. A compaction replaces the items before it.
func readCodex(d *document) error {
	d.eachLine(func(entry json.Value, from, to int) {
		kind, payload := entry.Get("type").Text(), entry.Get("payload")
		if payload == nil && kind != "" && entry.Get("record_type") == nil { // an older version, whose entries have no wrapper
			kind, payload = "response_item", entry
		}
		switch {
		case kind == "compacted":
			d.items = d.items[:0]
			d.addElements(payload.Get("replacement_history"))
		case kind == "response_item" && payload.Kind() == '{' && !slices.Contains(codexNotes, payload.Get("type").Text()):
			d.items = append(d.items, item{d.rangeOf(payload), from, to})
		}
	})
	return nil
}

// newCodexLine returns a line with a new item. The line has the same time as the item before it.
func newCodexLine(d *document, after int, value []byte) []byte {
	entry := json.Value(d.text[d.items[after].line:d.items[after].end])
	var w json.Writer
	if entry.Get("payload") == nil {
		return append(w.Raw(value).Text, '\n')
	}
	w.Open('{')
	if stamp := entry.Get("timestamp"); stamp != nil {
		w.Key("timestamp").Raw(stamp)
	}
	return append(w.Member("type", "response_item").Key("payload").Raw(value).Close('}').Text, '\n')
}

// ClaudeCode is the form of Claude Code's session files. The facts are from running Claude Code 2.1.197 and 2.1.332
// with damaged sessions.
var ClaudeCode = &Form{
	Title: "session of Claude Code", Client: "Claude Code", DefaultTarget: "anthropic", ItemTitle: "message",
	RuleWords: map[string]string{
		"call-answered":   "Claude Code leaves this call out",
		"result-has-call": "Claude Code leaves this result out",
		"result-once":     "Claude Code leaves the second result out",
		"result-follows":  "Claude Code replaces this result",
		"id-unique":       "Claude Code leaves one of the calls and its result out",
	},
	ignored: []string{"trailing-space", "cache-marks", "turn-order"},
	history: "messages",
	read:    readClaude,
}

// claudeEntry is an entry of a Claude Code session.
type claudeEntry struct {
	uuid, parent, id string // id is the id of the model's message
	message          json.Value
	line, end        int
	isBoundary       bool // whether the history before this entry was compacted
	carries          bool // whether the next request contains the entry's message
	isResult, isSent bool
}

// readClaude finds the messages that Claude Code sends: the path from the latest message back to the first one, or
// back to the latest compaction. Claude Code also sends the other blocks of the messages on that path, and their
// results.
func readClaude(d *document) error {
	var all []claudeEntry
	byUUID, leaf := map[string]int{}, -1
	d.eachLine(func(entry json.Value, from, to int) {
		e := claudeEntry{uuid: entry.Get("uuid").Text(), parent: entry.Get("parentUuid").Text(), message: entry.Get("message"), line: from, end: to}
		kind := entry.Get("type").Text()
		e.isBoundary = entry.Get("subtype").Is("compact_boundary")
		model := kind == "assistant"
		isMessage := (model || kind == "user") && e.message.Kind() == '{' && !entry.Get("isSidechain").IsTrue()
		e.carries = isMessage && !entry.Get("isApiErrorMessage").IsTrue() && !e.message.Get("model").Is("<synthetic>")
		if model {
			e.id = e.message.Get("id").Text()
		}
		for block := range e.message.Get("content").Elements() {
			e.isResult = e.isResult || kind == "user" && block.Get("type").Is("tool_result")
		}
		if _, twice := byUUID[e.uuid]; e.uuid == "" || twice {
			return
		}
		byUUID[e.uuid] = len(all)
		if isMessage {
			leaf = len(all)
		}
		all = append(all, e)
	})
	sent, onPath := map[string]bool{}, leaf >= 0
	for at := leaf; onPath && !all[at].isSent && !all[at].isBoundary; {
		all[at].isSent = true
		sent[all[at].id] = all[at].id != ""
		before := at
		if at, onPath = byUUID[all[at].parent]; !onPath && all[before].parent != "" {
			d.Torn = lineOf(d.text, all[before].line)
		}
	}
	for i := range all {
		e := &all[i]
		parent, known := byUUID[e.parent]
		e.isSent = e.isSent || sent[e.id] || e.isResult && known && all[parent].isSent && sent[all[parent].id]
	}
	blocks := map[string][]*claudeEntry{} // entries of each message of the model
	for i := range all {
		if e := &all[i]; e.id != "" && e.isSent && e.carries {
			blocks[e.id] = append(blocks[e.id], e)
		}
	}
	add := func(e *claudeEntry) { d.items = append(d.items, item{d.rangeOf(e.message), e.line, e.end}) }
	for i := range all {
		switch e := &all[i]; {
		case !e.isSent || !e.carries:
		case e.id == "":
			add(e)
		default: // all blocks of a message are kept together
			for _, block := range blocks[e.id] {
				add(block)
			}
			delete(blocks, e.id)
		}
	}
	return nil
}
