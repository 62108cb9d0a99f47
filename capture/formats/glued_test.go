package formats

import (
	"slices"
	"strings"
	"testing"
)

// TestLinesWithoutLineEnd checks that no part of a stream is lost if the line break between two lines is missing.
// Such a line is written when two processes write to one log.
func TestLinesWithoutLineEnd(t *testing.T) {
	data := make([]string, len(chatLeg))
	stamped := make([]string, len(chatLeg))
	objects := make([]string, len(chatLeg))
	for i, chunk := range chatLeg {
		data[i] = "2026-03-02T10:00:05Z [rq-5] data: " + chunk
		stamped[i] = "2026-03-02T10:00:05Z DEBUG [rq-5] chunk: " + chunk
		objects[i] = `{"time":"2026-03-02T10:00:05Z","request":"rq-5","chunk":` + chunk + `}`
	}
	other := `{"time":"2026-03-02T10:00:05Z","level":"info","msg":"started"}`
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"objects", objects},
		{"strings in objects", linesOf("chunk", chatLeg)},
		{"events in objects", linesOf("chunk", []string{"data: " + chatLeg[0] + "\n\n", "data: " + chatLeg[1] + "\n\n", "data: " + chatLeg[2] + "\n\n"})},
		{"text before payloads", stamped},
		{"fields of events", data},
		{"another line first", append([]string{objects[0], other}, objects[1:]...)},
	} {
		plain, _ := streamsOf(readLog(t, []byte(strings.Join(trimLines(c.lines), "\n")), 1<<20))
		for i := range len(c.lines) - 1 {
			var b strings.Builder
			for k, line := range trimLines(c.lines) {
				if b.WriteString(line); k != i {
					b.WriteString("\n")
				}
			}
			got, _ := streamsOf(readLog(t, []byte(b.String()), 1<<20))
			if !slices.Equal(got, plain) {
				t.Errorf("%s, without line end %d: %q\nwant %q", c.name, i, got, plain)
			}
		}
	}
}

func trimLines(lines []string) (trimmed []string) {
	for _, line := range lines {
		trimmed = append(trimmed, strings.TrimRight(line, "\n"))
	}
	return trimmed
}

// TestObjectAfterPayload checks that an object that follows a payload and describes it is not read as a new line.
func TestObjectAfterPayload(t *testing.T) {
	var b strings.Builder
	for _, chunk := range chatLeg {
		b.WriteString("2026-03-02T10:00:05Z DEBUG chunk " + chunk + ` {"request":"rq-5"}` + "\n")
	}
	got, others := streamsOf(readLog(t, []byte(b.String()), 1<<20))
	if len(got) != 1 || others != 0 {
		t.Errorf("%d others, %q", others, got)
	}
}

// TestManyLinesWithoutLineEnd checks that the rest of a line is left unread, with a note, if too many lines are
// joined in it.
func TestManyLinesWithoutLineEnd(t *testing.T) {
	one := `{"request":"rq-5","chunk":` + chatLeg[1] + `}`
	notes := 0
	for _, r := range readLog(t, []byte(strings.Repeat(one, 20_000)), 1<<20) {
		if strings.Contains(r.Note, "without line breaks") {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("%d notes", notes)
	}
}
