package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// awsRedactor redacts an AWS event stream. Its binary messages contain JSON, or JSON of another protocol in base64.
// The framing is described at https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html. A
// message is passed on only when it is complete, because a client can't read it earlier. Replacements have the length
// of the replaced text. If a message's checksum was right before, it is updated.
type awsRedactor struct {
	inner *textRedactor // the JSON of all messages, one message in each line
	buf   []byte        // bytes that have not been passed on
	base  int64         // offset of the first byte of buf in the input
	read  int64         // offset after the last complete message
	ready int64         // offset after the last decided message
	list  []decidedPart
	plain bool // the body is not an event stream, so everything is text
}

// decidedPart is a part of the input that is decided as a whole.
type decidedPart struct {
	from, to int64 // offsets of the part in the input
	text     span  // offsets of the searched text in the input
	encoded  bool  // text is base64
	until    int64 // offset of the end of the text in the inner stream
	checked  bool  // the checksum was right
	line     bool  // a line break was added after the text
}

const (
	preludeSize     = 12
	maxMessageBytes = 16 << 20
)

func newAWSRedactor(r *Redactor) *awsRedactor {
	m := &awsRedactor{inner: newTextRedactor(r)}
	m.inner.fixed = true
	return m
}

func (m *awsRedactor) writtenTo() int64 { return m.base + int64(len(m.buf)) }
func (m *awsRedactor) decideAll()       { m.inner.decideAll() }

func (m *awsRedactor) write(p []byte) {
	m.buf = append(m.buf, p...)
	for {
		size := m.nextSize()
		if size == 0 {
			return
		}
		m.addMessage(size)
	}
}

// nextSize returns the size of the next message, or 0 if the message is not complete. If the bytes are not messages,
// it returns the number of all remaining bytes.
func (m *awsRedactor) nextSize() int64 {
	p := m.buf[m.read-m.base:]
	switch {
	case m.plain:
		return int64(len(p))
	case len(p) < preludeSize:
		return 0
	}
	size := binary.BigEndian.Uint32(p)
	if size < preludeSize+4 || size > maxMessageBytes || crc32.ChecksumIEEE(p[:8]) != binary.BigEndian.Uint32(p[8:]) ||
		binary.BigEndian.Uint32(p[4:]) > size-preludeSize-4 {
		m.plain = true
		return int64(len(p))
	}
	if len(p) < int(size) {
		return 0
	}
	return int64(size)
}

// addMessage passes the text of the next message to the inner stream.
func (m *awsRedactor) addMessage(size int64) {
	at := m.read - m.base
	p := m.buf[at : at+size]
	next := decidedPart{from: m.read, to: m.read + size, text: span{m.read, m.read + size}}
	if !m.plain {
		headers := int64(binary.BigEndian.Uint32(p[4:]))
		next.text = span{m.read + preludeSize + headers, m.read + size - 4}
		next.checked = crc32.ChecksumIEEE(p[:size-4]) == binary.BigEndian.Uint32(p[size-4:])
	}
	text := m.bytesAt(next.text)
	if begin := []byte(`{"bytes":"`); bytes.HasPrefix(text, begin) && !m.plain {
		coded, _, _ := bytes.Cut(text[len(begin):], []byte(`"`))
		if plain, err := base64.StdEncoding.DecodeString(string(coded)); err == nil {
			next.text.from += int64(len(begin))
			next.text.to = next.text.from + int64(len(coded))
			next.encoded, text = true, plain
		}
	}
	m.inner.write(text)
	if next.line = !m.plain; next.line {
		m.inner.write([]byte("\n"))
	}
	next.until = m.inner.pos
	m.list = append(m.list, next)
	m.read += size
}

func (m *awsRedactor) bytesAt(s span) []byte { return m.buf[s.from-m.base : s.to-m.base] }

func (m *awsRedactor) finishBody() {
	if m.read < m.writtenTo() {
		m.plain = true
		m.addMessage(m.writtenTo() - m.read)
	}
	m.inner.finishBody()
}

func (m *awsRedactor) decidedTo() int64 {
	limit := m.inner.decidedTo()
	for len(m.list) > 0 && m.list[0].until <= limit {
		next := m.list[0]
		m.list = m.list[1:]
		m.replaceText(next, m.inner.takeOutput(next.until))
		m.ready = next.to
	}
	return m.ready
}

// replaceText writes a redacted text back to its place.
func (m *awsRedactor) replaceText(next decidedPart, text []byte) {
	whole := m.bytesAt(span{next.from, next.to})
	if next.line {
		text = text[:len(text)-1]
	}
	if next.encoded {
		text = base64.StdEncoding.AppendEncode(nil, text)
	}
	copy(m.bytesAt(next.text), text)
	if next.checked {
		body := whole[:len(whole)-4]
		binary.BigEndian.PutUint32(whole[len(body):], crc32.ChecksumIEEE(body))
	}
}

func (m *awsRedactor) takeOutput(to int64) []byte {
	out := bytes.Clone(m.buf[:to-m.base])
	m.buf, m.base = m.buf[to-m.base:], to
	return out
}

// markedRedactor redacts a body that begins with the byte order mark of UTF-16. Text with 8 bits per character may
// follow the mark or the first characters, so the body is searched in both ways.
type markedRedactor struct {
	wide  *utf16Redactor
	bytes *textRedactor
}

func newMarkedRedactor(r *Redactor, bigEndian bool) *markedRedactor {
	m := &markedRedactor{newUTF16Redactor(r, bigEndian), newTextRedactor(r)}
	m.bytes.fixed = true
	return m
}

func (m *markedRedactor) writtenTo() int64 { return m.wide.writtenTo() }

func (m *markedRedactor) write(p []byte) {
	m.wide.write(p)
	m.searchBytes()
}

func (m *markedRedactor) decideAll() {
	m.wide.decideAll()
	m.searchBytes()
	m.bytes.decideAll()
}

func (m *markedRedactor) finishBody() {
	m.wide.finishBody()
	m.searchBytes()
	m.bytes.finishBody()
}

// searchBytes passes the bytes on that are decided as UTF-16.
func (m *markedRedactor) searchBytes() { m.bytes.write(m.wide.takeOutput(m.wide.decidedTo())) }

func (m *markedRedactor) decidedTo() int64 {
	m.searchBytes()
	return m.bytes.decidedTo()
}

func (m *markedRedactor) takeOutput(to int64) []byte { return m.bytes.takeOutput(to) }

// utf16Redactor redacts a body in UTF-16 with a byte order mark. It searches the low bytes of the characters.
// Replacements have the length of the replaced text.
type utf16Redactor struct {
	inner *textRedactor // the characters, one byte each: 0x80 stands for every character beyond ASCII
	low   int64         // index of the low byte in each pair of bytes
	buf   []byte        // bytes that have not been passed on
	base  int64         // offset of the first byte of buf in the input

	decided int64 // number of characters that are decided
	ended   bool
}

func newUTF16Redactor(r *Redactor, bigEndian bool) *utf16Redactor {
	u := &utf16Redactor{inner: newTextRedactor(r)}
	u.inner.fixed = true
	if bigEndian {
		u.low = 1
	}
	return u
}

func (u *utf16Redactor) writtenTo() int64 { return u.base + int64(len(u.buf)) }
func (u *utf16Redactor) decideAll()       { u.inner.decideAll() }

func (u *utf16Redactor) finishBody() {
	u.inner.finishBody()
	u.ended = true
}

func (u *utf16Redactor) write(p []byte) {
	u.buf = append(u.buf, p...)
	var text []byte
	for at := 2*u.inner.pos - u.base; at+1 < int64(len(u.buf)); at += 2 {
		c := u.buf[at+u.low]
		if u.buf[at+1-u.low] != 0 || c >= 0x80 {
			c = 0x80
		}
		text = append(text, c)
	}
	u.inner.write(text)
}

// decidedTo writes the decided characters over the received bytes, and returns the place after them.
func (u *utf16Redactor) decidedTo() int64 {
	from, to := u.decided, u.inner.decidedTo()
	for i, c := range u.inner.takeOutput(to) {
		if c < 0x80 {
			u.buf[2*(from+int64(i))-u.base+u.low] = c
		}
	}
	if u.decided = to; u.ended {
		return u.writtenTo()
	}
	return 2 * to
}

func (u *utf16Redactor) takeOutput(to int64) []byte {
	n := to - u.base
	out := u.buf[:n:n]
	u.buf, u.base = u.buf[n:], to
	return out
}
