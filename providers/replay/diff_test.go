package replay_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/replay"
)

// applied applies the edits to the original. The result ok is false if the edits are out of order or out of range.
func applied(original []byte, edits []replay.Edit) (made []byte, ok bool) {
	at := 0
	for i, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(original) || e.End == e.Start && len(e.To) == 0 || i > 0 && e.Start == at {
			return nil, false
		}
		made = append(append(made, original[at:e.Start]...), e.To...)
		at = e.End
	}
	return append(made, original[at:]...), true
}

// FuzzDiff checks that the edits turn the original into the sent text, and that there are edits only if something
// changed.
func FuzzDiff(f *testing.F) {
	for _, pair := range [][2]string{
		{"", ""}, {"", "{}"}, {`{"a":1`, "{}"}, {`{"a": 1.0, "b":2}`, `{"b":2,"a":1}`}, {`{"a":1}{"b":2}`, `{"a":1}`}, {`{"a":"x`, `{"a":"x"}`},
		{`{"a":1`, `{"INVALID_JSON":"{\"a\":1"}`}, {"\xff{", "{}"}, {"[1,1,1,1]", "[1,1]"}, {`{"a":1}`, `"{\"a\":1}"`},
		{strings.Repeat("[", 100_000), "{}"}, {`{"a":[` + strings.Repeat(`1,`, 3000) + `1]}`, `{"b":[` + strings.Repeat(`2,`, 3000) + `1]}`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, original, sent []byte) {
		edits := replay.Diff(original, sent)
		made, ok := applied(original, edits)
		if !ok || !bytes.Equal(made, sent) || (len(edits) == 0) != bytes.Equal(original, sent) {
			t.Errorf("%q to %q: %v makes %q", original, sent, edits, made)
		}
	})
}

// TestDiffIsSmall checks that edits contain only the bytes that changed.
func TestDiffIsSmall(t *testing.T) {
	for _, test := range []struct{ original, sent, want string }{
		{`{"a": 1.0, "b":2}`, `{"a":1,"b":2}`, `[5:9]="1" [10:11]=""`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, `[5:21]="9007199254740992"`},
		{`{"a":1}{"b":2}`, `{"a":1}`, `[7:14]=""`},
		{`{"a":"x`, `{"a":"x"}`, `[5:7]="\"x\"}"`},
		{`[1,2,3]`, `[0,2,3,4]`, `[1:2]="0" [6:6]=",4"`},
		{`{"a":1,"b":2,"c":3}`, `{"b":2,"c":3,"a":1}`, `[1:7]="" [18:18]=",\"a\":1"`},
	} {
		var got []string
		for _, e := range replay.Diff([]byte(test.original), []byte(test.sent)) {
			got = append(got, fmt.Sprintf("[%d:%d]=%q", e.Start, e.End, e.To))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s to %s: %s, want %s", test.original, test.sent, s, test.want)
		}
	}
}
