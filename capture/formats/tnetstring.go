package formats

import (
	"bytes"
	"iter"
	"strconv"
)

// netstring is a value as mitmproxy writes it: its length in decimal, a colon, so many bytes, and a
// tag. What is inside a list or a dictionary is read when it is asked for.
//
//	, bytes   ; text   # integer   ^ float   ! boolean   ~ null   ] list   } dictionary
type netstring struct {
	tag  byte // 0 is no value
	data []byte
}

// lengthDigits is how many digits a length may have.
const lengthDigits = 12

// netstringSize is how long the value is that p begins with, and where its data begins. It is 0 as
// long as p does not tell, and -1 where no value begins.
func netstringSize(p []byte) (size, data int) {
	digits := 0
	for digits < len(p) && digits <= lengthDigits && '0' <= p[digits] && p[digits] <= '9' {
		digits++
	}
	switch {
	case digits > lengthDigits:
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
func nextNetstring(p []byte) (v netstring, rest []byte, ok bool) {
	size, data := netstringSize(p)
	if size <= 0 || size > len(p) {
		return netstring{}, nil, false
	}
	return netstring{p[size-1], p[data : size-1 : size-1]}, p[size:], true
}

// elements are those of a list; anything else has none.
func (v netstring) elements() iter.Seq[netstring] {
	return func(yield func(netstring) bool) {
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

// list is the elements of a list, at most so many.
func (v netstring) list(most int) (all []netstring) {
	for e := range v.elements() {
		if all = append(all, e); len(all) == most {
			break
		}
	}
	return all
}

// get is what a dictionary has at a key.
func (v netstring) get(key string) netstring {
	if v.tag != '}' {
		return netstring{}
	}
	isKey, match := true, false
	for e := range v.elements() {
		if !isKey && match {
			return e
		}
		match = isKey && string(e.data) == key
		isKey = !isKey
	}
	return netstring{}
}

// text is text or bytes.
func (v netstring) text() string {
	if v.tag != ';' && v.tag != ',' {
		return ""
	}
	return string(v.data)
}

func (v netstring) number() float64 {
	if v.tag != '#' && v.tag != '^' {
		return 0
	}
	f, _ := strconv.ParseFloat(string(v.data), 64)
	return f
}

func (v netstring) isTrue() bool { return v.tag == '!' && bytes.Equal(v.data, []byte("true")) }
