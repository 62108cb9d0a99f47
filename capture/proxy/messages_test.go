package proxy

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

const fin = 0x80

// frame is one frame of RFC 6455 §5.2, masked as a client's has to be.
func frame(first byte, payload string, masked bool) []byte {
	b := []byte{first}
	mask := byte(0)
	if masked {
		mask = 0x80
	}
	switch n := len(payload); {
	case n < 126:
		b = append(b, mask|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, mask|127), uint64(n))
	}
	if !masked {
		return append(b, payload...)
	}
	key := binary.BigEndian.AppendUint32(nil, rand.Uint32())
	b = append(b, key...)
	for i := range len(payload) {
		b = append(b, payload[i]^key[i%4])
	}
	return b
}

func TestMessagesBroken(t *testing.T) {
	for wire, broken := range map[string]string{
		string(frame(fin|0x20|opText, "x", false)):                            "extension",
		string(frame(fin|0x3, "x", false)):                                    "opcode 0x3",
		string(frame(fin|0xb, "x", false)):                                    "opcode 0xb",
		string(frame(fin|opPing, strings.Repeat("x", 126), false)):            "control frame",
		string(frame(opClose, "", false)):                                     "control frame",
		string(frame(fin|opContinuation, "x", false)):                         "not begun",
		string(append(frame(opText, "x", false), frame(opText, "", true)...)): "inside another",
		"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff":                            "length",
	} {
		var m messages
		m.write([]byte(wire), func([]byte, uint64) { t.Errorf("%q: a message", wire) })
		if !strings.Contains(m.broken, broken) {
			t.Errorf("%q: broken %q, want %q", wire, m.broken, broken)
		}
	}
}

func TestMessageTooLong(t *testing.T) {
	var m messages
	head := []byte{fin | opBinary, 127, 0, 0, 0, 0, 4, 0, 0, 1} // 64 MiB and a byte
	var got []uint64
	emit := func(message []byte, length uint64) {
		got = append(got, length)
		if (message == nil) != (length > messageBytes) {
			t.Errorf("%d bytes of %d", len(message), length)
		}
	}
	m.write(head, emit)
	block := make([]byte, 1<<20)
	for range 64 {
		m.write(block, emit)
	}
	m.write([]byte{0, fin | opText, 1, 'x'}, emit)
	if fmt.Sprint(got) != fmt.Sprint([]uint64{messageBytes + 1, 1}) {
		t.Error(got)
	}
}

// What is too long to be recorded is missing, as bytes are for which there is no room.
func TestMessageTooLongIsLost(t *testing.T) {
	var got []capture.Record
	x := &exchange{p: &Proxy{options: Options{Record: func(r capture.Record) { got = append(got, r) }}}, number: 7}
	u := newUpgraded(x, nil)
	u.take(&u.upstream, []byte{fin | opBinary, 127, 0, 0, 0, 0, 4, 0, 0, 1}, 5)
	block := make([]byte, 1<<20)
	for range 64 {
		u.take(&u.upstream, block, 6)
	}
	u.take(&u.upstream, []byte{0}, 7)
	if len(got) != 1 || got[0].Lost != messageBytes+1 || got[0].Data != nil || got[0].Exchange != 7 || !strings.HasPrefix(got[0].Note, "gap: ") {
		t.Errorf("%+v", got)
	}
}

// FuzzMessages: however the bytes are cut, the messages and what is left are the same, and no
// message is made up.
func FuzzMessages(f *testing.F) {
	f.Add(append(frame(opText, "ab", true), frame(fin|opContinuation, "cd", true)...), uint64(1))
	f.Add(append(frame(fin|opText, strings.Repeat("x", 300), false), frame(fin|opClose, closing(1000, "x"), false)...), uint64(2))
	f.Add(append(frame(fin|opPing, "p", false), frame(fin|0x50, "x", false)...), uint64(3))
	f.Fuzz(func(t *testing.T, wire []byte, seed uint64) {
		var whole messages
		var want, got []string
		whole.write(wire, func(p []byte, n uint64) { want = append(want, string(p)) })
		random := rand.New(rand.NewPCG(seed, 1))
		var cut messages
		size := 0
		for rest := wire; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 9))
			cut.write(rest[:n], func(p []byte, n uint64) { got = append(got, string(p)); size += len(p) })
			rest = rest[n:]
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || cut.broken != whole.broken || cut.closed != whole.closed ||
			cut.code != whole.code || cut.reason != whole.reason || !bytes.Equal(cut.message, whole.message) {
			t.Fatalf("%q and %q, of %+v and %+v", got, want, cut, whole)
		}
		if size > len(wire) {
			t.Fatalf("%d bytes of messages in %d", size, len(wire))
		}
	})
}

// That a direction cannot be read is said once; the bytes after it are counted.
func TestBrokenIsToldOnce(t *testing.T) {
	x, recs := begun(t)
	u := newUpgraded(x, nil)
	for range 3 {
		u.take(&u.upstream, frame(fin|0x40|opText, "zzz", false), 0)
	}
	u.finish(capture.Record{})
	if n := strings.Count(notes(*recs), "cannot be read"); n != 1 {
		t.Errorf("told %d times: %s", n, describe(*recs))
	}
	lost := int64(0)
	for _, r := range *recs {
		lost += r.Lost
	}
	if lost != 15 {
		t.Errorf("%d bytes lost, want 15", lost)
	}
}

// Who closed first tells the time of each Close, however late it is looked at.
func TestCloserIsTheFirst(t *testing.T) {
	bye := frame(fin|opClose, closing(4000, "bye"), false)
	for _, first := range []capture.Party{capture.Client, capture.Provider} {
		x, _ := begun(t)
		u := newUpgraded(x, nil)
		at := map[capture.Party]time.Duration{first: 1}
		for _, d := range []*direction{&u.upstream, &u.client, &u.upstream} {
			u.take(d, bye, cmp.Or(at[d.party], 2))
		}
		if last := u.finish(capture.Record{}); last.By != first {
			t.Errorf("%s closed first, and it was %s", first, last.By)
		}
	}
}

// Once the client has left, how the upstream's connection ends is no reason any more.
func TestClientLeftFirst(t *testing.T) {
	for _, left := range []bool{true, false} {
		x, _ := begun(t)
		u := newUpgraded(x, ends{})
		if left {
			if err := u.CloseWrite(); err != errClientGone {
				t.Error(err)
			}
		}
		u.Read(make([]byte, 1))
		if last := u.finish(capture.Record{By: capture.Client}); (last.By == capture.Client) != left {
			t.Errorf("left %v: ended by %q, %s", left, last.By, last.Why)
		}
	}
}

// ends is an upstream's connection that has ended.
type ends struct{ io.WriteCloser }

func (ends) Read([]byte) (int, error) { return 0, io.EOF }
