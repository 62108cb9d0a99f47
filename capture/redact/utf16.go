package redact

// utf16Redactor redacts a body in UTF-16 with a byte order mark. The low bytes of its characters are searched;
// replacements keep the length.
type utf16Redactor struct {
	inner *textRedactor // the characters in one byte each: 0x80 for all beyond ASCII
	low   int64         // of each two bytes the one with the low bits
	buf   []byte        // bytes that are not passed on
	base  int64         // place of buf

	decided int64 // characters that are decided
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

// decidedTo writes the decided characters over the received bytes.
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
