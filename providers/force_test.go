package providers

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestReread checks that forcing a wrong protocol loses no bytes, and that reading again without a forced protocol
// gives the original result.
func TestReread(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("data: " + chatText + "\n\ndata: [DONE]\n\n"))
	_ = z.Close()
	in := new(Inspector)
	for _, r := range []stream.Record{
		{Exchange: 1, Request: true, Data: []byte(`{"model":"m"}`), At: 1, Head: &stream.Head{Method: "POST", URL: "http://x/v1/chat"}},
		{Exchange: 1, At: 2, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Encoding": {"gzip"}}}},
		{Exchange: 2, At: 3, Data: []byte("data: {\"object\":\"chat.comple")},
		{Exchange: 1, At: 4, Data: packed.Bytes()[:5]},
		{Exchange: 2, At: 5, Data: []byte("tion.chunk\",\"choices\":[]}\n\n")},
		{Note: "something happened"},
		{Exchange: 1, At: 6, Data: packed.Bytes()[5:], End: true},
	} {
		in.Write(r)
	}
	in.Close()
	before := dump(in)
	other, err := FindProtocol("anthropic")
	if err != nil {
		t.Fatal(err)
	}
	in.Reread(1, other)
	if x := in.Exchange(1); x.Protocol.Name != "anthropic" || x.Why != "set by you" || dump(in) == before {
		t.Errorf("exchange 1 is read as %s: %s\n%s", x.Protocol.Name, x.Why, dump(in))
	}
	if x := in.Exchange(2); x.Protocol.Name != "openai-chat" {
		t.Errorf("exchange 2 is read as %s", x.Protocol.Name)
	}
	if got := in.Exchange(1).Sent; !bytes.Equal(got.Bytes(0, got.Size()), packed.Bytes()) {
		t.Error("the bytes as sent are not kept")
	}
	in.Reread(1, nil)
	if diff := cmp.Diff(before, dump(in)); diff != "" {
		t.Errorf("read again by its bytes (-before +after)\n%s", diff)
	}
	in.Reread(1, nil)
	if diff := cmp.Diff(before, dump(in)); diff != "" {
		t.Errorf("read a third time (-before +after)\n%s", diff)
	}
	if _, err := FindProtocol("klingon"); err == nil {
		t.Error("there is a dialect nobody wrote")
	}
}

// TestForce checks that every response is read in the forced protocol.
func TestForce(t *testing.T) {
	d, err := FindProtocol("openai-chat")
	if err != nil {
		t.Fatal(err)
	}
	var in Inspector
	in.ForceProtocol(d)
	in.Write(stream.Record{Data: []byte("data: {\"type\":\"message_start\"}\n\n")})
	in.Close()
	if x := in.Exchange(0); x.Protocol != d || x.Why != "set by you" {
		t.Errorf("read as %v: %s", x.Protocol, x.Why)
	}
}

// terse is a decoder that opens a turn for each frame, and reports no details.
type terse struct{ *protocol.Out }

func (d terse) Frame(stream.Frame) error {
	d.Open(stream.Opening{})
	return nil
}

func (d terse) Close() {}

// TestTurnOpenWithoutDetails checks that a turn has the facts that only the exchange has, even if the decoder reports
// no details.
func TestTurnOpenWithoutDetails(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 4, Data: data("{}"), End: true})
	in.Close()
	in.Reread(4, &protocol.Protocol{Name: "terse", New: func(o *protocol.Out) protocol.Decoder { return terse{o} }})
	if turns := in.Session().Turns; len(turns) != 1 || turns[0].Exchange != 4 || turns[0].Protocol != "terse" {
		t.Errorf("%d turns: %s", len(turns), dump(in))
	}
}
