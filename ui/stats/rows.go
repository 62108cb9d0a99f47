package stats

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"toolscope/providers/price"
	"toolscope/stream"
)

// rowsMagic begins each file with rows. The last byte is the version.
const rowsMagic = "tsrows\x00\x01"

// These types are the rows of a file, which all have a fixed size. A row stores a text as the number of a name in the
// file's table of names.
type (
	turnRow struct {
		Values                                                   [numKeys]uint32
		RequestedModel, Run, Phase, Operation, ErrorType, Prices uint32
		Background, Failed, Refused, Stopped, Approximate        bool
		Reported                                                 [numTokens]bool
		Source                                                   price.Source
		Calls, Findings                                          uint32 // numbers of the turn's rows in the tables of calls and findings
		At, FirstToken, Duration, Missed                         int64  // At is 0 if the time is unknown
		Usage                                                    [numTokens]int64
		USD                                                      float64
	}
	callRow struct {
		Number     int32
		Tool, Runs uint32
		State      stream.Status
		Result     stream.Code
		Bad        bool
	}
	findingRow struct {
		Call     int32
		Code     uint32
		Severity stream.Severity
		By       stream.Party
	}
)

// rowsHeader has the numbers of rows.
type rowsHeader struct{ Key, Names, Turns, Calls, Findings, Runs uint32 }

// rowFile is the content of a file with rows.
type rowFile struct {
	key      string
	names    []string
	turns    []turnRow
	calls    []callRow
	findings []findingRow
	runs     []int64
}

// EncodeTurns returns turns as a file of rows with a checksum. The file contains names and numbers, but no texts from
// models or users. The key is anything that identifies the origin of the turns.
func EncodeTurns(key string, turns []Turn) []byte {
	f, known := rowFile{key: key}, map[string]uint32{}
	name := func(text string) uint32 {
		n, ok := known[text]
		if !ok {
			n = uint32(len(f.names))
			known[text], f.names = n, append(f.names, text)
		}
		return n
	}
	for i := range turns {
		t := &turns[i]
		row := turnRow{
			RequestedModel: name(t.RequestedModel), Run: name(t.Run), Phase: name(t.Phase), Operation: name(t.Operation), ErrorType: name(t.ErrorType), Prices: name(t.Cost.AsOf),
			Background: t.Background, Failed: t.Failed, Refused: t.Refused, Stopped: t.Stopped, Approximate: t.Cost.Approximate, Source: t.Cost.Source,
			Calls: uint32(len(t.Calls)), Findings: uint32(len(t.Findings)),
			FirstToken: int64(t.FirstToken), Duration: int64(t.Duration), Missed: t.Missed, USD: t.Cost.USD,
		}
		for k, value := range t.Values {
			row.Values[k] = name(value)
		}
		for k, u := range t.Usage {
			row.Usage[k], row.Reported[k] = u.N, u.Reported
		}
		if !t.At.IsZero() {
			row.At = t.At.UnixNano()
		}
		f.turns = append(f.turns, row)
		for _, c := range t.Calls {
			f.calls = append(f.calls, callRow{int32(c.Number), name(c.Tool), uint32(len(c.Runs)), c.State, c.Result, c.Bad})
			for _, d := range c.Runs {
				f.runs = append(f.runs, int64(d))
			}
		}
		for _, found := range t.Findings {
			f.findings = append(f.findings, findingRow{int32(found.Call), name(found.Code), found.Severity, found.By})
		}
	}
	return f.encode()
}

// encode returns the file: the first bytes, a checksum of the rest, the header, the texts and the rows.
func (f *rowFile) encode() []byte {
	var b bytes.Buffer
	write := func(value any) { _ = binary.Write(&b, binary.LittleEndian, value) } // writes to memory can't fail
	write(rowsHeader{uint32(len(f.key)), uint32(len(f.names)), uint32(len(f.turns)), uint32(len(f.calls)), uint32(len(f.findings)), uint32(len(f.runs))})
	b.WriteString(f.key)
	for _, name := range f.names {
		write(uint32(len(name)))
		b.WriteString(name)
	}
	for _, rows := range []any{f.turns, f.calls, f.findings, f.runs} {
		write(rows)
	}
	sum := sha256.Sum256(b.Bytes())
	return slices.Concat([]byte(rowsMagic), sum[:], b.Bytes())
}

// DecodeTurns returns the turns of a file of rows. It returns false if the file is incomplete, damaged, from another
// version, or has another key.
func DecodeTurns(data []byte, key string) ([]Turn, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(rowsMagic))
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	sum, rest := rest[:sha256.Size], rest[sha256.Size:]
	if actual := sha256.Sum256(rest); !bytes.Equal(sum, actual[:]) {
		return nil, false
	}
	r := rowReader{rest: rest}
	f, ok := r.readFile(key)
	if !ok {
		return nil, false
	}
	return f.decode()
}

// rowReader reads the parts of a file of rows.
type rowReader struct{ rest []byte }

// takeText returns the next n bytes.
func (r *rowReader) takeText(n uint32) (string, bool) {
	if uint64(n) > uint64(len(r.rest)) {
		return "", false
	}
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text, true
}

// readValue reads a value of a fixed size.
func (r *rowReader) readValue(to any) bool {
	n, err := binary.Decode(r.rest, binary.LittleEndian, to)
	if err != nil {
		return false
	}
	r.rest = r.rest[n:]
	return true
}

// readFile reads a file. It returns false if the file is invalid or has another key.
func (r *rowReader) readFile(key string) (f rowFile, ok bool) {
	var h rowsHeader
	if !r.readValue(&h) {
		return f, false
	}
	for _, n := range []uint32{h.Names, h.Turns, h.Calls, h.Findings, h.Runs} {
		if uint64(n) > uint64(len(r.rest)) { // each name and row has at least one byte
			return f, false
		}
	}
	if f.key, ok = r.takeText(h.Key); !ok || f.key != key {
		return f, false
	}
	for range h.Names {
		var n uint32
		if !r.readValue(&n) {
			return f, false
		}
		name, ok := r.takeText(n)
		if !ok {
			return f, false
		}
		f.names = append(f.names, name)
	}
	f.turns, f.calls, f.findings, f.runs = make([]turnRow, h.Turns), make([]callRow, h.Calls), make([]findingRow, h.Findings), make([]int64, h.Runs)
	return f, r.readValue(f.turns) && r.readValue(f.calls) && r.readValue(f.findings) && r.readValue(f.runs) && len(r.rest) == 0
}

// takeRows returns the first n rows, and removes them from the list.
func takeRows[T any](list *[]T, n uint32) (rows []T, ok bool) {
	if uint64(n) > uint64(len(*list)) {
		return nil, false
	}
	rows, *list = (*list)[:n], (*list)[n:]
	return rows, true
}

// decode returns the turns of a file.
func (f *rowFile) decode() (turns []Turn, ok bool) {
	ok = true
	name := func(n uint32) string {
		if ok = ok && uint64(n) < uint64(len(f.names)); !ok {
			return ""
		}
		return f.names[n]
	}
	for i := range f.turns {
		row := &f.turns[i]
		t := Turn{
			RequestedModel: name(row.RequestedModel), Run: name(row.Run), Phase: name(row.Phase), Operation: name(row.Operation), ErrorType: name(row.ErrorType),
			Background: row.Background, Failed: row.Failed, Refused: row.Refused, Stopped: row.Stopped,
			Cost:       price.Figure{USD: row.USD, Source: row.Source, Approximate: row.Approximate, AsOf: name(row.Prices)},
			FirstToken: time.Duration(row.FirstToken), Duration: time.Duration(row.Duration), Missed: row.Missed,
		}
		for k, n := range row.Values {
			t.Values[k] = name(n)
		}
		for k := range row.Usage {
			t.Usage[k] = stream.Count{N: row.Usage[k], Reported: row.Reported[k]}
		}
		if row.At != 0 {
			t.At = time.Unix(0, row.At).UTC()
		}
		calls, known := takeRows(&f.calls, row.Calls)
		findings, also := takeRows(&f.findings, row.Findings)
		for _, c := range calls {
			runs, enough := takeRows(&f.runs, c.Runs)
			if !enough || c.State >= stream.NumStatus {
				return nil, false
			}
			add := Call{Number: int(c.Number), Tool: name(c.Tool), State: c.State, Bad: c.Bad, Result: c.Result}
			for _, d := range runs {
				add.Runs = append(add.Runs, time.Duration(d))
			}
			t.Calls = append(t.Calls, add)
		}
		for _, found := range findings {
			t.Findings = append(t.Findings, Finding{int(found.Call), name(found.Code), found.Severity, found.By})
		}
		if !known || !also || !ok {
			return nil, false
		}
		turns = append(turns, t)
	}
	return turns, ok
}
