package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestChunkDepth checks that AI Studio's chunks are framed in all forms that a body can have.
func TestChunkDepth(t *testing.T) {
	chunks := []string{
		`[[[[[[null,"hi"]],"model"]]],null,[1,2,3]]`,
		`[[[[[[null,"hi"]],"model"],1]],null,[1,2,3]]`,
		`[[[[[[,"model"]],"model"],1]],,[1,2,3]]`,
		`[[[[[[,,,,,,,,,,["f",[[]],"c1"]]],"model"],1]]]`,
		`[[[[[],"model"],1]],null,[1,2,3]]`,
		`[[[[ null , "model" ], 1 ] ] , null, [1,2,3]]`,
		`[[[[],2]],null,[1,2,3]]`,
		`[[[null,2]],null,[1,2,3]]`,
		`[[[,2]],,[1,2,3]]`,
		`[[],null,[1,2,3]]`,
		`[null,null,[1,2,3],null,null,null,null,"id"]`,
		`[,,[1,2,3]]`,
		`[null,[4]]`,
		`[7,"The caller does not have permission"]`,
	}
	for _, c := range chunks {
		for _, form := range []string{"%s", "[%s]", "[[%s]]", "[%s,%s]", "[[%s,\n%s]]", ")]}'\n[[%s,%s]]"} {
			wire := []byte(strings.ReplaceAll(form, "%s", c))
			if form == "%s" && strings.HasPrefix(c, `[[[[[[,"model"`) {
				continue // read as a content without parts, in the outer arrays
			}
			in := inspect(wire)
			x := in.Exchange(0)
			if x.Protocol.Name != "aistudio" || strings.Contains(eventLines(in), "unknown") || strings.Contains(eventLines(in), "heartbeat") {
				t.Errorf("%s: %s, %s\n%s", wire, x.Framing, x.Protocol.Name, eventLines(in))
			}
			checkKept(t, in, wire)
			cuttings(wire, len(wire), 3, func(parts ...[]byte) bool {
				if got := inspect(parts...); digest(got) != digest(in) {
					t.Errorf("%s, cut into %d: %s", wire, len(parts), got.Exchange(0).Framing)
				}
				return !t.Failed()
			})
		}
	}
}

// TestSlowHead checks that the time to read a long beginning without known framing doesn't grow faster than its
// length.
func TestSlowHead(t *testing.T) {
	long := int(inLong(1<<18, 1<<20))
	for _, test := range []struct{ head, rest, framing string }{
		{strings.Repeat(" \n", long/2), "data: x\n\n", "SSE"},
		{"[" + strings.Repeat(" ", long), "{}]", "JSON array"},
		{"\ufeff{" + strings.Repeat(" ", long), "}\n", "NDJSON"},
		{strings.Repeat("[", long), "1", "nested arrays"},
	} {
		in := new(Inspector)
		for i := range len(test.head) {
			in.Write(stream.Record{Data: []byte(test.head[i : i+1])})
		}
		in.Write(stream.Record{Data: []byte(test.rest), End: true})
		if x := in.Exchange(0); x.Framing != test.framing || x.Response.Size() != int64(len(test.head)+len(test.rest)) {
			t.Errorf("%.10q…: %s", test.head, x.Framing)
		}
	}
}
