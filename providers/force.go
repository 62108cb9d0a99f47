package providers

import (
	"fmt"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Find is the dialect of that name; the error lists the names there are.
func Find(name string) (*dialect.Dialect, error) {
	var names []string
	for i := range All {
		if All[i].Name == name {
			return &All[i], nil
		}
		names = append(names, All[i].Name)
	}
	return nil, fmt.Errorf("no dialect %q; there are %s", name, strings.Join(names, ", "))
}

// Force has every response that comes read as dialect d; nil lets the bytes tell.
func (in *Inspector) Force(d *dialect.Dialect) { in.forced = d }

// Reread reads an exchange again, as dialect d; nil lets the bytes tell. The
// timeline is made anew: turns and calls that were taken from it are void.
func (in *Inspector) Reread(number int, d *dialect.Dialect) {
	fresh := Inspector{forced: in.forced, rereads: in.rereads}
	if fresh.rereads == nil {
		fresh.rereads = map[int]*dialect.Dialect{}
	}
	fresh.rereads[number] = d
	in.log.replay(in, fresh.Write)
	if in.closed {
		fresh.Close()
	}
	*in = fresh
	for _, x := range in.exchanges {
		x.in = in
	}
}

// forcedFor is the dialect an exchange is to be read as, or nil.
func (in *Inspector) forcedFor(number int) *dialect.Dialect {
	if d, ok := in.rereads[number]; ok {
		return d
	}
	return in.forced
}

// arrivals remember the order in which the records came, so that they can be
// read again from the wires, which keep their bytes.
type arrivals struct {
	list []arrival
	rest map[int]stream.Record // by place in the list: records that have more than bytes, without these
}

// arrival is the bytes of one record.
type arrival struct {
	exchange int32
	size     uint32
	request  bool
}

func (l *arrivals) add(r stream.Record) {
	if r.Head != nil || r.End || r.Note != "" {
		if l.rest == nil {
			l.rest = map[int]stream.Record{}
		}
		bare := r
		bare.Data = nil
		l.rest[len(l.list)] = bare
	}
	l.list = append(l.list, arrival{int32(r.Exchange), uint32(len(r.Data)), r.Request})
}

// replay gives the records out again.
func (l *arrivals) replay(in *Inspector, to func(stream.Record)) {
	type side struct {
		exchange int32
		request  bool
	}
	at := map[side]int64{}
	for n, a := range l.list {
		r := l.rest[n]
		r.Exchange, r.Request = int(a.exchange), a.request
		if x := in.Exchange(r.Exchange); x != nil && a.size > 0 {
			w, off := x.received(a.request), at[side{a.exchange, a.request}]
			r.Data = w.Bytes(off, off+int64(a.size))
			_, r.At = w.RecordAt(off)
			at[side{a.exchange, a.request}] = off + int64(a.size)
		}
		to(r)
	}
}

// received are the bytes of one side as they came.
func (x *Exchange) received(request bool) *stream.Wire {
	switch {
	case request:
		return &x.Request
	case x.Sent.Size() > 0:
		return &x.Sent
	}
	return &x.Response
}
