package formats

import (
	"bytes"
	"strconv"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// talk makes exchanges of a conversation that an agent keeps. What was said is heard in its order;
// what the model said is the answer to a request that carries what was heard since the answer
// before, and names the conversation that holds the rest.
type talk struct {
	in     *capture.Input
	shape  messageShape
	layers []string
	lacks  []capture.Lack
	name   []byte // the conversation's own, a string

	news     [][]byte  // what no request has carried yet
	size     int       // of that
	results  bool      // there are results among it
	heardAt  time.Time // the latest of it
	exchange int       // the one that is open, or 0
	began    bool      // there was one
}

func newTalk(in *capture.Input, s messageShape, name string, lacks ...capture.Lack) *talk {
	return &talk{in: in, shape: s, layers: []string{name, s.name}, lacks: append(lacks, capture.Composed)}
}

// hear takes what was said.
func (t *talk) hear(by messageRole, parts []messagePart, at time.Time) {
	if len(parts) == 0 {
		return
	}
	for _, m := range t.shape.messages(by, parts) {
		t.news, t.size = append(t.news, m), t.size+len(m)
	}
	for t.size > json.MaxValueBytes && len(t.news) > 1 { // of a file that is no conversation
		t.size -= len(t.news[0])
		t.news = t.news[1:]
	}
	for i := range parts {
		t.results = t.results || parts[i].kind == resultPart
	}
	if !at.IsZero() {
		t.heardAt = at
	}
}

// ask begins an exchange with what was heard, asked at that time or when it was heard.
func (t *talk) ask(recs []capture.Record, model []byte, at time.Time) []capture.Record {
	if at.IsZero() {
		at = t.heardAt
	}
	t.exchange = t.in.NextExchange()
	head := t.in.NewHead(t.layers, t.lacks...)
	head.Start, head.Incremental = at, t.began
	t.began = true
	body := objectOf(member{"model", model}, member{"conversation", t.name}, member{t.shape.history, arrayOf(t.news...)})
	t.news, t.size, t.results, t.heardAt = nil, 0, false, time.Time{}
	return append(recs, capture.Record{Exchange: t.exchange, Side: capture.Request, At: t.in.RecordTime(at), Head: head, Data: body})
}

// say adds to the answer of the exchange that is open.
func (t *talk) say(recs []capture.Record, r *modelResponse, at time.Time) []capture.Record {
	return append(recs, capture.Record{Exchange: t.exchange, At: t.in.RecordTime(at), Data: t.shape.response(r)})
}

// end ends the exchange that is open, if one is.
func (t *talk) end(recs []capture.Record, last capture.Record) []capture.Record {
	if t.exchange == 0 {
		return recs
	}
	last.Exchange, t.exchange = t.exchange, 0
	return append(recs, last)
}

// answer is a whole exchange; the model's words are heard too.
func (t *talk) answer(recs []capture.Record, r *modelResponse, asked, at time.Time) []capture.Record {
	recs = t.end(recs, capture.Record{At: capture.NoTime, End: capture.EndEOF})
	recs = t.ask(recs, r.model, asked)
	recs = t.say(recs, r, at)
	t.hear(theModel, r.parts, at)
	last := capture.Record{At: t.in.RecordTime(at), End: capture.EndEOF}
	if r.cut || r.hasOpen() {
		why, _ := json.Text(r.why)
		last.End, last.By, last.Why = capture.EndCut, r.by, string(why)
	}
	return t.end(recs, last)
}

// close ends the conversation. Results that nothing answered yet are a request of their own.
func (t *talk) close(recs []capture.Record) []capture.Record {
	recs = t.end(recs, capture.Record{At: capture.NoTime, End: capture.EndEOF})
	if t.results {
		recs = t.ask(recs, nil, time.Time{})
		recs = t.end(recs, capture.Record{At: capture.NoTime, End: capture.EndEOF})
	}
	return recs
}

// parseLogTime is a time as logs write it: text, or seconds, milliseconds, microseconds or nanoseconds
// since 1970, which their size tells apart. It is the zero time where there is none.
func parseLogTime(value []byte) time.Time {
	text, isText := json.Text(value)
	if isText {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
			if t, err := time.Parse(layout, string(text)); err == nil {
				return t
			}
		}
		value = text
	}
	if whole, err := strconv.ParseInt(string(value), 10, 64); err == nil && whole > 0 {
		for whole < 1e17 {
			whole *= 1000
		}
		return time.Unix(0, whole).UTC()
	}
	if s, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64); err == nil && s > 1e8 && s < 1e11 {
		return time.UnixMicro(int64(s * 1e6)).UTC()
	} else if err == nil && s >= 1e11 && s < 1e14 {
		return time.UnixMicro(int64(s * 1e3)).UTC()
	}
	return time.Time{}
}
