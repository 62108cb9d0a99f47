package formats

import (
	"bytes"
	"iter"
	"strconv"
)

// tnetstring is a value as mitmproxy writes it: its length in decimal, a colon, so many bytes, and a
// tag. What is inside a list or a dictionary is read when it is asked for.
//
//	, bytes   ; text   # integer   ^ float   ! boolean   ~ null   ] list   } dictionary
type tnetstring struct {
	tag  byte // 0 is no value
	data []byte
}

// maxLengthDigits is how many digits a length may have.
const maxLengthDigits = 12

// netstringSize is how long the value is that p begins with, and where its data begins. It is 0 as
// long as p does not tell, and -1 where no value begins.
func netstringSize(p []byte) (size, data int) {
	digits := 0
	for digits < len(p) && digits <= maxLengthDigits && '0' <= p[digits] && p[digits] <= '9' {
		digits++
	}
	switch {
	case digits > maxLengthDigits:
		return -1, 0
	case digits == len(p):
		return 0, 0
	case digits == 0 || p[digits] != ':':
		return -1, 0
	}
	n, _ := strconv.Atoi(string(p[:digits]))
	return digits + 1 + n + 1, digits + 1
}

// nextNetstring reads the value that p begins with; ok is false if it is not whole.
func nextNetstring(p []byte) (v tnetstring, rest []byte, ok bool) {
	size, data := netstringSize(p)
	if size <= 0 || size > len(p) {
		return tnetstring{}, nil, false
	}
	return tnetstring{p[size-1], p[data : size-1 : size-1]}, p[size:], true
}

// eachElement are those of a list; anything else has none.
func (v tnetstring) eachElement() iter.Seq[tnetstring] {
	return func(yield func(tnetstring) bool) {
		if v.tag != ']' && v.tag != '}' {
			return
		}
		for p := v.data; len(p) > 0; {
			e, rest, ok := nextNetstring(p)
			if !ok || !yield(e) {
				return
			}
			p = rest
		}
	}
}

// firstElements is the elements of a list, at most so many.
func (v tnetstring) firstElements(most int) (all []tnetstring) {
	for e := range v.eachElement() {
		if all = append(all, e); len(all) == most {
			break
		}
	}
	return all
}

// get is what a dictionary has at a key.
func (v tnetstring) get(key string) tnetstring {
	if v.tag != '}' {
		return tnetstring{}
	}
	isKey, match := true, false
	for e := range v.eachElement() {
		if !isKey && match {
			return e
		}
		match = isKey && string(e.data) == key
		isKey = !isKey
	}
	return tnetstring{}
}

// asText is text or bytes.
func (v tnetstring) asText() string {
	if v.tag != ';' && v.tag != ',' {
		return ""
	}
	return string(v.data)
}

func (v tnetstring) asNumber() float64 {
	if v.tag != '#' && v.tag != '^' {
		return 0
	}
	f, _ := strconv.ParseFloat(string(v.data), 64)
	return f
}

func (v tnetstring) isTrue() bool { return v.tag == '!' && bytes.Equal(v.data, []byte("true")) }
