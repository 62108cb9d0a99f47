package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
)

// document is the reader of a format that has an entry on each line, or is one object that spans
// lines: what stands on the first line tells. Of the one object it holds one value of its paths.
type document struct {
	diary
	walk    Walk
	found   func(recs []capture.Record, path int, value []byte) []capture.Record
	first   []byte // until it is known
	decided bool
	one     bool // it is one object
}

func (d *document) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if !d.decided {
		d.first = append(d.first, p...)
		if bytes.IndexByte(p, '\n') < 0 && len(d.first) < valueLimit {
			return recs, nil
		}
		recs, p = d.decide(recs), nil
	}
	if !d.one {
		return d.diary.Write(recs, p, at)
	}
	d.walk.Write(p, func(f Found) { recs = d.meet(recs, f) })
	return recs, nil
}

// decide takes what was held while it was not known how to.
func (d *document) decide(recs []capture.Record) []capture.Record {
	d.decided = true
	first, _, _ := bytes.Cut(d.first, []byte("\n"))
	d.one = !isObject(first)
	p := d.first
	d.first = nil
	recs, _ = d.Write(recs, p, capture.NoTime)
	return recs
}

func (d *document) meet(recs []capture.Record, f Found) []capture.Record {
	switch {
	case f.Long:
		recs = d.noted(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: note(f.At, "a value has more than %d MiB, and is left out", valueLimit>>20)})
	case f.Cut:
		recs = d.noted(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: note(f.At, "the file ends inside a value, behind %s of it", count.Of(f.Size, "byte"))})
	default:
		before := len(recs)
		if recs = d.found(recs, f.Path, f.Raw); len(recs) > before {
			d.last = recs[len(recs)-1].Exchange
		}
	}
	return recs
}

func (d *document) Close(recs []capture.Record, end capture.End, why string, at time.Duration) []capture.Record {
	if !d.decided {
		recs = d.decide(recs)
	}
	if d.one {
		open := d.walk.Open()
		d.walk.Close(func(f Found) { open, recs = false, d.meet(recs, f) })
		switch {
		case open:
			recs = d.noted(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: note(d.walk.read, "the file ends before its last bracket")})
		case d.walk.Stray > 0:
			recs = d.noted(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: note(d.walk.StrayAt, "%s that cannot stand there in JSON", count.Of(d.walk.Stray, "byte"))})
		}
	}
	return d.diary.Close(recs, end, why, at)
}

// valueList is the reader of values that are one behind the other, or the elements of one array: the
// first byte tells.
type valueList struct {
	document
	known bool
}

func (l *valueList) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if begin := afterSpace(p); !l.known && len(begin) > 0 {
		l.known, l.walk.Paths = true, [][]string{{}}
		if begin[0] == '[' {
			l.walk.Paths = [][]string{{"*"}}
		}
	}
	return l.document.Write(recs, p, at)
}
