package formats

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestAliasesDoNotGrow checks that a value with aliases is not used as a body: aliases that repeat their anchors
// would become arbitrarily large.
func TestAliasesDoNotGrow(t *testing.T) {
	text := "interactions:\n- request:\n    a: &a0 [x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("    b%d: &a%d [%s*a%d]\n", i, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 7), i)
	}
	recs := readParts(t, cassette, []byte(text+"    parsed_body: *a9\n    uri: u\n  response:\n    status: 200\n    body: ok\n"))
	size := 0
	for _, r := range recs {
		size += len(r.Data)
	}
	if size > 100 {
		t.Errorf("%d bytes came of %d", size, len(text))
	}
}

// TestLongLineOfCassette checks that a line that is too long needs no more memory than an interaction. The line must
// be reported, and the next line must be read.
func TestLongLineOfCassette(t *testing.T) {
	r := cassette.New(capture.NewInput("in", nil)).(*cassetteReader)
	var recs []capture.Record
	write := func(p string) { recs, _ = r.Write(recs, []byte(p), capture.NoTime) }
	write("interactions:\n- request:\n    body: ")
	block := strings.Repeat("x", 1<<20)
	for range maxInteractionBytes/len(block) + 8 {
		write(block)
		if cap(r.line) > 2*maxInteractionBytes {
			t.Fatalf("%d bytes are held", cap(r.line))
		}
	}
	write("\n- request:\n    uri: u\n    method: GET\n  response:\n    status: 204\n")
	recs = r.Close(recs, capture.EndEOF, "", capture.NoTime)
	if !recs[0].Damaged || !strings.Contains(recs[0].Note, "interaction 1, at byte 14, is longer than") {
		t.Errorf("%+v", recs[0])
	}
	if last := recs[len(recs)-1]; last.End != capture.EndEOF || last.Exchange != 2 {
		t.Errorf("%+v", last)
	}
}
