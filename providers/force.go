package providers

import (
	"errors"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Find is the dialect of that name; the error lists the names there are.
func Find(name string) (*dialect.Dialect, error) {
	return dialect.Named("dialect", name, All, func(d *dialect.Dialect) string { return d.Name })
}

// Force has every response from now on read as dialect d; with nil the bytes decide.
func (in *Inspector) Force(d *dialect.Dialect) { in.forced = d }

// Reread reads an exchange again, as dialect d; with nil the bytes decide. The timeline is new:
// turns and calls of the old one must not be used any more. It cannot be done once exchanges were
// let go of: the order in which all came is not kept then.
func (in *Inspector) Reread(number int, d *dialect.Dialect) error {
	if in.log.closed {
		return errLetGo
	}
	fresh := Inspector{Request: in.Request, sets: in.sets, forced: in.forced, rereads: in.rereads}
	if fresh.rereads == nil {
		fresh.rereads = map[int]*dialect.Dialect{}
	}
	fresh.rereads[number] = d
	in.log.replay(in, func(r stream.Record) {
		if x := in.Exchange(r.Exchange); x != nil {
			r.From = x.place()
		}
		fresh.Write(r)
	})
	if in.closed {
		fresh.Close()
	}
	for _, x := range in.exchanges {
		if x.chain != nil {
			_, _ = x.chain.Close() // it has decoders that only this stops
		}
	}
	keep := in.kept.Keep
	*in = fresh
	in.kept.Keep = keep
	for _, x := range in.exchanges {
		x.in = in
	}
	return nil
}

var errLetGo = errors.New("too much has come to read it all again: open it with --dialect")

// forcedFor is the dialect an exchange is to be read as, or nil.
func (in *Inspector) forcedFor(number int) *dialect.Dialect {
	if d, ok := in.rereads[number]; ok {
		return d
	}
	return in.forced
}

// arrivals remember the order in which the records came, so that they can be read again from the
// wires, which keep their bytes.
type arrivals struct {
	list []arrival
	rest map[int]stream.Record // by place in the list: records that say more than bytes, without their bytes

	closed bool // it remembers nothing any more
}

func (l *arrivals) close() { *l = arrivals{closed: true} }

// arrival is some records of one side of an exchange in a row.
type arrival struct {
	exchange int32
	count    int32
	request  bool
}

func (l *arrivals) add(r stream.Record) {
	if l.closed {
		return
	}
	n := len(l.list) - 1
	special := r.Head != nil || r.End || r.Note != "" || r.Lost > 0
	_, closed := l.rest[n]
	if n < 0 || special || closed || l.list[n].exchange != int32(r.Exchange) || l.list[n].request != r.Request {
		l.list = append(l.list, arrival{exchange: int32(r.Exchange), request: r.Request})
		n++
	}
	if len(r.Data) > 0 {
		l.list[n].count++
	}
	if special {
		if l.rest == nil {
			l.rest = map[int]stream.Record{}
		}
		r.Data = nil
		l.rest[n] = r
	}
}

// replay gives the records to to again, in the order they came.
func (l *arrivals) replay(in *Inspector, to func(stream.Record)) {
	next := map[*stream.Wire]int{} // record of each wire that comes next
	for n, a := range l.list {
		bare := stream.Record{Exchange: int(a.exchange), Request: a.request}
		if r, ok := l.rest[n]; ok {
			bare = r
		}
		if x := in.Exchange(bare.Exchange); x != nil && a.count > 0 {
			w := x.received(a.request)
			for ; a.count > 0 && next[w] < w.Records(); a.count-- {
				r := bare
				bare.Head, bare.Note, bare.Lost = nil, "", 0
				r.End = r.End && a.count == 1
				r.Data, r.At = w.Record(next[w])
				next[w]++
				to(r)
			}
			continue
		}
		to(bare)
	}
}

// received is one side of the exchange, as its bytes came.
func (x *Exchange) received(request bool) *stream.Wire {
	switch {
	case request:
		return &x.Request
	case x.Sent.Size() > 0:
		return &x.Sent
	}
	return &x.Response
}
