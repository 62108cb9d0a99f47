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

// IndexName is the stream of the index: a message a call. Who looks for some calls of many machines
// reads it, and of the captures only where those calls are. A message that is lost is missing here
// alone: the captures have the call.
const IndexName = "TOOLSCOPE_INDEX"

// Subjects of it are: toolscope.VERSION.i.SHARD.HOST.AGENT.MODEL.STATUS
const (
	indexKind = "i"
	headUpto  = "Toolscope-Upto" // what of the capture, from where the exchange begins, has all of the call
)

// indexPart is how much of what a hub keeps is for the index.
const indexPart = 16

// An Indexer makes lines of a capture's calls.
type Indexer interface {
	Write(capture.Record)
	// Calls are those that ended since it was asked last; with all, those too that never did, as
	// nothing more comes.
	Calls(all bool) []Call
	// Holds reports whether calls that have ended are among those only when it is asked again.
	Holds() bool
}

// A Call is one of a capture.
type Call struct {
	Exchange      int
	Model, Status string
	Line          []byte // a JSON object with a line break behind it
}

// OpenedExchange is where a call's exchange begins.
type OpenedExchange struct {
	Capture  string `json:"capture"`
	Exchange int    `json:"exchange"` // its number in the capture
	Offset   int64  `json:"offset"`   // bytes of the capture before it
}

// noToken stands for a word that is not known. No other word is written so.
const noToken = "%"

// maxWordBytes is how long a word of a call is in a subject. A server ends the connection that sends it a
// subject of 4 KiB, and names of models come from the network.
const maxWordBytes = 128

func indexSubject(o subjectParts, model, status string) string {
	return strings.Join([]string{"toolscope", version, indexKind, shardOf(o.host), subjectToken(o.host), subjectToken(o.agent), callToken(model), callToken(status)}, ".")
}

// callToken is a word of a call as one of a subject: a long one is its hash there, which no other word
// looks like.
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

// withOpened is a line with where its exchange begins as its last member.
func withOpened(line []byte, at OpenedExchange) []byte {
	text, _ := json.Marshal(at) // words and numbers
	line = bytes.TrimSuffix(line, []byte("}\n"))
	return slices.Concat(line, []byte(openedKey), text, []byte("}"))
}

// IndexState is what is not in the index.
type IndexState struct {
	Calls int64  // that the hub did not take
	Bytes int64  // of the capture that were not looked at
	Why   string // "" where nothing is missing, and all can be told
}

// addSender adds what is missing of a sender's capture.
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

// wakeIndexer says to who makes the index that the hub has more.
func (s *sender) wakeIndexer() {
	if s.index != nil {
		s.index.wake()
	}
}

// canReindex reports whether a run that finds the spool, and a hub that has so much of it, makes an index
// of all of it: of a part calls could not be known again.
func (s *sender) canReindex(had int64) bool {
	first, end, _ := s.spool.Span()
	return had < end && (had <= 0 || first == 0)
}
