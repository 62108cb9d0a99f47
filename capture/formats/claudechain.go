package formats

import (
	"fmt"
	"hash/maphash"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// claudeChain holds the entries of a session as a tree, because each entry names the entry before it. Claude
// Code sends the entries on the path from the latest one back to the first, or back to the latest compaction.
type claudeChain struct {
	seed    maphash.Seed
	entries map[uint64]claudeLink // by the hash of their uuid
	latest  uint64                // the latest entry that has a message and doesn't belong to a sub-agent
	total   int                   // number of entries that have a message and don't belong to a sub-agent
	copies  int                   // number of entries that repeat an earlier entry
	isFull  bool                  // there were too many entries, so the tree was dropped
}

// claudeLink is an entry of the tree.
type claudeLink struct {
	parent  uint64 // hash of the uuid of the entry before it; 0 for none
	message uint64 // hash of the id of the model's message; 0 for other entries
	content uint64 // hash of the complete message
	line    int
	said    bool   // the entry has a message
	name    string // beginning of the parent's uuid, if the parent is not an earlier entry of the file
}

const (
	maxClaudeEntries = 1 << 17
	maxClaudeSteps   = 1 << 10 // maximum number of entries that messageBefore goes back
	shownUUID        = 8       // number of bytes of a uuid that a note quotes
)

// hashID returns the hash of an id, or 0 for an empty id.
func (c *claudeChain) hashID(id string) uint64 {
	if id == "" {
		return 0
	}
	return maphash.String(c.seed, id) | 1
}

// addEntry adds an entry to the tree, with its line number. The result is false for an entry that has the uuid and the
// message of an earlier entry: some versions of Claude Code write the history into the file again.
func (c *claudeChain) addEntry(e *claudeEntry, line int) bool {
	if e.uuid == "" || c.isFull {
		return true
	}
	if c.entries == nil {
		c.entries = map[uint64]claudeLink{}
	}
	if c.isFull = len(c.entries) >= maxClaudeEntries; c.isFull {
		c.entries = nil
		return true
	}
	id := c.hashID(e.uuid)
	content := maphash.Bytes(c.seed, e.message)
	if known, twice := c.entries[id]; twice {
		if known.content != content { // not a copy: the log uses a uuid for two entries
			return true
		}
		c.copies++
		return false
	}
	link := claudeLink{content: content, parent: c.hashID(e.parent), line: line, said: e.message != nil && (e.kind == "user" || e.kind == "assistant")}
	if _, known := c.entries[link.parent]; !known && len(c.entries) > 0 {
		link.name = e.parent[:min(len(e.parent), shownUUID)]
	}
	if e.kind == "assistant" && !e.failed && string(json.Find(e.message, "model")) != claudeSynthetic {
		link.message = c.hashID(json.FindText(e.message, "id"))
	}
	c.entries[id] = link
	if link.said && !e.sidechain {
		c.latest, c.total = id, c.total+1
	}
	return true
}

// messageBefore returns the hash of the id of the model's message before an entry, or 0 if that message is
// unknown. The parameter parent is the uuid of the entry's parent, and own is the id of the entry's own message.
func (c *claudeChain) messageBefore(parent, own string) uint64 {
	at, answer := c.hashID(parent), c.hashID(own)
	for range maxClaudeSteps {
		e, known := c.entries[at]
		if !known {
			return 0
		}
		if e.message != 0 && e.message != answer {
			return e.message
		}
		at = e.parent
	}
	return 0
}

// brokenNote returns a note if a missing entry breaks the path from the latest entry back to the first one, and some
// messages are not on the path. Otherwise, the result ok is false. brokenNote deletes the entries on the path.
func (c *claudeChain) brokenNote() (note capture.Record, ok bool) {
	seen := 0
	for at := c.latest; at != 0; {
		e := c.entries[at]
		if e.said {
			seen++
		}
		if _, known := c.entries[e.parent]; !known && e.name != "" && !c.isFull {
			note = capture.Record{At: capture.NoTime}
			note.Note = fmt.Sprintf("line %d: its parent entry %s is not in the file, so a resumed session has %d of %s", e.line, e.name, seen, count.Of(c.total, "message"))
			return note, seen < c.total
		}
		delete(c.entries, at) // entries may form a cycle
		at = e.parent
	}
	return note, false
}
