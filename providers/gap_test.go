package providers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolscope/stream"
)

// holed returns an inspector that has read a fixture, but missed the bytes in the given holes.
func (f fixture) holed(holes ...[2]int) *Inspector {
	in := f.asked()
	in.Write(stream.Record{Data: f.wire[:holes[0][0]]})
	for i, hole := range holes {
		next := len(f.wire)
		if i+1 < len(holes) {
			next = holes[i+1][0]
		}
		in.Write(stream.Record{Lost: int64(hole[1] - hole[0]), Data: f.wire[hole[1]:next]})
	}
	in.Write(stream.Record{End: true})
	in.Close()
	return in
}

// TestGaps checks that all reported facts are true or marked as unknown, whichever bytes of a stream are missed.
func TestGaps(t *testing.T) {
	rarely(t)
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.checkGaps(t)
		})
	}
}

// TestCorpusGaps does the same checks as TestGaps for recorded streams.
func TestCorpusGaps(t *testing.T) {
	corpus(t)
	rarely(t)
	eachCapture(t, func(t *testing.T, wire []byte) { fixture{wire: wire}.checkGaps(t) })
}

// checkGaps compares the reports about a stream with missing bytes with the truth about the complete stream.
func (f fixture) checkGaps(t *testing.T) {
	whole := f.inspect(f.wire)
	truth := truthOf(whole)
	random := rand.New(rand.NewPCG(uint64(len(f.wire)), 9))
	var before [2]int
	for _, hole := range f.holes(whole, random) {
		if wrong := truth.contradicts(f.holed(hole)); wrong != "" {
			t.Fatalf("without the bytes %d to %d of %d: %s", hole[0], hole[1], len(f.wire), wrong)
		}
		if before[1] > 0 && before[1] <= hole[0] {
			if wrong := truth.contradicts(f.holed(before, hole)); wrong != "" {
				t.Fatalf("without the bytes in %v and %v of %d: %s", before, hole, len(f.wire), wrong)
			}
		}
		before = hole
	}
}

// holes returns ranges of bytes to leave out: complete frames, ranges between any two frames if there are not too
// many, and random ranges.
func (f fixture) holes(whole *Inspector, random *rand.Rand) (list [][2]int) {
	w := &whole.Exchange(0).Response
	ends := []int{0}
	for n := range int32(w.Frames()) {
		_, end := w.FrameSpan(n)
		ends = append(ends, int(end))
	}
	for i, first := range ends {
		for _, end := range ends[i+1:] {
			if len(ends) < 12 || random.IntN(len(ends)*len(ends)) < 100 {
				list = append(list, [2]int{first, end})
			}
		}
	}
	for range inLong(20, 60) {
		first := random.IntN(len(f.wire))
		list = append(list, [2]int{first, first + 1 + random.IntN(min(len(f.wire)-first, 1+random.IntN(600)))})
	}
	return list
}

// truth is the set of true facts about a stream.
type truth struct {
	calls     map[string]bool
	overruled map[string]bool // the call was final, but a later fact overruled this; the later fact may be among the missing bytes
	codes     map[string]bool
	turns     int
	ends      map[string]bool
}

func truthOf(in *Inspector) *truth {
	known := &truth{calls: map[string]bool{}, overruled: map[string]bool{}, codes: map[string]bool{stream.RecordGap.Code: true}, ends: map[string]bool{}}
	for _, turn := range in.Session().Turns {
		known.turns++
		known.ends[turn.Phase().String()] = true
		for _, found := range turn.Findings {
			known.codes[found.Code] = true
		}
		for _, c := range turn.Calls {
			known.calls[account(c)] = true
			known.overrule(c)
			for _, found := range c.Findings {
				known.codes[found.Code] = true
			}
		}
	}
	return known
}

// overrule records the states that a call may have if the overruling fact is missing. This fact is a refusal, or
// arguments that arrived although the call was final.
func (known *truth) overrule(c *stream.Call) {
	if c.Phase() > stream.PhaseEnded {
		known.overruled[identity(c, c.Args())] = true
	}
	for _, found := range c.Findings {
		if found.Code == "CALL_SPLIT" || strings.Contains(found.Message, " arrived after the finish reason") {
			known.overruleSeals(c)
		}
		if found.Code == stream.ProtocolViolation.Code && strings.HasPrefix(found.Message, "argument bytes arrived after") {
			end := 0
			for n := range c.Deltas() {
				if int(c.DeltaEvent(n)) < found.Event {
					_, end = c.DeltaSpan(n)
				}
			}
			known.overruled[identity(c, c.Args()[:end])] = true
		}
	}
}

// overruleSeals records each state of a call that became final several times.
func (known *truth) overruleSeals(c *stream.Call) {
	known.overruled[identity(c, nil)] = true
	for n := range c.Deltas() {
		_, end := c.DeltaSpan(n)
		known.overruled[identity(c, c.Args()[:end])] = true
	}
	for _, code := range []string{stream.FinishContradicts.Code, "ARGS_EMPTY", "SCHEMA_INVALID"} {
		known.codes[code] = true
	}
}

func identity(c *stream.Call, args []byte) string { return fmt.Sprintf("%s %s %q", c.ID, c.Name, args) }

func account(c *stream.Call) string {
	return fmt.Sprintf("%s %s %q %s", c.ID, c.Name, c.Args(), c.Status())
}

// contradicts returns the false facts in a session that has missing bytes.
func (known *truth) contradicts(in *Inspector) string {
	turns := in.Session().Turns
	if len(turns) == 0 {
		return "no turn"
	}
	gapped := false
	for _, turn := range turns {
		gapped = gapped || turn.HasGap()
		if !turn.Closed() {
			return fmt.Sprintf("turn %d never ends", turn.Number)
		}
		if p := turn.Phase(); p != stream.TurnIsOpen && !known.ends[p.String()] {
			return fmt.Sprintf("turn %d is %s", turn.Number, p)
		}
		for _, c := range turn.Calls {
			if c.Status() != stream.Unseen && !known.calls[account(c)] && !known.overruled[identity(c, c.Args())] {
				return "no such call: " + account(c)
			}
			if c.MayGrow() {
				return "it still arrives: " + account(c)
			}
			for _, found := range c.Findings {
				if !known.codes[found.Code] {
					return fmt.Sprintf("%s: %s %s", account(c), found.Code, found.Message)
				}
			}
		}
		for _, found := range turn.Findings {
			if !known.codes[found.Code] {
				return fmt.Sprintf("turn %d: %s %s", turn.Number, found.Code, found.Message)
			}
		}
	}
	if !gapped {
		return "that bytes are missing is not said"
	}
	return ""
}

// FuzzGaps checks that any bytes with any gap result in a session that doesn't depend on how the remaining bytes are
// cut into chunks. No remaining byte may be lost.
func FuzzGaps(f *testing.F) {
	for _, fixture := range fixtures(f) {
		f.Add(fixture.wire, uint16(len(fixture.wire)/3), uint16(40), uint64(1))
	}
	f.Fuzz(func(t *testing.T, wire []byte, at, size uint16, seed uint64) {
		first := min(int(at), len(wire))
		end := min(first+int(size), len(wire))
		left := append(append([]byte(nil), wire[:first]...), wire[end:]...)
		read := func(most int) *Inspector {
			r := rand.New(rand.NewPCG(seed, 0))
			in := new(Inspector)
			lost := int64(end-first) + 1
			for i, part := range [][]byte{wire[:first], wire[end:]} {
				if i == 1 {
					in.Write(stream.Record{Lost: lost})
				}
				for len(part) > 0 {
					n := min(1+r.IntN(most), len(part))
					in.Write(stream.Record{Data: part[:n]})
					part = part[n:]
				}
			}
			in.Close()
			return in
		}
		whole, cut := read(1<<30), read(9)
		if digest(cut) != digest(whole) {
			t.Errorf("cut into chunks:\n%s\nwant:\n%s", dump(cut), dump(whole))
		}
		checkKept(t, cut, left)
	})
}
