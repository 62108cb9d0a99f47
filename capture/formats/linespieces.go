package formats

import (
	"time"

	"toolscope/capture"
)

// recordBuilder is the record that goes on with what comes next of its stream, where who reads the log takes
// records of several pieces. Its bytes are moved together in what was read of the log, over lines that
// are done with: they take less room there than the lines did.
type recordBuilder struct {
	record int // which of the records it is, from 1; 0: none goes on
	from   int // where its bytes begin in the room
	room   []byte
	begin  int // up to where what was read is done with, while a line is looked at
	end    int // and once it was
}

// restart begins with what was read of the log.
func (p *recordBuilder) restart(read []byte) { *p = recordBuilder{room: read[:0:len(read)]} }

// addBytes adds bytes of a stream, which stand in the log as it is said, with what ends their line in the
// stream. The last ones of a line may be moved over it.
func (s *openStreams) addBytes(x *logStream, at time.Duration, text []byte, end string, stands *pendingEventName, last bool) {
	if s.r.in.AllowChunks {
		done := s.builder.begin
		if last {
			done = s.builder.end
		}
		s.appendToRecord(x.number, at, text, end, done)
		return
	}
	r := capture.Record{At: at, Data: s.copyWithEnd(text, end), Before: stands.before, After: stands.after}
	s.writeRecord(x, r, stands.spot, len(end))
}

// appendToRecord adds bytes of an answer to the record that goes on, or begins one. What was read of the log is
// done with up to some byte.
func (s *openStreams) appendToRecord(exchange int, at time.Duration, text []byte, end string, done int) {
	const some = 64
	g, all := &s.builder, s.r.recs
	if len(g.room)+len(text)+len(end) > done {
		s.r.recs, g.record = append(all, capture.Record{Exchange: exchange, At: at, Data: s.copyWithEnd(text, end)}), 0
		return
	}
	if g.record == 0 || g.record != len(all) || all[g.record-1].Exchange != exchange {
		all = append(all, capture.Record{Exchange: exchange, At: at})
		s.r.recs, g.record, g.from = all, len(all), len(g.room)
	}
	g.room = append(append(g.room, text...), end...)
	r := &all[g.record-1]
	was, before := len(r.Data), r.At
	if k := len(r.Chunks); k > 0 {
		before = r.Chunks[k-1].At
	}
	r.Data = g.room[g.from:len(g.room):len(g.room)]
	switch {
	case before != at && r.Chunks == nil:
		r.Chunks = append(make([]capture.DataChunk, 0, some), capture.DataChunk{End: was, At: before}, capture.DataChunk{End: len(r.Data), At: at})
	case before != at:
		r.Chunks = append(r.Chunks, capture.DataChunk{End: len(r.Data), At: at})
	case r.Chunks != nil:
		r.Chunks[len(r.Chunks)-1].End = len(r.Data)
	}
}
