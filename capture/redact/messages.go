package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// awsRedactor redacts an event stream of AWS: binary messages that contain JSON, or base64 of the JSON of
// another protocol (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html has the
// framing). A message is passed on when it is complete, because a client can read it only then.
// Replacements keep the length. The checksum of a message is corrected if it was right before.
type awsRedactor struct {
	inner *textRedactor // the JSON of all messages, one a line
	buf   []byte        // bytes that are not passed on
	base  int64         // place of buf
	read  int64         // place after the last complete message
	ready int64         // place after the last decided one
	list  []decidedPart
	plain bool // it is not an event stream: everything is text
}

// decidedPart is a part of the input that is decided at once.
type decidedPart struct {
	from, to int64 // in the input
	text     span  // the searched part of it
	encoded  bool  // text is base64
	until    int64 // place in the inner stream
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

// nextSize returns the size of the next message if it is complete, and otherwise 0.
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

// addMessage passes the text of the next bytes to the inner stream.
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
