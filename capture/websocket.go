package capture

import (
	"crypto/sha1" // #nosec G505 -- the handshake requires SHA-1; it protects no secret
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
)

// This file reads and writes the messages of WebSockets (RFC 6455), for proxies and servers. It doesn't open
// connections.

// MaxWebSocketMessage is the length of the longest message that is kept.
const MaxWebSocketMessage = 64 << 20

// The opcodes of RFC 6455 §5.2.
const (
	opContinuation = 0x0
	OpText         = 0x1
	OpBinary       = 0x2
	OpClose        = 0x8
	OpPing         = 0x9
	OpPong         = 0xA
)

// WebSocketProtocol is the value of the Upgrade field of a request and its response.
const WebSocketProtocol = "websocket"

// IsWebSocket reports whether a request asks for a WebSocket.
func IsWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), WebSocketProtocol)
}

// WebSocketAcceptKey returns the server's response to the key of a handshake (§4.2.2).
func WebSocketAcceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // #nosec G401
	return base64.StdEncoding.EncodeToString(sum[:])
}

// AppendWebSocketFrame appends a frame that is a complete message, or a control frame, as a server sends it.
func AppendWebSocketFrame(b []byte, opcode byte, payload []byte) []byte {
	b = append(b, 0x80|opcode)
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// WebSocketReader reads the messages of one direction of a WebSocket (§5): it unmasks its frames and joins them.
// Control frames are not messages; a Close is stored. An invalid frame ends the reading, not the traffic.
// The zero value is ready to use.
type WebSocketReader struct {
	// Control, if set, is called for each control frame. It must not keep payload.
	Control func(opcode byte, payload []byte)

	header  []byte // header of a frame, as far as it has arrived
	inFrame bool   // the header is complete
	opcode  byte
	final   bool
	mask    [4]byte
	masked  bool
	at      uint64 // number of bytes of the payload so far
	size    uint64

	control []byte // payload of the unfinished control frame

	came int64 // number of all bytes
	// Start and End are the offsets of the latest frame, counted over all bytes. When a message is emitted, its last
	// frame is the latest frame.
	Start, End int64

	Message []byte // the unfinished message
	Open    bool   // there is an unfinished message
	Length  uint64 // length of that message, even if it is too long to be kept
	Kind    byte   // OpText or OpBinary: kind of that message, or of the emitted one

	Closed bool // a Close has arrived
	Code   int  // its status code; 1005 if it has none (§7.1.5)
	Reason string
	Broken string // the reason why reading has stopped
	Unread int64  // number of bytes since reading stopped, including those of the message that was open
}

// Write reads the next bytes and emits each message that is then complete. A message that is too long to be kept is
// nil.
func (m *WebSocketReader) Write(p []byte, emit func(message []byte, length uint64)) {
	m.came += int64(len(p))
	if m.Broken != "" {
		m.Unread += int64(len(p))
	}
	for m.Broken == "" {
		if !m.inFrame {
			var ok bool
			if p, ok = m.takeHeader(p); m.Broken != "" {
				m.Unread = int64(m.Length) + int64(len(m.header)+len(p))
			}
			if !ok {
				return
			}
			m.Start = m.came - int64(len(p)+len(m.header))
		}
		n := min(uint64(len(p)), m.size-m.at)
		m.addPayload(p[:n])
		if p = p[n:]; m.at < m.size {
			return
		}
		m.inFrame, m.header = false, m.header[:0]
		m.End = m.came - int64(len(p))
		m.endFrame(emit)
	}
}

// takeHeader reads up to the end of a frame's header and reports whether it is complete. It returns the
// remaining bytes.
func (m *WebSocketReader) takeHeader(p []byte) ([]byte, bool) {
	for len(m.header) < m.headerSize() {
		n := min(m.headerSize()-len(m.header), len(p))
		if n == 0 {
			return p, false
		}
		m.header = append(m.header, p[:n]...)
		p = p[n:]
	}
	h := m.header
	m.inFrame, m.at = true, 0
	m.final, m.opcode = h[0]&0x80 != 0, h[0]&0x0f
	m.masked = h[1]&0x80 != 0
	switch size := h[1] & 0x7f; size {
	case 126:
		m.size = uint64(binary.BigEndian.Uint16(h[2:]))
	case 127:
		m.size = binary.BigEndian.Uint64(h[2:])
	default:
		m.size = uint64(size)
	}
	if m.masked {
		copy(m.mask[:], h[len(h)-4:])
	}
	control := m.opcode >= OpClose
	switch {
	case m.header[0]&0x70 != 0:
		m.Broken = "a frame uses an extension that was not negotiated"
	case m.opcode > OpBinary && !control || m.opcode > OpPong:
		m.Broken = fmt.Sprintf("a frame has the unknown opcode %#x", m.opcode)
	case control && (m.size > 125 || !m.final):
		m.Broken = "a control frame is too long or fragmented"
	case m.size>>63 != 0:
		m.Broken = "a frame's length is out of bounds"
	case m.opcode == opContinuation && !m.Open:
		m.Broken = "a frame continues a message that has not begun"
	case (m.opcode == OpText || m.opcode == OpBinary) && m.Open:
		m.Broken = "a message begins inside another"
	}
	return p, m.Broken == ""
}

// headerSize returns the length of the header, as far as its bytes show it.
func (m *WebSocketReader) headerSize() int {
	if len(m.header) < 2 {
		return 2
	}
	n := 2
	switch m.header[1] & 0x7f {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if m.header[1]&0x80 != 0 {
		n += 4
	}
	return n
}

// addPayload adds payload to the message or the control frame.
func (m *WebSocketReader) addPayload(p []byte) {
	to := &m.Message
	if m.opcode >= OpClose {
		to = &m.control
	} else {
		if m.Open = true; m.opcode != opContinuation {
			m.Kind = m.opcode
		}
		if m.Length += uint64(len(p)); m.Length > MaxWebSocketMessage {
			m.Message, to = nil, nil
		}
	}
	if to != nil {
		from := len(*to)
		*to = append(*to, p...)
		if m.masked {
			for i, grown := 0, (*to)[from:]; i < len(grown); i++ {
				grown[i] ^= m.mask[(m.at+uint64(i))%4]
			}
		}
	}
	m.at += uint64(len(p))
}

func (m *WebSocketReader) endFrame(emit func(message []byte, length uint64)) {
	switch {
	case m.opcode >= OpClose:
		if m.opcode == OpClose {
			m.Closed, m.Code, m.Reason = true, 1005, ""
			if len(m.control) >= 2 {
				m.Code, m.Reason = int(binary.BigEndian.Uint16(m.control)), string(m.control[2:])
			}
		}
		if m.Control != nil {
			m.Control(m.opcode, m.control)
		}
		m.control = m.control[:0]
	case m.final:
		message, length := m.Message, m.Length
		if length == 0 {
			message = []byte{}
		}
		m.Message, m.Open, m.Length = nil, false, 0
		emit(message, length)
	}
}
