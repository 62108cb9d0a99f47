package cli

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
)

// TestOTLP checks that turns become spans. The spans of a turn's calls must be children of the turn's span, and lie
// within its time.
func TestOTLP(t *testing.T) {
	out := command(t, nil, "export", saved(t, "h.tsc", readDemo(t, "history")), "--as", "otlp")
	if out.code != 0 || out.stderr != "" {
		t.Fatalf("%+v", out)
	}
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Start                               string `json:"startTimeUnixNano"`
		End                                 string `json:"endTimeUnixNano"`
		Attributes                          []struct {
			Key   string
			Value struct{ StringValue, IntValue string }
		}
	}
	var log struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []span }
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &log); err != nil {
		t.Fatal(err)
	}
	byID, tools, turns := map[string]span{}, 0, 0
	for _, s := range log.ResourceSpans[0].ScopeSpans[0].Spans {
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || byID[s.SpanID].SpanID != "" || len(s.Start) != len(s.End) || s.Start > s.End {
			t.Errorf("%+v", s)
		}
		byID[s.SpanID] = s
		if s.ParentSpanID == "" {
			turns++
			continue
		}
		tools++
		if byID[s.ParentSpanID].SpanID == "" || !strings.HasPrefix(s.Name, "toolscope.tool_call ") {
			t.Errorf("%+v", s)
		}
	}
	if turns < 3 || tools < 2 {
		t.Errorf("%d turns, %d calls of tools", turns, tools)
	}
}

// TestMarkdownReport checks that a report names the problem and shows the bytes that prove it.
func TestMarkdownReport(t *testing.T) {
	file := saved(t, "m.tsc", readDemo(t, "malformed"))
	out := command(t, nil, "export", file, "--as", "md")
	for _, want := range []string{"# run\\_shell: malformed, caused by the model\n\n- place: turn 1 of m.tsc\n", "**ARGS_BROKEN** (error, by model)", "```json\n{\"command\"", "event: content_block_delta"} {
		if out.code != 0 || !strings.Contains(out.stdout, want) {
			t.Errorf("%q is not in\n%s%s", want, out.stdout, out.stderr)
		}
	}
	if out := command(t, nil, "export", file, "--as", "md", "--call", "3"); out.code != 2 {
		t.Errorf("a call that is not there: %+v", out)
	}
}

// TestSVG checks that the picture is valid XML, describes its contents in words, and runs no code.
func TestSVG(t *testing.T) {
	for _, name := range []string{"parallel", "malformed"} {
		out := command(t, nil, "export", saved(t, name+".tsc", readDemo(t, name)), "--as", "svg")
		var root struct {
			Role  string `xml:"role,attr"`
			Title string `xml:"title"`
			Desc  string `xml:"desc"`
		}
		if err := xml.Unmarshal([]byte(out.stdout), &root); err != nil || out.code != 0 {
			t.Fatal(err, out.stderr)
		}
		if root.Role != "img" || root.Title != "Turn 1 in "+name+".tsc" || !strings.Contains(root.Desc, "deltas") || strings.Contains(out.stdout, "<script") {
			t.Errorf("%+v", root)
		}
	}
	body := saved(t, "body.sse", string(chat(toolChunk("{}"), finishChunk)))
	if out := command(t, nil, "export", body, "--as", "svg"); !strings.Contains(out.stdout, "times are unknown") {
		t.Errorf("a body: %+v", out)
	}
}
