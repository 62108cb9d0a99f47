package formats

import (
	"bytes"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// valuesReader reads what is kept as values in a JSON text, one of them at a time.
type valuesReader struct {
	recordWriter
	walk json.Walk
	what string // one of them is called: "entry"
	n    int    // of the latest one, from 1
	at   int64  // where it begins
	read func(r *valuesReader, object []byte, cut bool)
	done func(r *valuesReader) // nothing more comes; may be nil
}

// newEntries is newValues for who reads each object by itself, whatever the others were.
func newEntries(in *capture.Input, what string, read func(r *valuesReader, object []byte, cut bool), paths ...[]string) *valuesReader {
	r := newValues(in, what, read, paths...)
	r.entries = in.Entries(func(in *capture.Input, object []byte) []capture.Record {
		if !isObject(object) {
			return nil
		}
		again := &valuesReader{recordWriter: newRereadWriter(in)}
		read(again, object, false)
		return again.recs
	})
	return r
}

func newValues(in *capture.Input, what string, read func(r *valuesReader, object []byte, cut bool), paths ...[]string) *valuesReader {
	return &valuesReader{recordWriter: recordWriter{in: in}, walk: json.Walk{Paths: paths}, what: what, read: read}
}

func (r *valuesReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	r.walk.Write(p, r.takeValue)
	return r.takeWritten(recs), nil
}

func (r *valuesReader) Close(recs []capture.Record, _ capture.End, _ string, _ time.Duration) []capture.Record {
	open := r.walk.Open()
	r.walk.Close(r.takeValue)
	if open {
		r.addNote(true, "the file is cut off after %s %d", r.what, r.n)
	}
	if r.walk.Stray > 0 {
		r.addNote(true, "not JSON: %s from byte %d on", count.Of(r.walk.Stray, "byte"), r.walk.StrayAt)
	}
	if r.done != nil {
		r.done(r)
	}
	return r.close(recs)
}

func (r *valuesReader) takeValue(f json.FoundValue) {
	r.n++
	r.at = f.At
	switch {
	case f.Long:
		r.addNote(true, "%s %d, at byte %d, is %d bytes long: values longer than %d bytes are not read", r.what, r.n, f.At, f.Size, json.MaxValueBytes)
	case f.Raw[0] != '{':
		r.addNote(true, "%s %d, at byte %d, is not an object", r.what, r.n, f.At)
	default:
		before := len(r.recs)
		if r.read(r, f.Raw, f.Cut); !f.Cut {
			r.entries.SetLocation(r.recs[before:], f.At, f.Size)
		}
	}
}

// noteUnexpected says what the value is that was expected to be something.
func (r *valuesReader) noteUnexpected(what string) {
	r.addNote(true, "%s %d, at byte %d, has %s", r.what, r.n, r.at, what)
}

const bom = "\ufeff"

// objectText is what follows the white space, and the byte order mark, that an input begins with,
// and whether that is an object, or may be one.
func objectText(first []byte) (text []byte, ok bool) {
	if len(first) < len(bom) && strings.HasPrefix(bom, string(first)) {
		return nil, true
	}
	text = afterSpace(bytes.TrimPrefix(first, []byte(bom)))
	return text, len(text) == 0 || text[0] == '{'
}

// sniffMaybe is the answer of who needs to see more.
func sniffMaybe(whole bool) capture.SniffResult {
	if whole {
		return capture.SniffResult{}
	}
	return capture.SniffResult{Is: capture.Maybe}
}

// sniffObject tells a format by the members of the object that an input begins with, as far as they
// are there. judge is asked with each of them, in order, until it is sure.
func sniffObject(first []byte, whole bool, judge func(key string, value []byte) capture.SniffResult) capture.SniffResult {
	text, ok := objectText(first)
	if !ok {
		return capture.SniffResult{}
	}
	for key, value := range json.Members(text) {
		if s := judge(key, value); s.Is != capture.Maybe {
			return s
		}
	}
	if isWhole(text) {
		return capture.SniffResult{}
	}
	return sniffMaybe(whole)
}
