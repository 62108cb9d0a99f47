package capture

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestFlipAnyByte checks that a capture in which any one byte was changed can be opened. Every record before and
// after the damaged line is read, and the damage is reported with its position.
func TestFlipAnyByte(t *testing.T) {
	file := written(t, session...)
	lines := strings.SplitAfter(file, "\n")
	for _, mask := range []byte{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff} {
		for at := range len(file) {
			damaged := []byte(file)
			damaged[at] ^= mask
			line := strings.Count(file[:at], "\n")
			if file[at] == '\n' && line < len(lines)-2 {
				checkDamage(t, damaged, line, line+1, strings.LastIndex(file[:at], "\n")+1)
				continue
			}
			checkDamage(t, damaged, line, line, strings.LastIndex(file[:at], "\n")+1)
		}
	}
}

// checkDamage reads a capture of the session in which the lines from first to last, counted from 0, are
// damaged.
func checkDamage(t *testing.T, damaged []byte, first, last, offset int) {
	t.Helper()
	recs := readBack(t, string(damaged))
	before, after := max(0, first-1), len(session)-last
	if len(recs) < before || !reflect.DeepEqual(recs[:before], session[:before]) {
		t.Fatalf("records before line %d lost: %q", first+1, damaged)
	}
	place := fmt.Sprintf("damaged line %d at byte %d (", first+1, offset)
	named, behind := false, 0
	for _, r := range recs[before:] {
		named = named || strings.HasPrefix(r.Note, place)
		for _, s := range session[last:] {
			s.Head, r.Head = nil, nil
			if reflect.DeepEqual(r, s) {
				behind++
				break
			}
		}
	}
	if !named || behind < after {
		t.Fatalf("line %d: named %v, %d of %d records behind it: %q\n%+v", first+1, named, behind, after, damaged, recs)
	}
}

// TestWithoutChecksums checks that a capture without checksums is read.
func TestWithoutChecksums(t *testing.T) {
	file := `{"toolscope":1}` + "\n" + `{"x":1,"d":"a"}` + "\n" + `{"x":1,"d":"b","end":"eof"}` + "\n"
	expect(t, outline(readBack(t, file)), `1 "ab" eof`)
	for at := range len(file) {
		damaged := []byte(file)
		damaged[at] ^= 0xff
		readBack(t, string(damaged))
	}
}

// TestChecksumMissing checks that, once a line has a checksum, a line without one counts as damaged: it may have been
// changed.
func TestChecksumMissing(t *testing.T) {
	file := written(t, Record{Exchange: 1, Data: []byte("a")}, Record{Exchange: 1, Data: []byte("b")}, Record{Exchange: 1, End: EndEOF})
	lines := strings.SplitAfter(file, "\n")
	bare := `{"x":1,"d":"c"}` + "\n"
	flipped := strings.Replace(lines[0], "test", "text", 1)
	for name, c := range map[string]struct{ file, note string }{
		"behind a sound header":   {lines[0] + bare + lines[3], "damaged line 2 at byte 76 (the checksum is missing): " + bare},
		"behind a sound line":     {`{"toolscope":1}` + "\n" + lines[1] + bare + lines[3], "damaged line 3 at byte 53 (the checksum is missing): " + bare},
		"behind a damaged header": {flipped + bare + lines[3], "damaged line 2 at byte 76 (the checksum is missing): " + bare},
		"behind a damaged line": {
			`{"toolscope":1}` + "\n" + strings.Replace(lines[1], "a", "x", 1) + bare + lines[3], "damaged line 3 at byte 53 (the checksum is missing): " + bare,
		},
		"of the header":       {`{"toolscope":1}` + "\n" + lines[1] + lines[3], "damaged line 1 at byte 0 (the checksum is missing)"},
		"of a second header":  {file + `{"toolscope":1}` + "\n" + lines[1] + lines[3], fmt.Sprintf("damaged line 5 at byte %d (the checksum is missing)", len(file))},
		"of nothing":          {file, ""},
		"wrong, and no break": {file[:len(file)-4] + `0"}`, fmt.Sprintf("damaged line 4 at byte %d (the checksum is wrong): %s", len(file)-len(lines[3]), lines[3][:len(lines[3])-4]+`0"}`)},
	} {
		var notes []string
		for _, r := range readBack(t, c.file) {
			if r.Note != "" {
				notes = append(notes, r.Note)
			}
		}
		if got := strings.Join(notes, "\n"); !strings.HasSuffix(got, strings.TrimSuffix(c.note, "\n")) || c.note == "" && got != "" {
			t.Errorf("%s: %s\nwant %s", name, got, c.note)
		}
	}
}

// TestReadingBreaksOff checks that, if reading a capture breaks off, the open exchanges end with the reason. If no
// exchange is open, the reason becomes a note.
func TestReadingBreaksOff(t *testing.T) {
	header := `{"toolscope":1}` + "\n"
	ended := `{"x":1,"d":"a","end":"eof"}` + "\n"
	for file, want := range map[string]string{
		header:                                   "",
		header + ended:                           `1 "a" eof note:broke`,
		header + ended + `{"x":2,"d":"b"}`:       "1 \"a\" eof\n2 \"b\" cut:broke",
		header + `{"x":1,"head":{"status":200}}`: `1 "" cut:broke`,
		header + `{"x":1,"note":"of nothing"}`:   `1 "" note:of nothing note:broke`,
	} {
		in := newInputReader("", &exchangeNumbers{})
		recs, err := in.write([]byte(file), NoTime)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, outline(append(recs, in.close(EndCut, "broke", NoTime)...)), want)
	}
}

// TestHarmlessChanges checks that harmless changes by other programs are not damage: other line breaks, spaces at the
// ends of lines, and blank lines. Real damage is still detected.
func TestHarmlessChanges(t *testing.T) {
	file := written(t, session...)
	for _, lineBreak := range []string{"\r\n", " \t\n", "\n\n"} {
		if got := readBack(t, strings.ReplaceAll(file, "\n", lineBreak)); !reflect.DeepEqual(got, session) {
			t.Errorf("%q: %+v", lineBreak, got)
		}
		damaged := strings.ReplaceAll(strings.Replace(file, "reset by peer", "Reset by peer", 1), "\n", lineBreak)
		if got := fmt.Sprintf("%+v", readBack(t, damaged)); !strings.Contains(got, "the checksum is wrong") {
			t.Errorf("%q: damage is not seen: %s", lineBreak, got)
		}
	}
}

// TestOddLines checks that a first line that isn't a header counts as damaged, and that a negative loss is ignored.
func TestOddLines(t *testing.T) {
	recs := readBack(t, "\n"+`"toolscope":1}`+"\n"+`{"x":1,"lost":-5,"d":"a"}`+"\n")
	if !strings.HasPrefix(recs[0].Note, "damaged line 1 at byte 0 (") || !strings.HasPrefix(recs[1].Note, "damaged line 2 at byte 1 (") || recs[2].Lost != 0 {
		t.Errorf("%+v", recs)
	}
}

func TestTornLastLine(t *testing.T) {
	file := written(t, session...)
	last := strings.LastIndex(file[:len(file)-1], "\n") + 1
	recs := readBack(t, file[:len(file)-9])
	want := fmt.Sprintf("damaged line %d at byte %d (the file ends inside the line: ", len(session)+1, last)
	for _, r := range recs {
		if strings.HasPrefix(r.Note, want) {
			return
		}
	}
	t.Errorf("no note %s… in %+v", want, recs)
}

func BenchmarkEncodeRecord(b *testing.B) {
	r := Record{Exchange: 1, At: 1, Data: []byte(strings.Repeat("data: {\"x\":1}\n\n", 20))}
	b.SetBytes(int64(len(r.Data)))
	for b.Loop() {
		if _, err := EncodeRecord(r); err != nil {
			b.Fatal(err)
		}
	}
}
