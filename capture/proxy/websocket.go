package proxy

import (
	"encoding/binary"
	"fmt"
)

// messageBytes is the longest message of a WebSocket that is recorded.
const messageBytes = 64 << 20

// The opcodes of RFC 6455 §5.2.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xA
)

// messages makes messages of one direction of a WebSocket (RFC 6455 §5): its frames, unmasked and
// put together again. Control frames are not messages; a Close is remembered. What is no frame ends
// the reading, not the traffic.
type messages struct {
	header  []byte // of a frame, as far as it has come
	inFrame bool   // the header is complete
	opcode  byte
	final   bool
	mask    [4]byte
	masked  bool
	at      uint64 // of the payload so far
	size    uint64

	message []byte // of the unfinished message
	open    bool   // there is one
	length  uint64 // of it, also where it is too long to be kept
	control []byte // of the unfinished control frame

	closed bool // a Close came
	code   int  // its status code, 1005 without one (§7.1.5)
	reason string
	broken string // why reading has stopped
	unread int64  // bytes since then, and those of the message that was open
}

// write takes bytes as they came and emits each message that they complete. One that was too long
// to keep is nil.
func (m *messages) write(p []byte, emit func(message []byte, length uint64)) {
	if m.broken != "" {
		m.unread += int64(len(p))
	}
	for m.broken == "" {
		if !m.inFrame {
			var ok bool
			if p, ok = m.takeHeader(p); m.broken != "" {
				m.unread = int64(m.length) + int64(len(m.header)+len(p))
			}
			if !ok {
				return
			}
		}
		n := min(uint64(len(p)), m.size-m.at)
		m.take(p[:n])
		if p = p[n:]; m.at < m.size {
			return
		}
		m.inFrame, m.header = false, m.header[:0]
		m.endFrame(emit)
	}
}

// takeHeader reads up to the end of a frame's header and reports whether it got there. It returns
// what is behind.
func (m *messages) takeHeader(p []byte) ([]byte, bool) {
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
	m.check()
	return p, m.broken == ""
}

// headerSize is how long the header is, as far as the bytes of it tell.
func (m *messages) headerSize() int {
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

func (m *messages) check() {
	control := m.opcode >= opClose
	switch {
	case m.header[0]&0x70 != 0:
		m.broken = "a frame uses an extension, though none was agreed on"
	case m.opcode > opBinary && !control || m.opcode > opPong:
		m.broken = fmt.Sprintf("a frame has the unknown opcode %#x", m.opcode)
	case control && (m.size > 125 || !m.final):
		m.broken = "a control frame is too long or in pieces"
	case m.size>>63 != 0:
		m.broken = "a frame's length is out of bounds"
	case m.opcode == opContinuation && !m.open:
		m.broken = "a frame continues a message that was not begun"
	case (m.opcode == opText || m.opcode == opBinary) && m.open:
		m.broken = "a message begins inside another"
	}
}

// take adds bytes of the payload to what they belong to.
func (m *messages) take(p []byte) {
	to := &m.message
	if m.opcode >= opClose {
		to = &m.control
	} else {
		m.open = true
		if m.length += uint64(len(p)); m.length > messageBytes {
			m.message, to = nil, nil
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

func (m *messages) endFrame(emit func(message []byte, length uint64)) {
	switch {
	case m.opcode >= opClose:
		if m.opcode == opClose {
			m.takeClose()
		}
		m.control = m.control[:0]
	case m.final:
		message, length := m.message, m.length
		if length == 0 {
			message = []byte{}
		}
		m.message, m.open, m.length = nil, false, 0
		emit(message, length)
	}
}

func (m *messages) takeClose() {
	m.closed, m.code, m.reason = true, 1005, ""
	if len(m.control) >= 2 {
		m.code, m.reason = int(binary.BigEndian.Uint16(m.control)), string(m.control[2:])
	}
}
