package protocol

import (
	"strings"
	"testing"

	"toolscope/stream/json"
)

func TestArgs(t *testing.T) {
	for _, test := range []struct {
		part Part
		want string
	}{
		{Part{Args: []byte(`{"a": "b"}`)}, `"{\"a\": \"b\"}"`},
		{Part{Args: []byte("{\"a\n")}, `"{\"a\n"`},
		{Part{}, `""`},
		{Part{Form: ObjectForm, Args: []byte(`{"a": "b"}`)}, `{"a": "b"}`},
		{Part{Form: ObjectForm}, `{}`},
	} {
		var w json.Writer
		if got := string(WriteArgs(&w, &test.part).Text); got != test.want {
			t.Errorf("%+v: %s, want %s", test.part, got, test.want)
		}
	}
}

func TestContent(t *testing.T) {
	text := func(s string) Part { return Part{Kind: TextPart, Text: []byte(s)} }
	image := Part{Kind: OtherPart, Raw: json.Value(`{"type":"image_url"}`)}
	for _, test := range []struct {
		was    string
		parts  []Part
		joined bool
		want   string
	}{
		{``, nil, false, ``},
		{`null`, nil, false, `null`},
		{`""`, nil, false, `""`},
		{`[]`, nil, false, `[]`},
		{`"a"`, nil, false, ``},
		{`[{"type":"text","text":""}]`, nil, false, ``},
		{``, []Part{text("a")}, false, `"a"`},
		{`"b"`, []Part{text("a")}, false, `"a"`},
		{`[]`, []Part{text("a")}, false, `[{"type":"text","text":"a"}]`},
		{``, []Part{text("a"), text("b")}, true, `"ab"`},
		{``, []Part{text("a"), text("b")}, false, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		{`"a"`, []Part{text("a"), image}, true, `[{"type":"text","text":"a"},{"type":"image_url"}]`},
	} {
		var was json.Value
		if test.was != "" {
			was = json.Value(test.was)
		}
		got := Content(was, test.parts, test.joined)
		if string(got) != test.want || (got == nil) != (test.want == "") {
			t.Errorf("%s, %d parts, joined %v: %s, want %s", test.was, len(test.parts), test.joined, got, test.want)
		}
	}
}

func TestResultText(t *testing.T) {
	for _, test := range []struct {
		content, text string
		media         int
	}{
		{``, "", 0}, {`null`, "", 0}, {`"a\n"`, "a\n", 0}, {`{"a": 1}`, `{"a": 1}`, 0}, {`[]`, "", 0},
		{`[{"type":"text","text":"a"},"b",{"type":"image"},{"type":"text","text":null},7]`, "ab", 3},
	} {
		text, media := ResultText(json.Value(test.content))
		if string(text) != test.text || media != test.media {
			t.Errorf("%s: %q and %d, want %q and %d", test.content, text, media, test.text, test.media)
		}
	}
}

func TestCountOf(t *testing.T) {
	for text, want := range map[string]int64{`12`: 12, `12.0`: 12, `0`: 0, `1.5`: -1, `"12"`: -1, `null`: -1, ``: -1} {
		if c := CountOf(json.Value(text)); c.Reported != (want >= 0) || c.Reported && c.N != want {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("å", 200)
	for text, want := range map[string]string{
		"": "", `{"a":1}`: `{"a":1}`, long: long[:200] + "…", "x" + long: "x" + long[:198] + "…",
	} {
		if got := Clip(json.Value(text)); got != want {
			t.Errorf("%.20q: %q", text, got)
		}
	}
}
