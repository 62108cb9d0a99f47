package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"toolscope/capture"
)

// IndexName is the stream of the index, with one message for each call. It helps to find some calls of
// many machines without reading all captures. A lost message is missing only from the index: the
// captures still have the call.
const IndexName = "TOOLSCOPE_INDEX"

// Subjects of the index have the form toolscope.VERSION.i.SHARD.HOST.AGENT.MODEL.STATUS
const (
	indexKind = "i"
	headUpto  = "Toolscope-Upto" // offset in the capture after the last byte of the call
)

// indexPart is the divisor of a hub's space that gives the index's share.
const indexPart = 16

// An Indexer makes the index lines of a capture's calls.
type Indexer interface {
	Write(capture.Record)
	// Calls returns the calls that ended since the last call of it. With all, also those that never
	// ended, because no more records come.
	Calls(all bool) []Call
	// Holds reports whether some calls that have ended will be returned only later.
	Holds() bool
}

// A Call is one call of a capture.
type Call struct {
	Exchange      int
	Model, Status string
	Line          []byte // a JSON object and a line break
}

// OpenedExchange locates the beginning of a call's exchange.
type OpenedExchange struct {
	Capture  string `json:"capture"`
	Exchange int    `json:"exchange"` // its number in the capture
	Offset   int64  `json:"offset"`   // bytes of the capture before it
}

// noToken stands for an unknown value. No other value is escaped to it.
const noToken = "%"

// maxWordBytes is the maximum length of a call's value in a subject. A server ends a connection that sends
// a subject of 4 KiB, and names of models come from the network.
const maxWordBytes = 128

func indexSubject(o subjectParts, model, status string) string {
	return strings.Join([]string{"toolscope", version, indexKind, shardOf(o.host), subjectToken(o.host), subjectToken(o.agent), callToken(model), callToken(status)}, ".")
}

// callToken returns a call's value as a token of a subject. A long value becomes its hash, in a form that
// no other value has.
func callToken(word string) string {
	t := subjectToken(word)
	switch {
	case word == "":
		return noToken
	case len(t) > maxWordBytes:
		sum := sha256.Sum256([]byte(word))
		return "%-" + hex.EncodeToString(sum[:16])
	}
	return t
}

const openedKey = `,"opened":`

// withOpened returns the line with the location of its exchange as its last field.
func withOpened(line []byte, at OpenedExchange) []byte {
	text, _ := json.Marshal(at) // strings and numbers can't fail
	line = bytes.TrimSuffix(line, []byte("}\n"))
	return slices.Concat(line, []byte(openedKey), text, []byte("}"))
}

// IndexState counts what is missing from the index.
type IndexState struct {
	Calls int64  // calls that the hub did not take
	Bytes int64  // bytes of the capture that were not indexed
	Why   string // "" if nothing is missing and calls can be sent
}

// addSender adds what is missing from the index of a sender's capture.
func (i *IndexState) addSender(s *sender) {
	s.mu.Lock()
	x := s.index
	s.mu.Unlock()
	if x == nil {
		return
	}
	i.addState(x.indexLosses())
}

func (i *IndexState) addState(m IndexState) {
	i.Calls, i.Bytes = i.Calls+m.Calls, i.Bytes+m.Bytes
	if i.Why == "" {
		i.Why = m.Why
	}
}

// wakeIndexer tells the index sender that the hub has more.
func (s *sender) wakeIndexer() {
	if s.index != nil {
		s.index.wake()
	}
}

// canReindex reports whether a later run that finds this spool, with had bytes at the hub, can index all
// of it. Calls of a part could not be recognised as the same.
func (s *sender) canReindex(had int64) bool {
	first, end, _ := s.spool.Span()
	return had < end && (had <= 0 || first == 0)
}
