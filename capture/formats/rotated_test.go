package formats

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestLinesRotated checks that a stream with lines in two files is one stream, even if both files are being written
// to at the same time. An incomplete line of the old file must not be joined to the new file.
func TestLinesRotated(t *testing.T) {
	looks := func(p []byte) capture.PayloadGuess {
		if strings.Contains(string(p), `"chat.completion.chunk"`) {
			return capture.Chunk
		}
		return capture.Nothing
	}
	line := func(n int, text string) string {
		return fmt.Sprintf("2026-11-20T10:00:%02dZ INFO got data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}]}\n", n, text)
	}
	old := newLineReader(capture.NewInput("app.log", looks))
	var recs []capture.Record
	write := func(r capture.Reader, text string) {
		t.Helper()
		var err error
		if recs, err = r.Write(recs, []byte(text), capture.NoTime); err != nil {
			t.Fatal(err)
		}
	}
	half := line(2, "late")
	write(old, line(1, "first")+half[:len(half)-30])
	next := old.(capture.RotationReader).Rotated()
	write(next, line(3, "third"))
	write(old, half[len(half)-30:]+line(4, "fourth")[:90])
	recs = old.Close(recs, capture.EndCut, "file rotated", capture.NoTime)
	for _, r := range recs {
		if r.End != "" {
			t.Errorf("it ended with its file: %+v", r)
		}
	}
	write(next, line(5, "fifth"))
	recs = next.Close(recs, capture.EndEOF, "", capture.NoTime)
	var data strings.Builder
	ends := 0
	for _, r := range recs {
		if len(r.Data) > 0 && r.Exchange != 1 {
			t.Errorf("another exchange: %+v", r)
		}
		data.Write(r.Data)
		if r.End != "" {
			ends++
		}
	}
	at := 0
	for _, text := range []string{"first", "third", "late", "fifth"} {
		i := strings.Index(data.String()[at:], `"content":"`+text+`"`)
		if i < 0 {
			t.Fatalf("%s is not there, or not in its place: %s", text, data.String())
		}
		at += i
	}
	if ends != 1 {
		t.Errorf("%d ends", ends)
	}
}
