package capture

import (
	"bytes"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"toolscope/stream/json"
)

// This file reads the most frequent lines of a capture, as EncodeRecord writes them: time, exchange, side
// and bytes, in that order and with nothing between. The result is that of decodeRecord, or none.

// quickRecord decodes such a line. For any other, valid or not, ok is false. The data is in room, which
// has the capacity of the line.
func quickRecord(line, room []byte) (r Record, ok bool) {
	t, x, p := linePrefix(line)
	if x < 1 || x > maxExchange {
		return r, false
	}
	r.Exchange, r.At = x, NoTime
	if t != nil {
		if r.At, ok = quickMillis(t); !ok {
			return r, false
		}
	}
	if rest, is := bytes.CutPrefix(p, []byte(`,"side":"request"`)); is {
		r.Side, p = Request, rest
	}
	switch {
	case bytes.HasPrefix(p, []byte(`,"d":"`)):
		r.Data, p, ok = quickText(room, p[len(`,"d":"`):])
	case bytes.HasPrefix(p, []byte(`,"b":"`)):
		r.Data, p, ok = quickBase64(room, p[len(`,"b":"`):])
	}
	return r, ok && isEnding(p) && utf8.Valid(line)
}

// linePrefix returns the time and the exchange of a line that begins with them; otherwise x is 0. rest is
// another key, or the line's end.
func linePrefix(line []byte) (t []byte, x int, rest []byte) {
	p, first := bytes.CutPrefix(line, []byte(`{"x":`))
	if !first {
		comma := bytes.IndexByte(line, ',')
		if comma < 0 || !bytes.HasPrefix(line, []byte(`{"t":`)) || !bytes.HasPrefix(line[comma:], []byte(`,"x":`)) {
			return nil, 0, nil
		}
		t, p = line[len(`{"t":`):comma], line[comma+len(`,"x":`):]
	}
	n := 0
	for ; n < min(10, len(p)) && isDigit(p[n]); n++ {
		x = 10*x + int(p[n]-'0')
	}
	if n == 0 || n == len(p) || p[0] == '0' || p[n] != ',' && p[n] != '}' {
		return nil, 0, nil
	}
	return t, x, p[n:]
}

// isEnding reports whether p ends a record's line after its bytes.
func isEnding(p []byte) bool {
	p = trimBlanks(p)
	return len(p) == 1 && p[0] == '}' || sumStart(p) == 0 && json.PlainRun(p[len(`,"c":"`):]) == 8
}

// quickMillis parses a number with at most twelve digits and three decimals.
func quickMillis(t []byte) (at time.Duration, ok bool) {
	whole, places, point := bytes.Cut(t, []byte("."))
	if len(whole) == 0 || len(whole) > 12 || whole[0] == '0' && len(whole) > 1 || point && len(places) == 0 || len(places) > 3 {
		return 0, false
	}
	for _, c := range whole {
		if !isDigit(c) {
			return 0, false
		}
		at = 10*at + time.Duration(c-'0')*time.Millisecond
	}
	unit := time.Millisecond
	for _, c := range places {
		if !isDigit(c) {
			return 0, false
		}
		unit /= 10
		at += time.Duration(c-'0') * unit
	}
	return at, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// quickText unquotes a string up to its closing quote. It fails for surrogates.
func quickText(room, p []byte) (data, rest []byte, ok bool) {
	for data = room; ; {
		n := json.PlainRun(p)
		data = append(data, p[:n]...)
		if p = p[n:]; len(p) < 2 {
			return nil, nil, false
		}
		if p[0] == '"' {
			if len(data) == 0 {
				data = nil
			}
			return data, p[1:], true
		}
		if p[0] != '\\' {
			return nil, nil, false
		}
		switch p[1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			data, p = append(data, json.UnescapeByte(p[1])), p[2:]
		case 'u':
			r, ok := json.UnicodeEscape(p)
			if !ok || !utf8.ValidRune(r) {
				return nil, nil, false
			}
			data, p = utf8.AppendRune(data, r), p[6:]
		default:
			return nil, nil, false
		}
	}
}

// quickBase64 decodes a base64 string up to its closing quote.
func quickBase64(room, p []byte) (data, rest []byte, ok bool) {
	n := json.PlainRun(p)
	if n == len(p) || p[n] != '"' {
		return nil, nil, false
	}
	data, err := base64.StdEncoding.AppendDecode(room, p[:n])
	return data, p[n+1:], err == nil && len(data) > 0
}
