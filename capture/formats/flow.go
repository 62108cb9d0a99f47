package formats

import (
	"bytes"
	"cmp"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// flow reads the files of mitmproxy: one dictionary for each flow. A body has the encoding in which it was sent. The
// body of a streamed response is missing.
var flow = capture.Format{
	Name:  "mitmproxy flow",
	Title: "flows saved by mitmproxy and mitmdump -w",
	Sniff: sniffFlow,
	New: func(in *capture.Input) capture.Reader {
		return &flowReader{recordWriter: recordWriter{in: in, entries: in.Entries(readFlow)}}
	},
}

// flowKeys are the possible first keys of a flow.
var flowKeys = map[string]bool{
	"websocket": true, "response": true, "request": true, "version": true, "type": true, "id": true, "error": true,
	"client_conn": true, "server_conn": true, "intercepted": true, "is_replay": true, "marked": true, "metadata": true,
	"comment": true, "timestamp_created": true, "backup": true, "mode": true, "messages": true,
}

func sniffFlow(first []byte, whole bool) capture.SniffResult {
	size, data := netstringSize(first)
	switch {
	case size < 0:
		return capture.SniffResult{}
	case size == 0:
		return sniffMaybe(whole)
	}
	size, key := netstringSize(first[data:])
	switch {
	case size < 0 || size > 32:
		return capture.SniffResult{}
	case size == 0 || len(first) < data+size:
		return sniffMaybe(whole)
	}
	name, tag := string(first[data+key:data+size-1]), first[data+size-1]
	if (tag != ';' && tag != ',') || !flowKeys[name] {
		return capture.SniffResult{}
	}
	return capture.SniffResult{Is: capture.Yes, Why: "it begins with a flow's length and its key " + name}
}

// flowReader reads the flows of a file. It holds at most one flow.
type flowReader struct {
	recordWriter
	held   []byte // the beginning of a flow
	at     int64  // offset of that flow in the file
	skip   int64  // remaining bytes of a flow that is too long
	flows  int
	first  string // the first key of all flows, as written in the file
	broken bool   // the current bytes are not a flow
	from   int64  // offset where these bytes began
	noted  bool   // a note about these bytes was written
}

func (r *flowReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	if r.skip > 0 {
		n := min(r.skip, int64(len(p)))
		p, r.skip, r.at = p[n:], r.skip-n, r.at+n
	}
	if len(r.held) > 0 {
		p = append(r.held, p...)
	}
	rest := r.readFlows(p)
	if len(rest) > 0 && len(r.held) == 0 {
		rest = bytes.Clone(rest)
	}
	r.held = rest
	return r.takeWritten(recs), nil
}

// readFlows reads the complete flows in p and returns the remaining bytes.
func (r *flowReader) readFlows(p []byte) []byte {
	for len(p) > 0 {
		size, _ := netstringSize(p)
		switch {
		case r.broken, size < 0, size > 0 && size <= len(p) && p[size-1] != '}':
			more := r.seekFlow(p)
			if r.at += int64(len(p) - len(more)); r.broken {
				return more
			}
			p = more
		case size > json.MaxValueBytes && size > len(p):
			r.flows++
			r.addNote(true, "flow %d, at byte %d, is %d bytes long: flows longer than %d bytes are not read", r.flows, r.at, size, json.MaxValueBytes)
			r.skip, r.at = int64(size-len(p)), r.at+int64(len(p))
			return nil
		case size == 0 || size > len(p):
			return p
		default:
			v, rest, _ := nextNetstring(p)
			before := len(r.recs)
			r.takeFlow(v, r.at)
			r.entries.SetLocation(r.recs[before:], r.at, int64(size))
			p, r.at = rest, r.at+int64(size)
		}
	}
	return nil
}

// flowBegin matches the beginning of a flow after other bytes.
var flowBegin = lazyregexp.New(`[^0-9][0-9]{1,12}:([0-9]{1,2}:[a-z_]{2,20}[;,])`)

// flowTail is longer than any match of flowBegin.
const flowTail = 64

// seekFlow searches for the next flow. It returns the bytes from the flow's beginning, or from a place where a flow
// may begin. The first key is the same for all flows of a file, and values inside a flow don't begin with it.
func (r *flowReader) seekFlow(p []byte) []byte {
	from := 0
	if !r.broken { // the start of p looks like a flow but isn't one: search after it
		if size, _ := netstringSize(p); size > 0 {
			from = bytes.IndexByte(p, ':')
		}
		r.broken, r.from, r.noted = true, r.at, false
	}
	for _, at := range flowBegin().FindAllSubmatchIndex(p[from:], -1) {
		if r.first == "" || string(p[from+at[2]:from+at[3]]) == r.first {
			begin := from + at[0] + 1
			r.passOver(p[:begin])
			r.broken = false
			return p[begin:]
		}
	}
	begin := max(from, len(p)-flowTail)
	r.passOver(p[:begin])
	return p[begin:]
}

// passOver adds a single note about bytes that are not a flow. White space between flows needs no note.
func (r *flowReader) passOver(p []byte) {
	if !r.noted && len(bytes.TrimSpace(p)) > 0 {
		r.noted = true
		r.addNote(true, "byte %d: a flow should begin here, but none does", r.from)
	}
}

func (r *flowReader) Close(recs []capture.Record, _ capture.End, _ string, _ time.Duration) []capture.Record {
	if r.broken {
		r.passOver(r.held)
	} else if r.skip > 0 || len(bytes.TrimSpace(r.held)) > 0 {
		r.addNote(true, "the file ends inside flow %d, which begins at byte %d", r.flows+1, r.at)
	}
	return r.close(recs)
}

// readFlow reads a single flow again.
func readFlow(in *capture.Input, text []byte) []capture.Record {
	r := flowReader{recordWriter: newRereadWriter(in)}
	if v, _, ok := nextNetstring(text); ok {
		r.takeFlow(v, 0)
	}
	return r.recs
}

func (r *flowReader) takeFlow(v tnetstring, at int64) {
	r.flows++
	if size, _ := netstringSize(v.data); r.first == "" && size > 0 && size <= len(v.data) {
		r.first = string(v.data[:size])
	}
	if kind := v.get("type").asText(); v.tag != '}' || kind != "http" && kind != "" {
		if v.tag != '}' {
			r.addNote(true, "flow %d, at byte %d, is not a dictionary", r.flows, at)
		}
		return
	}
	request := v.get("request")
	if request.tag != '}' {
		r.addNote(true, "flow %d, at byte %d, has no request", r.flows, at)
		return
	}
	x := recordedExchange{layers: []string{"mitmproxy flow"}}
	flowRequest(&x, request)
	flowResponse(&x, v.get("response"))
	if failed := v.get("error"); failed.tag == '}' {
		r.setFailure(&x, failed.get("msg").asText())
	}
	if socket := v.get("websocket"); socket.tag == '}' {
		// A WebSocket message is a list of four values: its type, whether the client sent it, its content, and its
		// time.
		x := &x
		x.lacks = nil
		for m := range socket.get("messages").eachElement() {
			if f := m.firstElements(4); len(f) == 4 {
				p := timedBytes{at: unixTime(f[3].asNumber()), data: f[2].data}
				if f[1].isTrue() {
					p.side = capture.Request
				}
				x.pieces = append(x.pieces, p)
			}
		}
		if ended := unixTime(socket.get("timestamp_end").asNumber()); !ended.IsZero() {
			x.ended = ended
		}
	}
	r.writeExchange(&x)
}

// setFailure reads the error of a flow. If mitmproxy kept no body, the error becomes a note, because the error
// doesn't show how the response ended.
func (r *flowReader) setFailure(x *recordedExchange, why string) {
	x.cut = true
	switch {
	case slices.Contains(x.lacks, capture.NoBody):
		r.addNote(false, "flow %d: %s", r.flows, why)
		return
	case strings.Contains(strings.ToLower(why), "client"):
		x.by = capture.Client
	}
	x.why = why
}

func flowRequest(x *recordedExchange, v tnetstring) {
	x.method = v.get("method").asText()
	x.requestHeader = flowHeader(v.get("headers"))
	x.request = v.get("content").data
	x.began = unixTime(v.get("timestamp_start").asNumber())
	host := cmp.Or(v.get("authority").asText(), x.requestHeader.Get("Host")) // a transparent proxy knows only addresses
	if host == "" {
		host = v.get("host").asText()
		if port := int(v.get("port").asNumber()); port != 0 && port != 80 && port != 443 {
			host += ":" + strconv.Itoa(port)
		}
	}
	x.url = v.get("scheme").asText() + "://" + host + v.get("path").asText()
}

func flowResponse(x *recordedExchange, v tnetstring) {
	if v.tag != '}' {
		return
	}
	x.status = int(cmp.Or(v.get("status_code").asNumber(), v.get("code").asNumber()))
	x.responseHeader = flowHeader(v.get("headers"))
	x.first = unixTime(v.get("timestamp_start").asNumber())
	x.ended = unixTime(v.get("timestamp_end").asNumber())
	body := v.get("content")
	x.response = body.data
	switch {
	case body.tag == '~' || body.tag == 0:
		x.response = nil
		x.addLack(capture.NoBody)
	case len(body.data) > 0:
		x.addLack(capture.NoTimes)
	}
}

// flowHeader reads a list of pairs. It omits Transfer-Encoding, because the stored body is not chunked.
func flowHeader(v tnetstring) http.Header {
	h := http.Header{}
	for field := range v.eachElement() {
		if f := field.firstElements(2); len(f) == 2 && !strings.HasPrefix(f[0].asText(), ":") {
			h.Add(f[0].asText(), f[1].asText())
		}
	}
	h.Del("Transfer-Encoding")
	return h
}

// tnetstring is a value in mitmproxy's format: its length in decimal, a colon, its bytes, and a tag. Lists and
// dictionaries are parsed when they are used.
//
//	, bytes   ; text   # integer   ^ float   ! boolean   ~ null   ] list   } dictionary
type tnetstring struct {
	tag  byte // 0 for no value
	data []byte
}

// maxLengthDigits is the maximum number of digits of a length.
const maxLengthDigits = 12

// netstringSize returns the length of the value at the beginning of p, and the position of its data. The length is
// 0 if p is too short, and -1 if no value begins there.
func netstringSize(p []byte) (size, data int) {
	digits := 0
	for digits < len(p) && digits <= maxLengthDigits && '0' <= p[digits] && p[digits] <= '9' {
		digits++
	}
	switch {
	case digits > maxLengthDigits:
		return -1, 0
	case digits == len(p):
		return 0, 0
	case digits == 0 || p[digits] != ':':
		return -1, 0
	}
	n, _ := strconv.Atoi(string(p[:digits]))
	return digits + 1 + n + 1, digits + 1
}

// nextNetstring reads the value at the beginning of p. The result ok is false if it is incomplete or invalid.
func nextNetstring(p []byte) (v tnetstring, rest []byte, ok bool) {
	size, data := netstringSize(p)
	if size <= 0 || size > len(p) {
		return tnetstring{}, nil, false
	}
	return tnetstring{p[size-1], p[data : size-1 : size-1]}, p[size:], true
}

// eachElement yields the elements of a list, or the keys and values of a dictionary in turn.
func (v tnetstring) eachElement() iter.Seq[tnetstring] {
	return func(yield func(tnetstring) bool) {
		if v.tag != ']' && v.tag != '}' {
			return
		}
		for p := v.data; len(p) > 0; {
			e, rest, ok := nextNetstring(p)
			if !ok || !yield(e) {
				return
			}
			p = rest
		}
	}
}

// firstElements returns the first elements of a list, at most as many as the parameter most.
func (v tnetstring) firstElements(most int) (all []tnetstring) {
	for e := range v.eachElement() {
		if all = append(all, e); len(all) == most {
			break
		}
	}
	return all
}

// get returns the value of a key in a dictionary.
func (v tnetstring) get(key string) tnetstring {
	if v.tag != '}' {
		return tnetstring{}
	}
	isKey, match := true, false
	for e := range v.eachElement() {
		if !isKey && match {
			return e
		}
		match = isKey && string(e.data) == key
		isKey = !isKey
	}
	return tnetstring{}
}

// asText returns a value that is text or bytes, or "" for any other value.
func (v tnetstring) asText() string {
	if v.tag != ';' && v.tag != ',' {
		return ""
	}
	return string(v.data)
}

func (v tnetstring) asNumber() float64 {
	if v.tag != '#' && v.tag != '^' {
		return 0
	}
	f, _ := strconv.ParseFloat(string(v.data), 64)
	return f
}

func (v tnetstring) isTrue() bool { return v.tag == '!' && bytes.Equal(v.data, []byte("true")) }
