package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const fin = 0x80

// frame returns a frame of RFC 6455 §5.2, masked if it is a client's.
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
		string(frame(fin|0x20|OpText, "x", false)):                            "extension",
		string(frame(fin|0x3, "x", false)):                                    "opcode 0x3",
		string(frame(fin|0xb, "x", false)):                                    "opcode 0xb",
		string(frame(fin|OpPing, strings.Repeat("x", 126), false)):            "control frame",
		string(frame(OpClose, "", false)):                                     "control frame",
		string(frame(fin|opContinuation, "x", false)):                         "not begun",
		string(append(frame(OpText, "x", false), frame(OpText, "", true)...)): "inside another",
		"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff":                            "length",
	} {
		var m WebSocketReader
		m.Write([]byte(wire), func([]byte, uint64) { t.Errorf("%q: a message", wire) })
		if !strings.Contains(m.Broken, broken) {
			t.Errorf("%q: broken %q, want %q", wire, m.Broken, broken)
		}
	}
}

func TestMessageTooLong(t *testing.T) {
	var m WebSocketReader
	head := []byte{fin | OpBinary, 127, 0, 0, 0, 0, 4, 0, 0, 1} // 64 MiB and a byte
	var got []uint64
	emit := func(message []byte, length uint64) {
		got = append(got, length)
		if (message == nil) != (length > MaxWebSocketMessage) {
			t.Errorf("%d bytes of %d", len(message), length)
		}
	}
	m.Write(head, emit)
	block := make([]byte, 1<<20)
	for range 64 {
		m.Write(block, emit)
	}
	m.Write([]byte{0, fin | OpText, 1, 'x'}, emit)
	if fmt.Sprint(got) != fmt.Sprint([]uint64{MaxWebSocketMessage + 1, 1}) {
		t.Error(got)
	}
}

// FuzzMessages checks that the messages and the remaining bytes are the same however the bytes are split, and
// that no message is invented.
func FuzzMessages(f *testing.F) {
	f.Add(append(frame(OpText, "ab", true), frame(fin|opContinuation, "cd", true)...), uint64(1))
	f.Add(append(frame(fin|OpText, strings.Repeat("x", 300), false), frame(fin|OpClose, "\x03\xe8x", false)...), uint64(2))
	f.Add(append(frame(fin|OpPing, "p", false), frame(fin|0x50, "x", false)...), uint64(3))
	f.Fuzz(func(t *testing.T, wire []byte, seed uint64) {
		var whole WebSocketReader
		var want, got []string
		whole.Write(wire, func(p []byte, n uint64) { want = append(want, string(p)) })
		random := rand.New(rand.NewPCG(seed, 1))
		var cut WebSocketReader
		size := 0
		for rest := wire; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 9))
			cut.Write(rest[:n], func(p []byte, n uint64) { got = append(got, string(p)); size += len(p) })
			rest = rest[n:]
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || cut.Broken != whole.Broken || cut.Closed != whole.Closed ||
			cut.Code != whole.Code || cut.Reason != whole.Reason || !bytes.Equal(cut.Message, whole.Message) {
			t.Fatalf("%q and %q, of %+v and %+v", got, want, cut, whole)
		}
		if size > len(wire) {
			t.Fatalf("%d bytes of messages in %d", size, len(wire))
		}
	})
}

// TestAppendFrame checks that written frames can be read again, whatever their length is.
func TestAppendFrame(t *testing.T) {
	for _, n := range []int{0, 125, 126, 1<<16 - 1, 1 << 16} {
		payload := strings.Repeat("x", n)
		var m WebSocketReader
		var got []string
		m.Write(AppendWebSocketFrame(nil, OpText, []byte(payload)), func(p []byte, _ uint64) { got = append(got, string(p)) })
		if len(got) != 1 || got[0] != payload || m.Kind != OpText || m.Broken != "" {
			t.Errorf("%d bytes: %d messages, %q", n, len(got), m.Broken)
		}
	}
}

// TestAccept checks the handshake of RFC 6455 §1.3.
func TestAccept(t *testing.T) {
	if got := WebSocketAcceptKey("dGhlIHNhbXBsZSBub25jZQ=="); got != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Error(got)
	}
}
