package layout

import (
	"testing"

	"toolscope/ui/display"
)

// longest limits the number of input bytes that are used, because the checks after every piece are slow.
const longest = 500

// FuzzJSON checks the invariants of the package for any text, divided at any byte.
func FuzzJSON(f *testing.F) {
	for i, text := range texts {
		f.Add([]byte(text), uint8(1+i*7), uint8(i), uint8(i*3), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, text []byte, width, cut, step uint8, ascii bool) {
		text = text[:min(len(text), longest)]
		draw := display.Drawer{ASCII: ascii}
		want := jsonBed(int(width), draw).feed(t, string(text))
		same(t, "in pieces", jsonBed(int(width), draw).feed(t, chop(text, cut, step)...), want)
		want.add("", true)
		if want.check(t, 0); want.len() != len(text) {
			t.Fatalf("%q is whole, but only %d bytes are laid out", text, want.len())
		}
	})
}

// FuzzText checks the invariants for a text with a mark before every piece.
func FuzzText(f *testing.F) {
	for i, text := range texts {
		f.Add([]byte(text), uint8(1+i*7), uint8(i), uint8(i*3), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, text []byte, width, cut, step uint8, ascii bool) {
		text = text[:min(len(text), longest)]
		draw := display.Drawer{ASCII: ascii}
		live := textBed(int(width), draw).feed(t, chop(text, cut, step)...)
		want := textBed(int(width), draw)
		want.text, want.plain.marks = text, live.plain.marks
		want.plain.Extend(text, false)
		same(t, "in pieces", live, want)
		live.plain.Extend(text, true)
		if live.check(t, 0); live.len() != len(text) {
			t.Fatalf("%q is whole, but only %d bytes are laid out", text, live.len())
		}
	})
}

// FuzzProse checks the invariants for a text that is broken between words.
func FuzzProse(f *testing.F) {
	for i, text := range texts {
		f.Add([]byte(text), uint8(1+i*7), uint8(i), uint8(i*3), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, text []byte, width, cut, step uint8, ascii bool) {
		text = text[:min(len(text), longest)]
		draw := display.Drawer{ASCII: ascii}
		want := proseBed(int(width), draw).feed(t, string(text))
		same(t, "in pieces", proseBed(int(width), draw).feed(t, chop(text, cut, step)...), want)
	})
}

// chop cuts a first piece from text, and divides the rest into pieces of equal size. The last piece may be shorter.
func chop(text []byte, first, step uint8) (all []string) {
	n := min(int(first), len(text))
	all = append(all, string(text[:n]))
	for text = text[n:]; len(text) > 0; text = text[n:] {
		n = min(max(int(step%16), 1), len(text))
		all = append(all, string(text[:n]))
	}
	return all
}
