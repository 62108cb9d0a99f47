package providers

import (
	"bytes"
	"encoding/binary"
	"errors"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// FindProtocol returns the protocol with the given name. If there is none, the error lists the known names.
func FindProtocol(name string) (*protocol.Protocol, error) {
	return protocol.FindNamed("protocol", name, All, func(d *protocol.Protocol) string { return d.Name })
}

// ForceProtocol sets the protocol d for all following responses. If d is nil, the bytes determine the
// protocol.
func (in *Inspector) ForceProtocol(d *protocol.Protocol) { in.forced = d }

// Reread reads an exchange again in the protocol d. If d is nil, the bytes determine the protocol. The
// timeline is new, so turns and calls of the old timeline must not be used any more. Reread fails if the
// order of the records is no longer kept, for example because exchanges were evicted or dropped.
func (in *Inspector) Reread(number int, d *protocol.Protocol) error {
	if in.log.closed {
		return errDropped
	}
	fresh := Inspector{Request: in.Request, sets: in.sets, forced: in.forced, rereads: in.rereads, recording: in.recording}
	if fresh.rereads == nil {
		fresh.rereads = map[int]*protocol.Protocol{}
	}
	fresh.rereads[number] = d
	in.log.eachRecord(in, func(r stream.Record) {
		if x := in.Exchange(r.Exchange); x != nil {
			r.Location = x.location()
		}
		fresh.Write(r)
	})
	if in.closed {
		fresh.Close()
	}
	for _, x := range in.exchanges {
		if x.chain != nil {
			_, _ = x.chain.Close() // only Close stops the decoders of the codings
		}
	}
	fresh.kept.Retention, fresh.kept.pins = in.kept.Retention, in.kept.pins
	*in = fresh
	in.toolTraffic().in = in
	for _, x := range in.exchanges {
		x.in = in
	}
	return nil
}

var errDropped = errors.New("parts of the source are no longer in memory: open the source again with --protocol")

// forcedFor returns the protocol that is forced for an exchange, or nil.
func (in *Inspector) forcedFor(number int) *protocol.Protocol {
	if d, ok := in.rereads[number]; ok {
		return d
	}
	return in.forced
}

// recordOrder keeps the order of the records, so that they can be read again. The wires keep the bytes of the
// records.
type recordOrder struct {
	runs        []byte // varints for each run except the last: the exchange minus the previous exchange, and the count
	before      int    // exchange of the run before the last run
	last        recordRun
	n           int                   // number of runs, including the last
	rest        map[int]stream.Record // by number of the run, from 1: records that contain more than bytes; they include their bytes only if no wire keeps these
	recordBytes int64                 // size of the record bytes that are kept here, because no wire keeps them
	closed      bool                  // the order is no longer kept
}

// maxRecordBytes is the maximum number of kept bytes in records without a wire.
const maxRecordBytes = 64 << 20

// addWithBytes adds a record with a copy of its bytes, which no wire keeps.
func (l *recordOrder) addWithBytes(r stream.Record) {
	if l.recordBytes += int64(len(r.Data)); l.recordBytes > maxRecordBytes {
		l.endRun()
	}
	if l.closed {
		return
	}
	l.push(recordRun{exchange: r.Exchange})
	r.Data, r.Location = bytes.Clone(r.Data), stream.Location{}
	if l.rest == nil {
		l.rest = map[int]stream.Record{}
	}
	l.rest[l.n] = r
}

// push begins a new run.
func (l *recordOrder) push(next recordRun) {
	if l.n > 0 {
		l.runs = binary.AppendVarint(binary.AppendVarint(l.runs, int64(l.last.exchange-l.before)), l.last.count)
		l.before = l.last.exchange
	}
	l.last = next
	l.n++
}

// recordRun is a run of records of one side of an exchange.
type recordRun struct {
	exchange int
	count    int64 // twice the number of records with bytes, plus one if they are records of a request
}

func (l *recordOrder) endRun() { *l = recordOrder{closed: true} }

func (l *recordOrder) add(r *stream.Record) {
	if l.closed {
		return
	}
	special := r.Head != nil || r.End || r.Note != "" || r.Lost > 0 || isArrival(r)
	next := recordRun{exchange: r.Exchange}
	if r.Request {
		next.count = 1
	}
	_, full := l.rest[l.n]
	if l.n == 0 || special || full || l.last.exchange != next.exchange || l.last.count&1 != next.count {
		l.push(next)
	}
	if len(r.Data) > 0 {
		l.last.count += 2 * int64(max(1, len(r.Chunks)))
	}
	if special {
		if l.rest == nil {
			l.rest = map[int]stream.Record{}
		}
		rest := *r
		rest.Data = nil
		l.rest[l.n] = rest
	}
}

// eachRun yields the runs, with their numbers.
func (l *recordOrder) eachRun(yield func(int, recordRun) bool) {
	rest, exchange := l.runs, 0
	for n := 1; n < l.n; n++ {
		step, size := binary.Varint(rest)
		count, more := binary.Varint(rest[size:])
		rest, exchange = rest[size+more:], exchange+int(step)
		if !yield(n, recordRun{exchange, count}) {
			return
		}
	}
	if l.n > 0 {
		yield(l.n, l.last)
	}
}

// eachRecord passes all records once more to a function, in the original order.
func (l *recordOrder) eachRecord(in *Inspector, to func(stream.Record)) {
	next := map[*stream.Wire]int{} // index of the next record in each wire
	for n, a := range l.eachRun {
		bare := stream.Record{Exchange: a.exchange, Request: a.count&1 == 1}
		if r, ok := l.rest[n]; ok {
			bare = r
		}
		left := a.count / 2
		if x := in.Exchange(bare.Exchange); x != nil && left > 0 {
			w := x.rawSide(bare.Request)
			for ; left > 0 && next[w] < w.Records(); left-- {
				r := bare
				bare.Head, bare.Note, bare.Lost = nil, "", 0
				r.End = r.End && left == 1
				r.Data, r.At = w.Record(next[w])
				next[w]++
				to(r)
			}
			continue
		}
		to(bare)
	}
}

// sourceRange is the part of a source that an exchange was read from.
type sourceRange struct {
	from    stream.Location // location of all records
	passing bool            // some records have no location, or are from another source
}

// addLocation extends the range by a record's location.
func (r *sourceRange) addLocation(p stream.Location) {
	switch {
	case p.Source == nil || r.from.Source != nil && r.from.Source != p.Source:
		r.passing = true
	case r.from.Source == nil:
		r.from = p
	default:
		r.from.Start, r.from.End = min(r.from.Start, p.Start), max(r.from.End, p.End)
	}
}

// location returns the location in the source. It is empty if a part of the exchange has no location.
func (r *sourceRange) location() stream.Location {
	if r.passing {
		return stream.Location{}
	}
	return r.from
}

// rawSide returns the bytes on one side of the exchange, as sent.
func (x *exchangeContent) rawSide(request bool) *stream.Wire {
	switch {
	case request:
		return &x.Request
	case x.Sent.Size() > 0:
		return &x.Sent
	}
	return &x.Response
}
