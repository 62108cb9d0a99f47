package stats

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"testing"
	"time"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/present"
)

// exampleTurns returns three turns with different flags, and with zero to two calls and findings.
func exampleTurns() []Turn {
	var list []Turn
	for n := range 3 {
		t := Turn{
			Values: [numKeys]string{"m", "host", "openai", "client", "2026-03-01", ""}, RequestedModel: "r", Run: localRun + "abc", At: time.Unix(int64(1e9+n), 5).UTC(),
			Failed: n == 1, Refused: n == 1, Stopped: n == 2, Background: n == 2, Phase: "complete", Operation: "chat", ErrorType: "429",
			FirstToken: time.Second, Duration: stream.NoTime, Gaps: present.Gaps{Places: 2, Bytes: 7}, Cost: price.Figure{USD: 0.1, Source: price.FromTable, Approximate: true, AsOf: "2026-01-02"},
			Usage: [numTokens]stream.Count{{N: 1, Reported: true}, {N: 2}, {N: 3, Reported: true}, {N: 4}},
		}
		for c := range n {
			t.Calls = append(t.Calls, Call{Number: c + 1, Tool: "read", State: stream.Malformed, Bad: true, Result: stream.ResultFailed, Runs: []time.Duration{time.Duration(c + 1), 2}[:c+1]})
			t.Findings = append(t.Findings, Finding{Call: c + 1, Code: "ARGS_BROKEN", Severity: stream.Error, By: stream.Provider})
		}
		list = append(list, t)
	}
	return list
}

// TestRows checks that turns don't change when they are encoded and decoded. A file must be refused if it was cut at
// any byte, if any byte of it differs, or if it has another key.
func TestRows(t *testing.T) {
	turns := exampleTurns()
	data := EncodeTurns("key", turns)
	if got, ok := DecodeTurns(data, "key"); !ok || !reflect.DeepEqual(got, turns) {
		t.Errorf("%v\n%+v\nwant %+v", ok, got, turns)
	}
	if got, ok := DecodeTurns(EncodeTurns("", nil), ""); !ok || len(got) != 0 {
		t.Errorf("no turns: %v, %v", got, ok)
	}
	if _, ok := DecodeTurns(data, "other"); ok {
		t.Error("another key is accepted")
	}
	for i := range data {
		if _, ok := DecodeTurns(data[:i], "key"); ok {
			t.Errorf("a file of %d of %d bytes is accepted", i, len(data))
		}
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if _, ok := DecodeTurns(changed, "key"); ok {
			t.Errorf("a changed byte %d is accepted", i)
		}
	}
}

// TestForgedRows checks that no content with a correct checksum causes a panic.
func TestForgedRows(t *testing.T) {
	data := EncodeTurns("key", exampleTurns())
	accepted := 0
	for i := rowsHead; i < len(data); i++ {
		for _, value := range []byte{0, 1, 0x7f, 0xff} {
			forged := bytes.Clone(data)
			forged[i] = value
			sum := sha256.Sum256(forged[rowsHead:])
			copy(forged[rowsHead-len(sum):], sum[:])
			if turns, ok := DecodeTurns(forged, "key"); ok {
				s := Set{}
				s.StartSource()
				s.AddSourceTurns(turns)
				s.Groups([]Key{Model, Tool})
				accepted++
			}
		}
	}
	if accepted == 0 {
		t.Error("no file was accepted, so the test checks nothing")
	}
}

// TestInvalidRows checks that values that are cut off or out of range are invalid.
func TestInvalidRows(t *testing.T) {
	var text string
	var number int64
	var small uint8
	for _, c := range []struct {
		name string
		data []byte
		read func(*rowCodec)
	}{
		{"a name that is longer than the rest", []byte{0, 2}, func(c *rowCodec) { c.codeName(&text) }},
		{"an unknown name", []byte{2}, func(c *rowCodec) { c.codeName(&text) }},
		{"a number that is cut off", []byte{0x80}, func(c *rowCodec) { c.codeNumber(&number) }},
		{"300 as a byte", []byte{0xd8, 4}, func(c *rowCodec) { codeInteger(c, &small) }},
		{"an error before a valid call", []byte{0, 0, 0, 0, 0, 0, 0}, func(c *rowCodec) {
			c.failed = true
			c.codeCall(new(Call))
		}},
	} {
		codec := rowCodec{data: c.data, decoding: true}
		if c.read(&codec); !codec.failed {
			t.Errorf("%s is valid", c.name)
		}
	}
}

// BenchmarkDecodeTurns reads 10,000 turns.
func BenchmarkDecodeTurns(b *testing.B) {
	var turns []Turn
	for n := range 10_000 {
		turns = append(turns, exampleTurns()[n%3])
	}
	data := EncodeTurns("key", turns)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if got, ok := DecodeTurns(data, "key"); !ok || len(got) != len(turns) {
			b.Fatal("not read")
		}
	}
}
