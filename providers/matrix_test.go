package providers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// outsides are the paths and headers of responses in each protocol.
var outsides = []struct {
	dialect, path string
	header        map[string][]string
}{
	{"anthropic", "/v1/messages", map[string][]string{"Anthropic-Organization-Id": {"o"}, "Content-Type": {"text/event-stream"}}},
	{"gemini", "/v1beta/models/m:streamGenerateContent", map[string][]string{"Content-Type": {"application/json; charset=UTF-8"}}},
	{"gemini-interactions", "/v1beta/interactions", map[string][]string{"Content-Type": {"text/event-stream"}}},
	{"openai-chat", "/v1/chat/completions", map[string][]string{"Openai-Processing-Ms": {"1"}, "Content-Type": {"text/event-stream"}}},
	{"openai-responses", "/v1/responses", map[string][]string{"Openai-Processing-Ms": {"1"}, "Content-Type": {"application/json"}}},
	{"aistudio", "/$rpc/google.internal.alkali.applications.makersuite.v1.MakerSuiteService/GenerateContent", map[string][]string{"Content-Type": {"application/json+protobuf"}}},
	{"ollama", "/api/chat", map[string][]string{"Content-Type": {"application/x-ndjson"}}},
	{"bedrock", "/model/m/converse-stream", map[string][]string{"Content-Type": {"application/vnd.amazon.eventstream"}, "X-Amzn-Requestid": {"1"}}},
	{"cohere", "/v2/chat", map[string][]string{"Content-Type": {"text/event-stream"}}},
	{"ai-sdk", "/api/chat", map[string][]string{"X-Vercel-Ai-Ui-Message-Stream": {"v1"}, "Content-Type": {"text/event-stream"}}},
	{"ag-ui", "/", map[string][]string{"Content-Type": {"text/event-stream"}}},
	{"claude-code", "", map[string][]string{"Content-Type": {"text/plain"}}},
}

// printed are the protocols of lines that programs print. No server sends such lines.
var printed = map[string]bool{"copilot-cli": true, "pi-json": true, "gemini-cli": true, "droid-exec": true, "cursor-cli": true}

// TestMatrix checks that the bytes decide, whatever the path and the headers, if one frame is certain evidence for a
// protocol, or two frames are likely evidence. Each fixture is read with some of the outsides, or with all of them
// with TOOLSCOPE_LONG=1.
func TestMatrix(t *testing.T) {
	every := int(inLong(5, 1))
	for i, f := range fixtures(t) {
		whole := f.inspect(f.wire)
		if !isPlain(whole.Exchange(0)) || printed[f.dialect.Name] {
			continue
		}
		want := turnLines(whole.Session()) + callLines(whole.Session())
		for n, o := range outsides {
			if (i+n)%every != 0 {
				continue
			}
			for _, head := range []stream.Head{
				{Status: 200, Header: o.header}, {Status: 200, Header: o.header, URL: "https://h" + o.path},
			} {
				in := new(Inspector)
				if r := f.archive.section("request"); r != "" {
					in.Write(stream.Record{Request: true, Data: []byte(r)})
				}
				in.Write(stream.Record{Head: &head, Data: f.wire})
				in.Close()
				x := in.Exchange(0)
				if x.Protocol == nil || x.Protocol.Name != f.dialect.Name {
					t.Errorf("%s under %s %v: %v %s", f.name, head.URL, head.Header, x.Protocol, x.Why)
				} else if diff := cmp.Diff(want, turnLines(in.Session())+callLines(in.Session())); diff != "" {
					t.Errorf("%s under %s %v: %s\n%s", f.name, head.URL, head.Header, x.Framing, diff)
				}
			}
		}
	}
}

// isPlain reports whether the frames show their protocol, whatever the path and the headers.
func isPlain(x *Exchange) bool {
	sure, likely := 0, 0
	frameData(x, func(f stream.Frame) {
		f = unwrapBedrock(f)
		_, score := detectProtocol(protocol.SniffInput{Event: f.Event, Data: f.Data})
		if score.Points >= protocol.Sure {
			sure++
		}
		if score.Points >= protocol.Likely {
			likely++
		}
	})
	return sure > 0 || likely > 1
}

// TestOutside checks that the path and the headers decide before there is a frame, or if no frame shows the
// protocol.
func TestOutside(t *testing.T) {
	for _, o := range outsides {
		best, _ := detectProtocol(protocol.SniffInput{Path: o.path, Header: o.header})
		if best == nil && o.dialect != "ag-ui" && o.dialect != "claude-code" || best != nil && best.Name != o.dialect && o.dialect != "openai-responses" {
			t.Errorf("%+v: %v", o, best)
		}
		in := new(Inspector)
		in.Write(stream.Record{Head: &stream.Head{URL: "https://h" + o.path, Status: 200, Header: o.header}})
		in.Write(stream.Record{Data: []byte("data: {\"brand_new\":1}\n\n"), End: true})
		want := o.dialect
		switch want {
		case "ag-ui", "claude-code":
			want = "unknown"
		}
		if x := in.Exchange(0); x.Protocol.Name != want {
			t.Errorf("%+v: read as %s: %s", o, x.Protocol.Name, x.Why)
		}
	}
}
