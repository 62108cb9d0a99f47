package formats

import "bytes"

// linePrefixShape is what stands before a payload in a text, with a for each run of letters and digits and one
// space for each run of spaces. Lines of one logger have it in common, those without a payload too.
type linePrefixShape struct {
	form string
	on   *payloadPath
}

// formOf is the shape of a prefix.
func formOf(prefix []byte) string {
	out := make([]byte, 0, len(prefix))
	for i := 0; i < len(prefix); {
		n, c := shapeRun(prefix[i:])
		out = append(out, c)
		i += n
	}
	return string(out)
}

// shapeRun is how many bytes p begins with that are one byte of a shape, and which.
func shapeRun(p []byte) (n int, c byte) {
	switch {
	case isWordByte(p[0]):
		for n = 1; n < len(p) && isWordByte(p[n]); n++ {
		}
		return n, 'a'
	case p[0] == ' ' || p[0] == '\t':
		return spacesLen(p), ' '
	}
	return 1, p[0]
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

// restAfter is what stands in a line behind a prefix of the shape. Spaces at its end may be missing,
// where nothing follows.
func (s linePrefixShape) restAfter(line []byte) (rest []byte, is bool) {
	for i := 0; i < len(s.form); i++ {
		if len(line) == 0 {
			return nil, i == len(s.form)-1 && s.form[i] == ' '
		}
		n, c := shapeRun(line)
		if c != s.form[i] {
			return nil, false
		}
		line = line[n:]
	}
	return line, true
}

// keepPrefix remembers the shape of what stood before the last payload.
func (p *unwrapper) keepPrefix(around uint64, prefix []byte) {
	if len(p.payloads) == 0 {
		return
	}
	on := p.payloads[len(p.payloads)-1].on
	all := p.shapes[around]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].on != on {
			continue
		}
		if rest, is := all[i].restAfter(prefix); is && len(rest) == 0 {
			return
		}
	}
	if len(all) == maxPrefixShapes {
		all = append(all[:0], all[1:]...)
	}
	p.shapes[around] = append(all, linePrefixShape{formOf(prefix), on})
}

// addRest gives what stands in a line where payloads stand in others, though it is none: an empty line
// of an event stream, a comment, the second half of a payload that was cut.
func (p *unwrapper) addRest(line []byte) bool {
	body := bytes.TrimRight(line, "\r\n")
	for _, s := range p.shapes[p.hash()] {
		rest, is := s.restAfter(body)
		if !is {
			continue
		}
		prefix := body[:len(body)-len(rest)]
		p.searchAfterPrefix(prefix, nil, func() bool { return p.addRestOf(s.on, rest) })
		return true
	}
	return false
}

// addRestOf gives a text that stands where payloads have stood.
func (p *unwrapper) addRestOf(on *payloadPath, t []byte) bool {
	f := payload{text: t, on: on, scope: p.scope, stamp: p.stamp}
	f.is, f.block, f.number = aRest, -1, -1
	f.keys = append([]correlationKey(nil), p.keys...)
	f.before, f.after = p.surround(nil, nil)
	p.payloads = append(p.payloads, f)
	return true
}
