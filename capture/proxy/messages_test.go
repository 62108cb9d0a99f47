package proxy

import (
	"cmp"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

const fin, continuation = 0x80, 0x0

// frame returns one frame of RFC 6455 §5.2. A client's frames must be masked.
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

// TestMessageTooLongIsLost checks that a message that is too long to be recorded counts as lost bytes.
func TestMessageTooLongIsLost(t *testing.T) {
	var got []capture.Record
	x := &exchange{p: &Proxy{options: Options{Record: func(r capture.Record) { got = append(got, r) }}}, number: 7}
	u := newUpgraded(x, nil)
	u.recordMessages(&u.upstream, []byte{fin | capture.OpBinary, 127, 0, 0, 0, 0, 4, 0, 0, 1}, 5)
	block := make([]byte, 1<<20)
	for range 64 {
		u.recordMessages(&u.upstream, block, 6)
	}
	u.recordMessages(&u.upstream, []byte{0}, 7)
	if len(got) != 1 || got[0].Lost != capture.MaxWebSocketMessage+1 || got[0].Data != nil || got[0].Exchange != 7 || !strings.HasPrefix(got[0].Note, "gap: ") {
		t.Errorf("%+v", got)
	}
}

// TestBrokenIsReportedOnce checks that an unreadable direction is reported once, and that the bytes after it are
// counted.
func TestBrokenIsReportedOnce(t *testing.T) {
	x, recs := begun(t)
	u := newUpgraded(x, nil)
	for range 3 {
		u.recordMessages(&u.upstream, frame(fin|0x40|capture.OpText, "zzz", false), 0)
	}
	u.finish(capture.Record{})
	if n := strings.Count(notes(*recs), "can't read them"); n != 1 {
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

// TestCloserIsTheFirst checks that the party that sent its Close first counts as the closer, even if its Close is
// read later.
func TestCloserIsTheFirst(t *testing.T) {
	bye := frame(fin|capture.OpClose, closing(4000, "bye"), false)
	for _, first := range []capture.Party{capture.Client, capture.Provider} {
		x, _ := begun(t)
		u := newUpgraded(x, nil)
		at := map[capture.Party]time.Duration{first: 1}
		for _, d := range []*direction{&u.upstream, &u.client, &u.upstream} {
			u.recordMessages(d, bye, cmp.Or(at[d.party], 2))
		}
		if last := u.finish(capture.Record{}); last.By != first {
			t.Errorf("%s closed first, and it was %s", first, last.By)
		}
	}
}

// TestClientLeftFirst checks that the end of the upstream's connection is not recorded as the reason if the client
// had left before.
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

// ends is a connection to an upstream that has ended.
type ends struct{ io.WriteCloser }

func (ends) Read([]byte) (int, error) { return 0, io.EOF }
