package providers

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"

	"toolscope/stream"
)

var seed = maphash.MakeSeed()

// digest returns a hash of the complete result for an exchange: every event with its frame, every turn and
// every call. It is a cheap substitute for dump.
func digest(in *Inspector) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	number := func(numbers ...int) {
		for _, n := range numbers {
			for ; n > 0x7f; n >>= 7 {
				h.WriteByte(byte(n) | 0x80)
			}
			h.WriteByte(byte(n) & 0x7f)
		}
	}
	text := func(s []byte) { number(len(s)); h.Write(s) }
	findings := func(list []stream.Finding) {
		number(len(list))
		for _, f := range list {
			if f.InText != nil {
				maphash.WriteComparable(&h, *f.InText)
				f.InText = nil
			}
			maphash.WriteComparable(&h, f)
		}
	}
	for n := range in.Timeline.Len() {
		e := in.View().Event(n)
		number(int(e.Kind), int(e.Code), int(e.Frame), int(e.Turn)+1, int(e.Slot)+1, len(e.Text))
		h.WriteString(e.Text)
		if o, ok := e.What.(*stream.Opening); ok {
			opening := *o
			if opening.Request = nil; o.Request != nil {
				maphash.WriteComparable(&h, *o.Request)
			}
			maphash.WriteComparable(&h, opening)
		} else if f, ok := e.What.(*stream.Finding); ok {
			findings([]stream.Finding{*f})
		} else if f, ok := e.What.(*stream.FailureInfo); ok {
			failure := *f
			if failure.Refusal = nil; f.Refusal != nil {
				fmt.Fprintf(&h, "%+v", *f.Refusal)
			}
			maphash.WriteComparable(&h, failure)
		} else if e.What != nil {
			maphash.WriteComparable(&h, reflect.ValueOf(e.What).Elem().Interface())
		}
	}
	findings(in.Session().Findings)
	for _, t := range in.Session().Turns {
		number(int(t.Phase()), len(t.Calls))
		h.WriteString(t.Finish)
		text(t.Text)
		findings(t.Findings)
		for _, c := range t.Calls {
			number(int(c.Phase()), int(c.Status()), c.Deltas(), c.Lexer().Tokens().Len())
			text(c.Args())
			findings(c.Findings)
		}
	}
	return h.Sum64()
}

// dump returns the same data as digest, in readable form.
func dump(in *Inspector) string {
	return eventLines(in) + state(in.Session())
}

// state returns the state of the turns and calls as text, without event numbers.
func state(session *stream.Session) string {
	var s strings.Builder
	for _, t := range session.Turns {
		fmt.Fprintf(&s, "%d %q %q %q %q %q %+v\n", t.Number, t.ID, t.Model, t.Text, t.Thinking, t.Failure, t.Usage)
	}
	return turnLines(session) + s.String() + callLines(session)
}

// effort returns the number of bytes that may be read for one kind of cutting of a wire. This is enough to cut up to
// 256 bytes at every place (32 KiB with TOOLSCOPE_LONG=1), and longer wires at fewer places.
func effort() int {
	if os.Getenv("TOOLSCOPE_LONG") != "" && !testing.Short() && !raceEnabled {
		return 32768 * 32768
	}
	return 256 * 256
}

// cuttings yields divisions of wire into chunks: byte by byte, in two at every place, and at random places. If the
// wire is too long for the effort, it is cut at its beginning, which shows the framing and the protocol, and at some
// places in the rest.
func cuttings(wire []byte, effort, random int, yield func(chunks ...[]byte) bool) {
	if !yield(slices.Collect(slices.Chunk(wire, 1))...) || len(wire) == 0 {
		return
	}
	r := rand.New(rand.NewPCG(1, uint64(len(wire))))
	places := effort / len(wire)
	for i := 1; i < len(wire); i++ {
		if places < len(wire) && i > places/4 && r.IntN(len(wire)) >= places {
			continue
		}
		if !yield(wire[:i], wire[i:]) {
			return
		}
	}
	for range min(random, places/4) {
		var chunks [][]byte
		for longest, rest := 1+r.IntN(len(wire)), wire; len(rest) > 0; {
			n := min(1+r.IntN(longest), len(rest))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		if !yield(chunks...) {
			return
		}
	}
}

// rarely makes garbage collection rare while the test runs, because the test makes many inspectors that are
// used only briefly.
func rarely(t *testing.T) {
	old := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// checkCuttings fails if any division of the wire changes the result.
func checkCuttings(t *testing.T, f fixture, wire []byte, random int) {
	t.Helper()
	whole := f.inspect(wire)
	want := digest(whole)
	f.sets = whole.sets
	cuttings(wire, effort(), random, func(chunks ...[]byte) bool {
		got := f.inspect(chunks...)
		if digest(got) == want {
			return true
		}
		sizes := make([]int, len(chunks))
		for i, c := range chunks {
			sizes[i] = len(c)
		}
		t.Errorf("cut into chunks of %v bytes:\n%s\nwant:\n%s", sizes, dump(got), dump(whole))
		return false
	})
}

// checkKept fails unless the wire contains exactly the received bytes, and its frames cover them. Only white
// space and brackets may be left over.
func checkKept(t *testing.T, in *Inspector, wire []byte) {
	t.Helper()
	w := &in.Exchange(0).Response
	if got := w.Bytes(0, w.Size()); !bytes.Equal(got, wire) {
		t.Errorf("the wire holds %d bytes of %d, or others", len(got), len(wire))
	}
	at := int64(0)
	for n := range int32(w.Frames()) {
		start, end := w.FrameSpan(n)
		if start != at || end <= start || end > w.Size() {
			t.Fatalf("frame %d is [%d,%d), the one before ended at %d of %d", n, start, end, at, w.Size())
		}
		at = end
	}
	punctuation := "\ufeff"
	if strings.Contains(in.Exchange(0).Framing, "array") {
		punctuation += ")'[],}" // bytes of the array itself, which may end with } instead of ], and the prefix of nested arrays
	}
	says := func(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune(punctuation, r) }
	if rest := wire[at:]; bytes.ContainsFunc(rest, says) {
		t.Errorf("no frame has the last bytes: %q", rest)
	}
}
