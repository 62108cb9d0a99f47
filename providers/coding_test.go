package providers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestCodedBody checks that a compressed body is decoded, and that the original bytes are kept.
func TestCodedBody(t *testing.T) {
	var sent bytes.Buffer
	z := gzip.NewWriter(&sent)
	_, _ = z.Write([]byte("data: " + chatText + "\n\ndata: [DONE]\n\n"))
	_ = z.Close()
	head := &stream.Head{Status: 200, Header: map[string][]string{"Content-Encoding": {"gzip"}}}
	for _, test := range []struct {
		what string
		wire []byte
		says string
	}{
		{"whole", sent.Bytes(), ""},
		{"cut", sent.Bytes()[:sent.Len()-9], "CODING_BROKEN"},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Head: head})
		for i := range test.wire {
			in.Write(stream.Record{Data: test.wire[i : i+1]})
		}
		in.Close()
		x := in.Exchange(0)
		if x.Coding != "gzip" || x.Framing != "SSE" || x.Protocol == nil || x.Protocol.Name != "openai-chat" {
			t.Errorf("%s: coding %q, framing %q, dialect %v", test.what, x.Coding, x.Framing, x.Protocol)
		}
		if !bytes.Equal(x.Sent.Bytes(0, x.Sent.Size()), test.wire) {
			t.Errorf("%s: the bytes as sent are not kept", test.what)
		}
		if got := strings.Contains(turnLines(in.Session()), "CODING_BROKEN"); got != (test.says != "") {
			t.Errorf("%s: CODING_BROKEN is found: %v", test.what, got)
		}
	}
	in := new(Inspector)
	in.Write(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Encoding": {"compress"}}}, Data: []byte("\x1f\x9d")})
	in.Close()
	if x := in.Exchange(0); x.Response.Size() != 2 || len(in.Session().Findings) == 0 {
		t.Errorf("a coding nobody knows: %d bytes, findings %v", x.Response.Size(), in.Session().Findings)
	}
	in = new(Inspector)
	in.Write(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Encoding": {"compress"}}}, Data: []byte("data: " + chatText + "\n\n")})
	in.Close()
	if strings.Contains(dump(in), "CODING_BROKEN") || len(in.Session().Turns) != 1 {
		t.Errorf("a coding nobody knows that the client has undone: %s", dump(in))
	}
}

// TestCodingCutAtFirst checks a body whose decoding fails before there is a turn. The finding is about the turn that
// results from the decoded bytes.
func TestCodingCutAtFirst(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Transfer-Encoding": {"chunked"}}}})
	in.Write(stream.Record{Data: []byte(fmt.Sprintf("%x\r\n%s\r\n", len(chatBody), chatBody)), End: true})
	if got := in.Session(); len(got.Findings) > 0 || !strings.Contains(turnLines(got), "CODING_BROKEN error") {
		t.Error(dump(in))
	}
}

// TestBomb checks a body that becomes too large. It is read up to the limit, the finding reports the limit, and all
// original bytes are kept.
func TestBomb(t *testing.T) {
	var sent bytes.Buffer
	z := gzip.NewWriter(&sent)
	_, _ = z.Write([]byte(`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n"))
	for range 12 {
		_, _ = z.Write(bytes.Repeat([]byte(": no event\n"), 1<<20/11))
	}
	_ = z.Close()
	in := new(Inspector)
	in.Write(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Encoding": {"gzip"}}}})
	in.Write(stream.Record{Data: sent.Bytes(), End: true})
	in.Close()
	x := in.Exchange(0)
	if got := turnLines(in.Session()); !strings.Contains(got, "CODING_BOMB error") || strings.Contains(got, "CODING_BROKEN") || strings.Contains(got, "NO_TERMINATOR") {
		t.Error(got)
	}
	if turn := in.Session().Turns[0]; turn.EndedBy != stream.Toolscope {
		t.Errorf("ended by %v: it was we who read no further", turn.EndedBy)
	}
	if x.Response.Size() != 10<<20 || !bytes.Equal(x.Sent.Bytes(0, x.Sent.Size()), sent.Bytes()) {
		t.Errorf("%d bytes were read, %d of %d kept", x.Response.Size(), x.Sent.Size(), sent.Len())
	}
}

// TestBombOfNothing checks that the finding has a turn, whatever the decoded bytes are.
func TestBombOfNothing(t *testing.T) {
	for _, unit := range []string{"\x00", "[", "x", "{\"a\":", " ", "data: x"} {
		var sent bytes.Buffer
		z, _ := gzip.NewWriterLevel(&sent, gzip.BestSpeed)
		for range 12 {
			_, _ = z.Write(bytes.Repeat([]byte(unit), 1<<20/len(unit)))
		}
		_ = z.Close()
		in := new(Inspector)
		in.Write(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Encoding": {"gzip"}}}})
		in.Write(stream.Record{Data: sent.Bytes(), End: true})
		in.Close()
		if got := turnLines(in.Session()); strings.Count(got, "CODING_BOMB error") != 1 || len(in.Session().Findings) > 0 {
			t.Errorf("%q: %s %v", unit, got, in.Session().Findings)
		}
	}
}
