package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The types of a header's value.
const (
	isTrue, isFalse, isInt8, isInt16, isInt32, isInt64, isBytes, isText, isTime, isUUID = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
)

// awsHeader encodes one header. The length of bytes and text comes before the value.
func awsHeader(name string, kind byte, value string) string {
	h := string(rune(len(name))) + name + string(rune(kind))
	if kind == isBytes || kind == isText {
		h += string([]byte{byte(len(value) >> 8), byte(len(value))})
	}
	return h + value
}

func textHeaders(pairs ...string) (headers string) {
	for i := 0; i < len(pairs); i += 2 {
		headers += awsHeader(pairs[i], isText, pairs[i+1])
	}
	return headers
}

// awsMessage encodes one message.
func awsMessage(headers, payload string) string {
	m := awsPrelude(16+len(headers)+len(payload), len(headers)) + headers + payload
	return m + checksum(m)
}

func awsPrelude(total, headers int) string {
	p := binary.BigEndian.AppendUint32(nil, uint32(total))
	p = binary.BigEndian.AppendUint32(p, uint32(headers))
	return string(p) + checksum(string(p))
}

func checksum(s string) string {
	return string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(s))))
}

// flip changes one bit of the byte at i.
func flip(s string, i int) string { return s[:i] + string([]byte{s[i] ^ 1}) + s[i+1:] }

var (
	eventA = awsMessage(textHeaders(":event-type", "a", ":content-type", "application/json", ":message-type", "event"), `{"n":1}`)
	eventB = awsMessage(textHeaders(":message-type", "event", ":event-type", "b"), "")
	bare   = awsMessage("", "")
	allAWS = awsMessage(textHeaders(":message-type", "event")+
		awsHeader("t", isTrue, "")+awsHeader("f", isFalse, "")+awsHeader("i1", isInt8, "1")+awsHeader("i2", isInt16, "22")+
		awsHeader("i4", isInt32, "4444")+awsHeader("i8", isInt64, "88888888")+awsHeader("b", isBytes, "\x00\xff")+
		awsHeader("at", isTime, "88888888")+awsHeader("id", isUUID, "0123456789abcdef")+textHeaders(":event-type", "all"), "x")
	exception = awsMessage(textHeaders(":message-type", "exception", ":exception-type", "throttlingException"), `{"message":"slow down"}`)
	brokeDown = awsMessage(textHeaders(":message-type", "error", ":error-code", "Internal", ":error-message", "it broke"), "")
)

func awsEvent(name, data string, end int) framed {
	return framed{Event: name, Data: data, End: int64(end)}
}

func failed(f framed) framed { f.Failed = true; return f }

// uncut returns f without the mark that the stream ended inside it.
func uncut(f framed) framed { f.Cut = false; return f }

func badMessage(headers string) string { return awsMessage(headers, "payload") }

var eventStreamCases = []frameCase{
	{"", nil},
	{eventA, []framed{awsEvent("a", `{"n":1}`, len(eventA))}},
	{eventA + eventB, []framed{awsEvent("a", `{"n":1}`, len(eventA)), awsEvent("b", "", len(eventA+eventB))}},
	{bare + eventB, []framed{awsEvent("", "", len(bare)), awsEvent("b", "", len(bare+eventB))}},
	{allAWS, []framed{awsEvent("all", "x", len(allAWS))}},
	{exception, []framed{failed(awsEvent("throttlingException", `{"message":"slow down"}`, len(exception)))}},
	{eventA + brokeDown, []framed{awsEvent("a", `{"n":1}`, len(eventA)), failed(awsEvent("Internal", "it broke", len(eventA+brokeDown)))}},

	// Streams that are cut off.
	{eventA[:1], []framed{residue(eventA[:1], 1)}},
	{eventA + eventB[:11], []framed{awsEvent("a", `{"n":1}`, len(eventA)), residue(eventB[:11], len(eventA)+11)}},
	{eventA + eventB[:20], []framed{awsEvent("a", `{"n":1}`, len(eventA)), residue(eventB[:20], len(eventA)+20)}},

	// A wrong checksum: that message and all later bytes are residue.
	{flip(eventA, 3) + eventB, []framed{uncut(residue(flip(eventA, 3)+eventB, len(eventA+eventB)))}},
	{eventB + flip(eventA, len(eventA)-6) + eventB, []framed{
		awsEvent("b", "", len(eventB)), uncut(residue(flip(eventA, len(eventA)-6)+eventB, len(eventB+eventA+eventB))),
	}},
	{badMessage("\x09short"), []framed{uncut(residue(badMessage("\x09short"), len(badMessage("\x09short"))))}},
}

// TestEventStreamWhy checks the reasons why bytes are residue. Each reason names the failed check.
func TestEventStreamWhy(t *testing.T) {
	for _, test := range []struct{ name, wire, want string }{
		{"the prelude's checksum", flip(eventA, 9), "the checksum of a message's first 8 bytes is"},
		{"a length that was changed", flip(eventA, 3), "the checksum of a message's first 8 bytes is"},
		{"the message's checksum", flip(eventA, len(eventA)-1), fmt.Sprintf("the checksum of a message of %d bytes is", len(eventA))},
		{"the payload", flip(eventA, len(eventA)-6), fmt.Sprintf("the checksum of a message of %d bytes is", len(eventA))},
		{"a header", flip(eventA, 14), fmt.Sprintf("the checksum of a message of %d bytes is", len(eventA))},
		{"less than the least", awsPrelude(15, 0), "a message can't have 15 bytes with 0 bytes of headers"},
		{"headers longer than the message", awsPrelude(40, 25), "a message can't have 40 bytes with 25 bytes of headers"},
		{"headers of 4 GiB", awsPrelude(40, 1<<32-1), "a message can't have"},
		{"more than the most", awsPrelude(maxEventStreamMessage+1, 0), "a message can't have"},
		{"more headers than the most", awsPrelude(maxEventStreamMessage, maxEventStreamHeaders+1), "a message can't have"},
		{"a header of an unknown type", badMessage(awsHeader("a", 10, "")), "the headers of a message of 26 bytes don't match their declared length"},
		{"a header without a type", badMessage("\x01a"), "don't match their declared length"},
		{"a name longer than the headers", badMessage("\x09a"), "don't match their declared length"},
		{"a number cut short", badMessage("\x01a\x05123"), "don't match their declared length"},
		{"a text cut short", badMessage("\x01a\x07\x00\x04abc"), "don't match their declared length"},
		{"a text without its length", badMessage("\x01a\x07\x00"), "don't match their declared length"},
		{"a cut prelude", eventA[:11], "the stream was cut 11 bytes into a message"},
		{"a cut message", eventA[:30], "the stream was cut 30 bytes into a message"},
		{"a cut after whole messages", eventA + eventA[:1], "the stream was cut 1 byte into a message"},
	} {
		var last Frame
		e := new(EventStream)
		e.Write([]byte(test.wire), func(f Frame) { last = f })
		e.Close(func(f Frame) { last = f })
		if last.Kind != FrameResidue || !strings.Contains(last.Why, test.want) || last.End != int64(len(test.wire)) {
			t.Errorf("%s: %+v, want %q", test.name, last, test.want)
		}
	}
}

// TestEventStreamLarge checks that the largest possible message is read, but not before its last byte.
func TestEventStreamLarge(t *testing.T) {
	wire := awsMessage(textHeaders(":event-type", "large"), strings.Repeat("x", 24<<20))
	n := 0
	e := new(EventStream)
	emit := func(f Frame) {
		if n++; string(f.Event) != "large" || len(f.Data) != 24<<20 || f.Truncated {
			t.Errorf("event %q with %d bytes", f.Event, len(f.Data))
		}
	}
	e.Write([]byte(wire[:len(wire)-1]), emit)
	if n != 0 {
		t.Error("it came before its last byte")
	}
	e.Write([]byte(wire[len(wire)-1:]), emit)
	e.Close(emit)
	if n != 1 {
		t.Errorf("%d messages", n)
	}
}

// TestEventStreamAfterClose checks that bytes after a Close also belong to frames.
func TestEventStreamAfterClose(t *testing.T) {
	var got []framed
	emit := func(f Frame) {
		got = append(got, framed{f.Kind, string(f.Event), string(f.Data), f.End, f.Truncated, f.Failed})
	}
	e := new(EventStream)
	e.Write([]byte(eventA[:9]), emit)
	e.Close(emit)
	e.Write([]byte(eventB), emit)
	e.Close(emit)
	want := []framed{residue(eventA[:9], 9), awsEvent("b", "", 9+len(eventB))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestIsEventStream checks that the first bytes of a message distinguish it from text, and that fewer bytes are not
// enough.
func TestIsEventStream(t *testing.T) {
	for n := range len(eventA) {
		could, is := IsEventStream([]byte(eventA[:n]))
		if !could || is != (n >= preludeLen) {
			t.Errorf("%d bytes: could %v, is %v", n, could, is)
		}
	}
	for _, text := range []string{"{", "data: x", "\n", "[", flip(eventA, 9), strings.Repeat("\x00", 12), awsPrelude(15, 0), "\x02"} {
		if could, is := IsEventStream([]byte(text)); could || is {
			t.Errorf("%q: could %v, is %v", text, could, is)
		}
	}
}

func FuzzEventStream(f *testing.F) {
	for _, c := range eventStreamCases {
		f.Add([]byte(c.wire), false)
		f.Add([]byte(c.wire), true)
	}
	f.Fuzz(func(t *testing.T, wire []byte, mend bool) {
		wire = bytes.Clone(wire[:min(len(wire), maxFuzz)])
		if mend {
			mendChecksums(wire)
		}
		checkFramer(t, func() Framer { return new(EventStream) }, wire, never)
	})
}

// mendChecksums corrects the checksums, so that the protected bytes are read.
func mendChecksums(wire []byte) {
	for len(wire) >= preludeLen {
		binary.BigEndian.PutUint32(wire[8:], crc32.ChecksumIEEE(wire[:8]))
		total, _, why := readPrelude(wire)
		if why != "" || total > len(wire) {
			return
		}
		binary.BigEndian.PutUint32(wire[total-trailerLen:], crc32.ChecksumIEEE(wire[:total-trailerLen]))
		wire = wire[total:]
	}
}

// never returns false for every character, because every byte of a binary stream belongs to a frame.
func never(rune) bool { return false }
