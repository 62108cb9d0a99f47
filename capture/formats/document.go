package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// jsonDocument is the reader of a format that has an entry on each line, or is one object that spans
// lines: what stands on the first line tells. Of the one object it holds one value of its paths.
type jsonDocument struct {
	entryReader
	walk    json.Walk
	found   func(recs []capture.Record, path int, value []byte) []capture.Record
	first   []byte // until it is known
	decided bool
	one     bool // it is one object
}

func (d *jsonDocument) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if !d.decided {
		d.first = append(d.first, p...)
		if bytes.IndexByte(p, '\n') < 0 && len(d.first) < json.MaxValueBytes {
			return recs, nil
		}
		recs, p = d.chooseLayout(recs), nil
	}
	if !d.one {
		return d.entryReader.Write(recs, p, at)
	}
	d.walk.Write(p, func(f json.FoundValue) { recs = d.takeValue(recs, f) })
	return recs, nil
}

// chooseLayout takes what was held while it was not known how to.
func (d *jsonDocument) chooseLayout(recs []capture.Record) []capture.Record {
	d.decided = true
	first, _, _ := bytes.Cut(d.first, []byte("\n"))
	d.one = !isObject(first)
	p := d.first
	d.first = nil
	recs, _ = d.Write(recs, p, capture.NoTime)
	return recs
}

func (d *jsonDocument) takeValue(recs []capture.Record, f json.FoundValue) []capture.Record {
	switch {
	case f.Long:
		recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(f.At, "a value is longer than %d MiB and is left out", json.MaxValueBytes>>20)})
	case f.Cut:
		recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(f.At, "the file ends inside a value, after %s of it", count.Of(f.Size, "byte"))})
	default:
		before := len(recs)
		if recs = d.found(recs, f.Path, f.Raw); len(recs) > before {
			d.last = recs[len(recs)-1].Exchange
		}
	}
	return recs
}

func (d *jsonDocument) Close(recs []capture.Record, end capture.End, why string, at time.Duration) []capture.Record {
	if !d.decided {
		recs = d.chooseLayout(recs)
	}
	if d.one {
		open := d.walk.Open()
		d.walk.Close(func(f json.FoundValue) { open, recs = false, d.takeValue(recs, f) })
		switch {
		case open:
			recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(d.walk.Len(), "the file ends before its last bracket")})
		case d.walk.Stray > 0:
			recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(d.walk.StrayAt, "%s that JSON doesn't allow there", count.Of(d.walk.Stray, "byte"))})
		}
	}
	return d.entryReader.Close(recs, end, why, at)
}

// jsonValues is the reader of values that are one behind the other, or the elements of one array: the
// first byte tells.
type jsonValues struct {
	jsonDocument
	known bool
}

func (l *jsonValues) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if begin := afterSpace(p); !l.known && len(begin) > 0 {
		l.known, l.walk.Paths = true, [][]string{{}}
		if begin[0] == '[' {
			l.walk.Paths = [][]string{{"*"}}
		}
	}
	return l.jsonDocument.Write(recs, p, at)
}
