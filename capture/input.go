package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"toolscope/stream/count"
)

// Format is an input format, which is detected from the first bytes.
type Format struct {
	Name  string // in lower case, for paths and options: "har"
	Title string // for help: a description of the format, and the program that writes it
	Sniff func(first []byte, whole bool) SniffResult
	New   func(*Input) Reader
}

// SniffResult is the result of Sniff: whether the first bytes of an input are in a format, and why.
type SniffResult struct {
	Is          SniffVerdict
	Why         string
	Provisional bool // with Maybe: the format is assumed if no more bytes arrive for a while
}

// SniffVerdict is the decision whether bytes are in a format.
type SniffVerdict int8

// The values of SniffVerdict. After Maybe, Sniff is called again with more bytes, up to a limit.
const (
	No SniffVerdict = iota
	Maybe
	Yes
)

// Reader cuts the bytes of one input into records.
//
// Write appends the records of p to recs. The reader owns p from then on, and p may become the data of a
// record. The records are the same however the input is split, except for the split of a body's bytes among
// them. An error means that the input can't be read any further; the readable records are returned with it.
// Damage becomes a note instead. Close ends all open exchanges. The parameters end and why describe how the
// input ended.
type Reader interface {
	Write(recs []Record, p []byte, at time.Duration) ([]Record, error)
	Close(recs []Record, end End, why string, at time.Duration) []Record
}

// RotationReader is a Reader whose streams can continue in another file: the next one after a log is rotated.
// Rotated returns the Reader of that file. Both Readers share the open streams, because the old file may
// still be written to. An incomplete line belongs to its own file. After Rotated, Close of the old Reader
// ends only that line.
type RotationReader interface {
	Reader
	Rotated() Reader
}

// Input describes the input of a Reader.
type Input struct {
	File         string   // the path as the user wrote it, or "stdin"
	Peeled       []string // the wrappers removed before the Reader: "gzip"
	GuessPayload func(payload []byte) PayloadGuess

	AllowChunks bool // records may have several Chunks, and locations are not needed

	numbers *exchangeNumbers
	again   *File       // nil if the input can't be read again
	begin   int64       // offset of its first line in the file
	shapes  *lineShapes // shapes of its lines
	epoch   *time.Time  // the zero of the input's times, once a time is known
}

// PayloadGuess says what a payload probably is in a provider's protocol: a request, a response, or part of a
// response.
type PayloadGuess int8

// The values of PayloadGuess.
const (
	Nothing PayloadGuess = iota // not part of a request or response
	Chunk                       // one event of a stream, or one delta of a response
	Body                        // a complete response, or a list of chunks
	Events                      // text of an event stream, several events at once
	Ask                         // a request to a provider
)

// NewInput returns an input that is read outside of a Source. The parameter looks may be nil.
func NewInput(file string, looks func([]byte) PayloadGuess) *Input {
	return newInput(file, &exchangeNumbers{}, looks)
}

func newInput(file string, n *exchangeNumbers, looks func([]byte) PayloadGuess) *Input {
	if looks == nil {
		looks = func([]byte) PayloadGuess { return Nothing }
	}
	return &Input{File: file, GuessPayload: looks, numbers: n, shapes: new(lineShapes), epoch: new(time.Time)}
}

// NextExchange returns the number for a new exchange.
func (in *Input) NextExchange() int { return in.numbers.claimNumber(in.numbers.last + 1) }

// RecordTime converts a wall clock time to the time of a record. The first time of the input is its zero.
// Earlier times and the zero time become NoTime.
func (in *Input) RecordTime(t time.Time) time.Duration {
	if t.IsZero() {
		return NoTime
	}
	if in.epoch.IsZero() {
		*in.epoch = t
	}
	if t.Before(*in.epoch) {
		return NoTime
	}
	return t.Sub(*in.epoch).Truncate(time.Microsecond)
}

// NewHead returns the head of a side of an exchange. It names the wrappers that were removed from the bytes,
// from outside in, and the facts that the source can't show.
func (in *Input) NewHead(layers []string, lacks ...Lack) *Head {
	all := make([]string, 0, len(in.Peeled)+len(layers))
	all = append(append(all, in.Peeled...), layers...)
	return &Head{File: in.File, Wrappers: strings.Join(all, PeeledBy), Lacks: lacks}
}

// PeeledBy separates the wrappers in a path.
const PeeledBy = " › "

// Lack is a fact that a source can't show. The words follow "cannot tell: " and are part of the capture
// format.
type Lack string

// The values of Lack.
const (
	NoDeltas  Lack = "how arguments came: calls are whole"
	NoTimes   Lack = "when bytes came"
	LateTimes Lack = "when bytes came: times are of writing the log"
	Reencoded Lack = "how arguments were spelled: the log encoded them anew"
	Resent    Lack = "what the model wrote: calls are as the client sends them back"
	NoEnding  Lack = "how answers ended"
	NoBody    Lack = "what was answered: bodies were not kept"
	NoNames   Lack = "what events are called: the log has only their data"
	Mixed     Lack = "which answer a line is of: several came at once, and nothing tells them apart"
	CutLines  Lack = "what lines held that stop in their midst: who wrote the log may have cut them"
	// UsageBefore is for the rest of a response whose beginning is in an earlier exchange.
	UsageBefore Lack = "what it used: the exchange with the beginning of the message has the usage"
	Composed    Lack = "what was asked: requests are put together from the log's history"
	// Rewound is for a request that continues a message before the latest one.
	Rewound Lack = "which of the earlier calls were sent: the user went back to an earlier message"
)

// maxSniffBytes is the maximum number of bytes that are held back while the format is undecided.
const maxSniffBytes = 64 << 10

// inputReader cuts the bytes of one input into records. It holds the first bytes back only while more than one format
// is possible.
type inputReader struct {
	*Input
	formats []Format
	forced  bool        // use the first format, whatever the bytes are
	reader  Reader      // nil while undecided
	held    []chunk     // the bytes read while undecided
	from    *File       // nil if the input can't be read again
	read    int64       // number of bytes of the input read so far
	room    []byte      // buffer for the next read
	spare   chan []byte // released buffers; nil if records have no Release
	recs    []Record    // reused for the records of a chunk
	late    bool        // the reader has waited long enough for bytes that decide the format
	checked bool        // live is known
	live    bool        // a program is still recording to the file
}

func newInputReader(file string, n *exchangeNumbers) *inputReader {
	return &inputReader{Input: newInput(file, n, nil)}
}

// newReader returns the reader of an input according to the options.
func (o Options) newReader(file string, n *exchangeNumbers) *inputReader {
	in := &inputReader{Input: newInput(file, n, o.GuessPayload), formats: o.Formats, forced: o.Forced}
	in.AllowChunks = o.AllowChunks
	return in
}

// afterRotation returns the reader of the next file with the same name. If the format allows it, open exchanges
// continue there; otherwise, it returns the parameter next.
func (in *inputReader) afterRotation(next *inputReader) *inputReader {
	if in == nil {
		return next
	}
	if r, ok := in.reader.(RotationReader); ok {
		next.Input, next.reader = in.Input, r.Rotated()
	}
	return next
}

// readChunk reads once from a file. The buffer is reused only for a capture, because every other reader keeps some of
// the bytes.
func (in *inputReader) readChunk(from io.Reader) chunk {
	if len(in.room) < minReadBytes {
		select {
		case in.room = <-in.spare:
		default:
			in.room = make([]byte, chunkSize)
		}
	}
	n, err := from.Read(in.room)
	c := chunk{data: in.room[:n:n], at: NoTime, err: err}
	if u, ok := from.(*decompressor); ok {
		c.packing = u.name
	}
	if in.asCapture() == nil {
		in.room = in.room[n:]
	}
	return c
}

// asCapture returns the reader of a capture, or nil if the input isn't a capture or its format is undecided.
func (in *inputReader) asCapture() *captureReader {
	c, _ := in.reader.(*captureReader)
	return c
}

// deliverChunk yields the records of c and reports whether there may be more.
func (in *inputReader) deliverChunk(yield func(Record, error) bool, c chunk) bool {
	if c.packing != "" && len(in.Peeled) == 0 {
		in.Peeled, in.from, in.again = []string{c.packing}, nil, nil // compressed data can't be read again from the middle
	}
	in.read += int64(len(c.data))
	recs, err := in.add(in.recs, c.data, c.at)
	in.setLocations(recs, in.read)
	in.lendChunk(recs, c.data)
	switch {
	case err != nil || c.err == nil:
	case c.err == io.EOF:
		last := in.from.finish(in.read)
		more := in.close(EndEOF, "", c.at)
		in.setLocations(more, last)
		recs = append(recs, more...)
	case errors.As(c.err, new(*compressionError)):
		recs = append(recs, in.close(EndCut, c.err.Error(), c.at)...)
		recs = append(recs, Record{Exchange: max(1, in.numbers.last), At: NoTime, Note: c.err.Error(), Damaged: true})
	default:
		recs = append(recs, in.close(EndCut, WithoutPath(c.err).Error(), c.at)...)
		err = readError(in.File, c.err)
	}
	more := yieldRecords(yield, recs, err) && c.err == nil
	clear(recs) // their contents have other owners now
	in.recs = recs[:0]
	return more
}

// lendChunk sets the Release of the record whose data is a complete buffer. Only the reader of a bare body keeps no part
// of a buffer.
func (in *inputReader) lendChunk(recs []Record, buffer []byte) {
	_, bare := in.reader.(*bodyReader)
	if in.spare == nil || !bare || len(buffer) < chunkSize || len(recs) != 1 || len(recs[0].Data) != len(buffer) {
		return
	}
	recs[0].Release = func() {
		select {
		case in.spare <- buffer:
		default:
		}
	}
}

func (in *inputReader) write(p []byte, at time.Duration) ([]Record, error) { return in.add(nil, p, at) }

// add appends the records of p to recs.
func (in *inputReader) add(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	switch {
	case len(p) == 0:
		return recs, nil
	case in.reader != nil:
		return in.reader.Write(recs, p, at)
	}
	in.held = append(in.held, chunk{data: p, at: at})
	return in.decideFormat(false)
}

// close ends all open exchanges, except those that a program is still recording. An input without any bytes counts as
// an exchange only if it was not cut off.
func (in *inputReader) close(end End, why string, at time.Duration) []Record {
	if in.reader == nil && len(in.held) == 0 && end == EndCut {
		return nil
	}
	var recs []Record
	if in.reader == nil {
		recs, _ = in.decideFormat(true) // an error here would end the input, which ends anyway
	}
	if c := in.asCapture(); c != nil && in.live {
		return c.leaveOpen(recs)
	}
	return in.reader.Close(recs, end, why, at)
}

// setLocations sets the location of the records of an input that is one exchange: everything read so far.
// Other formats set their own locations, or none.
func (in *inputReader) setLocations(recs []Record, end int64) {
	_, bare := in.reader.(*bodyReader)
	_, curl := in.reader.(*curlOutput)
	if in.from == nil || !bare && !curl {
		return
	}
	for i := range recs {
		recs[i].Location = Location{File: in.from, End: end, Bare: bare}
	}
}

// decideFormat chooses the format if the held bytes suffice, and passes them to its reader in the chunks
// in which they came. The parameter whole means that no more bytes follow.
func (in *inputReader) decideFormat(whole bool) ([]Record, error) {
	var first []byte
	for _, c := range in.held {
		first = append(first, c.data...)
	}
	skip := 0
	if in.reader = in.chooseReader(first, whole || len(first) >= maxSniffBytes); in.reader == nil {
		return nil, nil
	}
	if _, bare := in.reader.(*bodyReader); !bare && bytes.HasPrefix(first, []byte(bom)) {
		skip = len(bom)
	}
	in.begin = int64(skip)
	if c := in.asCapture(); c != nil {
		c.from, c.before = in.from, int64(skip)
		if in.spare != nil {
			c.room = &lineBuffer{spare: make(chan []byte, aheadBytes/copyBlock)}
		}
	}
	var recs []Record
	for _, c := range in.held {
		n := min(skip, len(c.data))
		c.data, skip = c.data[n:], skip-n
		var err error
		if recs, err = in.reader.Write(recs, c.data, c.at); err != nil {
			return recs, err
		}
	}
	in.held = nil
	return recs, nil
}

// lingerTime is the time for which the first bytes of live input are held back while the format is undecided.
// After that, a provisional format is chosen, if there is one, and its records are shown.
const lingerTime = time.Second

// holdsBack reports whether bytes are held back.
func (in *inputReader) holdsBack() bool { return in.reader == nil && len(in.held) > 0 && !in.late }

// decideNow chooses a provisional format if there is one. If so, holdsBack then returns false.
func (in *inputReader) decideNow() ([]Record, error) {
	in.late = true
	return in.decideFormat(false)
}

// chooseReader returns the reader of an input that begins with first, or nil if more bytes could decide the
// format. The parameter whole means that no more bytes follow.
func (in *inputReader) chooseReader(first []byte, whole bool) Reader {
	if in.forced && len(in.formats) > 0 {
		return in.formats[0].New(in.Input)
	}
	if in.forced {
		return in.newBodyReader()
	}
	switch sniffKind(first, whole) {
	case undecided:
		if !whole {
			return nil
		}
	case ownCapture:
		return newCaptureReader(in.File, in.numbers)
	case curlDump:
		return &curlOutput{bodyReader: *in.newBodyReader()}
	}
	text := bytes.TrimPrefix(first, []byte(bom))
	for _, f := range in.formats {
		switch s := f.Sniff(text, whole); {
		case s.Is == Yes, s.Is == Maybe && s.Provisional && in.late:
			return f.New(in.Input)
		case s.Is == Maybe && !whole:
			return nil
		}
	}
	return in.newBodyReader()
}

// newBodyReader returns a reader that reads the input as the body of one response.
func (in *inputReader) newBodyReader() *bodyReader {
	return &bodyReader{head: in.NewHead(nil), numbers: in.numbers}
}

type kind int

const (
	undecided kind = iota
	bareBody
	ownCapture
	curlDump
)

const bom = "\ufeff"

// sniffKind returns the kind of an input that begins with p. The parameter whole means that nothing follows.
func sniffKind(p []byte, whole bool) kind {
	if len(p) < len(bom) && bytes.HasPrefix([]byte(bom), p) {
		return undecided
	}
	p = bytes.TrimPrefix(p, []byte(bom))
	if damagedBegin(p) {
		return ownCapture
	}
	if bytes.HasPrefix(p, []byte("{")) {
		line, _, complete := bytes.Cut(p, []byte("\n"))
		key := bytes.TrimLeft(line[1:], " \t")
		possible := false
		for i, k := range headerKeys {
			switch {
			case bytes.HasPrefix(key, []byte(k)):
				if i == 0 {
					return ownCapture
				}
				possible = true
			case !complete && bytes.HasPrefix([]byte(k), key):
				possible = true
			}
		}
		if possible && !complete && !whole {
			return undecided
		}
		var header struct {
			Version json.RawMessage `json:"toolscope"`
		}
		if possible && json.Unmarshal(line, &header) == nil && header.Version != nil {
			return ownCapture
		}
		return bareBody
	}
	return sniffDump(p)
}

// damagedBegin reports whether p is the beginning of a capture with one wrong byte.
func damagedBegin(p []byte) bool {
	const begin = `{"toolscope":`
	if len(p) < len(begin) {
		return false
	}
	wrong := 0
	for i := range len(begin) {
		if p[i] != begin[i] {
			wrong++
		}
	}
	return wrong == 1
}

// headerKeys are the keys of the first line of a capture, beginning with the usual first key. A tool that rewrites
// JSON may have sorted them. A line with any other first key is not from a capture, so a few bytes are enough to
// decide.
var headerKeys = [...]string{`"toolscope"`, `"created"`, `"by"`}

// bodyReader passes on the bytes of one response unchanged.
type bodyReader struct {
	exchange int   // 0 before the first record
	head     *Head // nil after the first record
	numbers  *exchangeNumbers
	line     int    // number of bytes of the unfinished line
	over     bool   // the line is too long: its rest is skipped
	passed   int64  // number of skipped bytes
	held     []byte // the end of the bytes, which may be curl's last line
}

// maxEventBytes is the maximum number of bytes of a line that are read. The rest isn't held in memory and is
// reported as lost.
const maxEventBytes = 64 << 20

func (b *bodyReader) Write(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	if len(b.held) > 0 {
		p, b.held = append(b.held, p...), nil
	}
	if n := possibleFailure(p); n >= 0 {
		b.held, p = bytes.Clone(p[n:]), p[:n]
	}
	return b.writeBytes(recs, p, at), nil
}

// writeBytes writes bytes that are part of the body.
func (b *bodyReader) writeBytes(recs []Record, p []byte, at time.Duration) []Record {
	if b.over {
		n := bytes.IndexAny(p, "\r\n")
		if b.over = n < 0; b.over {
			n = len(p)
		}
		b.passed += int64(n)
		p = p[n:]
	}
	if len(p) == 0 {
		return recs
	}
	i := bytes.LastIndexByte(p, '\n')
	if i < 0 {
		i = bytes.LastIndexByte(p, '\r')
	}
	if i >= 0 {
		b.line = len(p) - i - 1
	} else {
		b.line += len(p)
		b.over = b.line > maxEventBytes
	}
	return append(recs, b.completeRecord(b.noteSkipped(Record{At: at, Data: p[:len(p):len(p)]})))
}

// noteSkipped makes a record report the bytes that were skipped before it.
func (b *bodyReader) noteSkipped(r Record) Record {
	if b.passed > 0 {
		r.Lost, r.Note = b.passed, fmt.Sprintf("only the first %d MiB of a line are read; %s skipped", maxEventBytes>>20, count.Of(b.passed, "byte"))
		b.passed = 0
	}
	return r
}

func (b *bodyReader) Close(recs []Record, end End, why string, at time.Duration) []Record {
	return b.endBody(recs, b.noteSkipped(Record{At: at, End: end, Why: why}))
}

// endBody writes the held bytes and the record of the end. If the held bytes are curl's last line, the line becomes the
// reason for the end instead.
func (b *bodyReader) endBody(recs []Record, end Record) []Record {
	if why, by := failureOf(b.held); by != "" && end.End == EndEOF {
		end.End, end.Why, end.By = EndCut, why, by
	} else {
		recs = b.writeBytes(recs, b.held, end.At)
	}
	b.held = nil
	return append(recs, b.completeRecord(end))
}

// completeRecord sets the exchange and the head of a record of the response side.
func (b *bodyReader) completeRecord(r Record) Record {
	if b.exchange == 0 {
		b.exchange = b.numbers.claimNumber(b.numbers.last + 1)
	}
	r.Exchange, r.Head, b.head = b.exchange, b.head, nil
	return r
}

// Entries is a file in which each entry contains one complete exchange, so the entry's position is enough
// to read the exchange again. Entries keeps no content of an entry. It is safe for concurrent use.
type Entries struct {
	file *File
	in   *Input // the input of the file; its exchange numbers are not used
	read func(in *Input, entry []byte) []Record
}

// Entries returns the Entries of the input, or nil if the input can't be read again. The parameter read is a function
// that returns the records of one entry, as it did the first time. On a later read, the entry may be any bytes.
func (in *Input) Entries(read func(in *Input, entry []byte) []Record) *Entries {
	if in.again == nil || in.AllowChunks {
		return nil
	}
	return &Entries{file: in.again, in: in, read: read}
}

// SetLocation sets the location of the records of an entry, if they belong to one exchange. The parameter at is the
// offset of the entry, counted after a byte order mark.
func (e *Entries) SetLocation(recs []Record, at, size int64) {
	if e == nil {
		return
	}
	exchange := 0
	for _, r := range recs {
		switch {
		case r.OfSource():
		case exchange == 0:
			exchange = r.Exchange
		case exchange != r.Exchange:
			return
		}
	}
	at += e.in.begin
	for i := range recs {
		if !recs[i].OfSource() {
			recs[i].Location = Location{File: e.file, Start: at, End: at + size, Entries: e}
		}
	}
}

// Again yields the records of the exchange in [start,end), as they were first read, under the number exchange. It
// returns the same errors as File.Again.
func (e *Entries) Again(ctx context.Context, exchange int, start, end int64) Source {
	return func(yield func(Record, error) bool) {
		entry, err := e.file.Bytes(start, end)
		if err != nil {
			yield(Record{}, err)
			return
		}
		in := *e.in // a copy, with the epoch of its times, which is known since the entry was first read
		in.numbers, in.again = &exchangeNumbers{last: exchange - 1}, nil
		for _, r := range e.read(&in, entry) {
			if ctx.Err() != nil {
				return
			}
			if r.Location = (Location{File: e.file, Start: start, End: end, Entries: e}); !r.OfSource() && !yield(r, nil) {
				return
			}
		}
	}
}
