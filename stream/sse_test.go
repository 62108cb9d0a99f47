package stream

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dispatched is an event that a browser would pass to its script.
type dispatched struct{ Type, Data string }

// message returns an event without a type of its own.
func message(data string) dispatched { return dispatched{"message", data} }

// sseCase is one test vector. Unless mixed is set, its line ends are LF without a special meaning, so CR and CRLF
// must produce the same result.
type sseCase struct {
	name  string
	wire  string
	mixed bool
	want  []dispatched
}

var manyX = strings.Repeat("x", 2048)

// sseCases are the format vectors of web-platform-tests/wpt, eventsource/ (BSD-3-Clause), in another notation.
// The three vectors about Content-Type are left out, because it is not in the bytes.
var sseCases = []sseCase{
	{name: "bom", wire: "\ufeffdata:1\n\n\ufeffdata:2\n\ndata:3\n\n", want: []dispatched{message("1"), message("3")}},
	{name: "bom twice", wire: "\ufeff\ufeffdata:1\n\ndata:2\n\ndata:3\n\n", want: []dispatched{message("2"), message("3")}},
	{
		name: "comments", mixed: true,
		wire: "data:1\r:\x00\n:\r\ndata:2\n:" + manyX + "\rdata:3\n:data:fail\r:" + manyX + "\ndata:4\n\n",
		want: []dispatched{message("1\n2\n3\n4")},
	},
	{name: "data before the final empty line", wire: "retry:1000\ndata:test1\n\nid:test\ndata:test2", want: []dispatched{message("test1")}},
	{name: "field data", wire: "data:\n\ndata\ndata\n\ndata:test\n\n", want: []dispatched{message(""), message("\n"), message("test")}},
	{name: "field event", wire: "event:test\ndata:x\n\ndata:x\n\n", want: []dispatched{{"test", "x"}, message("x")}},
	{name: "field event, empty", wire: "event: \ndata:data\n\n", want: []dispatched{message("data")}},
	{name: "event data", wire: "data:msg\ndata: msg\n\n:\nfalsefield:msg\n\nfalsefield:msg\nData:data\n\ndata\n\ndata:end\n\n",
		want: []dispatched{message("msg\nmsg"), message(""), message("end")}},
	{name: "field id", wire: "id: …\ndata:x\n\n", want: []dispatched{message("x")}},
	{name: "field id stays", wire: "id:1\ndata:a\n\ndata:b\n\ndata:c\n\n", want: []dispatched{message("a"), message("b"), message("c")}},
	{name: "field id replaced", wire: "id:1\ndata:a\n\nid:2\ndata:b\n\n", want: []dispatched{message("a"), message("b")}},
	{name: "field id reset", wire: "id:1\ndata:a\n\nid:\ndata:b\n\n", want: []dispatched{message("a"), message("b")}},
	{name: "field id reset without colon", wire: "id:1\ndata:a\n\nid\ndata:b\n\n", want: []dispatched{message("a"), message("b")}},
	{name: "field id without data", wire: "id:1\n\ndata:a\n\n", want: []dispatched{message("a")}},
	{name: "field id, null twice", wire: "id:\x00\x00\ndata:a\n\n", want: []dispatched{message("a")}},
	{name: "field id, null last", wire: "id:x\x00\ndata:a\n\n", want: []dispatched{message("a")}},
	{name: "field id, null first", wire: "id:\x00x\ndata:a\n\n", want: []dispatched{message("a")}},
	{name: "field id, null inside", wire: "id:x\x00x\ndata:a\n\n", want: []dispatched{message("a")}},
	{name: "field id, null after space", wire: "id: \x00\ndata:a\n\n", want: []dispatched{message("a")}},
	{
		name: "field parsing", mixed: true,
		wire: "data:\x00\ndata:  2\rData:1\ndata\x00:2\ndata:1\r\x00data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
		want: []dispatched{message("\x00\n 2\n1\n3\n\n4")},
	},
	{name: "retry", wire: "retry:03000\ndata:x\n\n", want: []dispatched{message("x")}},
	{name: "retry, bogus", wire: "retry:3000\nretry:1000x\ndata:x\n\n", want: []dispatched{message("x")}},
	{name: "retry, empty", wire: "retry\ndata:test\n\n", want: []dispatched{message("test")}},
	{name: "field unknown", wire: "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n", want: []dispatched{message("test\n\ntest")}},
	{name: "leading space", mixed: true, wire: "data:\ttest\rdata: \ndata:test\n\n", want: []dispatched{message("\ttest\n\ntest")}},
	{name: "newlines", mixed: true, wire: "data:test\r\ndata\ndata:test\r\n\r", want: []dispatched{message("test\n\ntest")}},
	{name: "null character", wire: "data:\x00\n\n\n\n", want: []dispatched{message("\x00")}},
	{name: "utf-8", wire: "data:ok…\n\n", want: []dispatched{message("ok…")}},
}

// variants returns the same vector with other line ends.
func (c sseCase) variants() []string {
	if c.mixed {
		return []string{c.wire}
	}
	return []string{c.wire, strings.ReplaceAll(c.wire, "\n", "\r"), strings.ReplaceAll(c.wire, "\n", "\r\n")}
}

func newSSE() Framer { return new(SSESplitter) }

func TestSSEDispatch(t *testing.T) {
	for _, c := range sseCases {
		for _, wire := range c.variants() {
			for at := range len(wire) + 1 {
				var s SSESplitter
				var got []dispatched
				emit := func(f Frame) {
					if f.Kind != FrameData || f.Truncated {
						return
					}
					kind := "message"
					if len(f.Event) > 0 {
						kind = string(f.Event)
					}
					got = append(got, dispatched{kind, string(f.Data)})
				}
				s.Write([]byte(wire[:at]), emit)
				s.Write([]byte(wire[at:]), emit)
				s.Close(emit)
				if !slices.Equal(got, c.want) {
					t.Fatalf("%s: %q cut at %d (-want +got):\n%s", c.name, wire, at, cmp.Diff(c.want, got))
				}
			}
		}
	}
}

func TestSSEInvariants(t *testing.T) {
	for _, c := range sseCases {
		for _, wire := range c.variants() {
			checkFramer(t, newSSE, []byte(wire), lineEnd)
		}
	}
	for _, c := range sseFrameCases {
		checkFramer(t, newSSE, []byte(c.wire), lineEnd)
	}
}

func comment(end int) framed { return framed{Kind: FrameComment, End: int64(end)} }

// sseFrameCases show the data that this framer keeps but the standard discards, and where frames end.
var sseFrameCases = []frameCase{
	{"", nil},
	{"\n\r\n", nil},
	{"\ufeff\n\n", nil},
	{": ping\n\n", []framed{comment(8)}},
	{": ping\n\n:\n:\n\ndata:1\n\n", []framed{comment(8), comment(13), data("1", 21)}},
	{": ping\ndata:1\n\n", []framed{data("1", 15)}},
	{"event: ping\n\n", []framed{{Kind: FrameNoData, Event: "ping", End: 13}}},
	{"event: a\nid: 1\n\ndata: 2\n\n", []framed{{Kind: FrameNoData, Event: "a", End: 16}, data("2", 25)}},
	{"data: 1\nevent: late\n\n", []framed{{Event: "late", Data: "1", End: 21}}},
	{"event: a\nevent: b\ndata: 1\n\n", []framed{{Event: "b", Data: "1", End: 27}}},
	{"data: 1\n: between\ndata: 2\ndata: 3\n\n", []framed{data("1\n2\n3", 35)}},
	{"data: 1\r\n\r\ndata: 2\r\n\r\n", []framed{data("1", 10), data("2", 21)}},
	{"data: 1\r\rdata: 2\r\n\n", []framed{data("1", 9), data("2", 19)}},

	// Blocks that begin like the one before.
	{"event: a\ndata: 1\n\nevent: a\ndata: 2\n\nevent: a\ndata: 3\ndata: 4\n\nevent: ab\ndata: 5\n\n",
		[]framed{{Event: "a", Data: "1", End: 18}, {Event: "a", Data: "2", End: 36}, {Event: "a", Data: "3\n4", End: 62}, {Event: "ab", Data: "5", End: 81}}},
	{"event: a\ndata: 1\n\nevent: a\ndata: 2\r\n\r\nevent: a\ndata: \n\n",
		[]framed{{Event: "a", Data: "1", End: 18}, {Event: "a", Data: "2", End: 37}, {Event: "a", End: 55}}},
	{"event: a\ndata: 1\n\ndata: 2\n\ndata:  3\n\n: x\ndata: 4\n\ndata: 5",
		[]framed{{Event: "a", Data: "1", End: 18}, data("2", 27), data(" 3", 37), data("4", 50), cut(data("5", 57))}},

	// Unterminated blocks: kept, and marked.
	{"data: 1", []framed{cut(data("1", 7))}},
	{"data: 1\n", []framed{cut(data("1", 8))}},
	{"data: 1\n\nevent: x\ndata: {\"a", []framed{data("1", 9), cut(framed{Event: "x", Data: `{"a`, End: 27})}},
	{"data: 1\ndata: 2\nda", []framed{cut(data("1\n2", 18))}},
	{": ping", []framed{cut(comment(6))}},

	// JSON without data before it, as Google reports errors.
	{"{\"error\":1}\n\n", []framed{data(`{"error":1}`, 13)}},
	{"{\"error\":1}", []framed{cut(data(`{"error":1}`, 11))}},
	{"data: 1\n\n{\n  \"error\": {\n    \"code\": 503\n  }\n}\n\ndata: 2\n\n",
		[]framed{data("1", 9), data("{\n  \"error\": {\n    \"code\": 503\n  }\n}", 47), data("2", 56)}},
	{"{\r\n}\r\n\r\n", []framed{data("{\n}", 7)}},
	{": late\nevent: error\n{}\n\n", []framed{{Event: "error", Data: "{}", End: 24}}},
	{"{\"lost\":1}\ndata: 1\n{}\ndata: 2\n\n", []framed{data("1\n2", 31)}},
	{"{}\n\nfalse\n{}\n\n", []framed{data("{}", 4), data("{}", 14)}},
	{"falsefield\n\n", []framed{{Kind: FrameNoData, End: 12}}},
}

func TestSSEFrames(t *testing.T) {
	for _, c := range sseFrameCases {
		if diff := cmp.Diff(c.want, frames(newSSE(), []byte(c.wire))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.wire, diff)
		}
	}
}

func TestSSEHugeLine(t *testing.T) {
	var writes [][]byte
	payload := strings.Repeat("0123456789", 40_000)
	wire := []byte("event: big\ndata: " + payload + "\ndata: tail\n\n")
	end := int64(len(wire))
	for len(wire) > 0 {
		n := min(len(wire), 1009)
		writes = append(writes, wire[:n])
		wire = wire[n:]
	}
	got := frames(newSSE(), writes...)
	want := []framed{{Event: "big", Data: payload + "\ntail", End: end}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%.500s", diff)
	}
}
