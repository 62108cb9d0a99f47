package protocol

import "testing"

func TestRewrite(t *testing.T) {
	value := func(s string) []byte { return []byte(s) }
	for _, test := range []struct {
		before  string
		members []Member
		want    string
	}{
		{``, nil, `{}`},
		{``, []Member{{"a", value(`1`)}, {"b", nil}, {"c", value(`[]`)}}, `{"a":1,"c":[]}`},
		{`{"x": {"a": 1}, "a" :2, "y":null}`, []Member{{"b", value(`3`)}, {"a", value(`4`)}}, `{"x":{"a": 1},"a":4,"y":null,"b":3}`},
		{`{"a":1,"b":2}`, []Member{{"a", nil}}, `{"b":2}`},
		{`{"a":1,"b":2,"a":3}`, []Member{{"a", value(`4`)}}, `{"a":4,"b":2}`},
		{`{"\u0061\"":1}`, []Member{{"b", value(`2`)}}, `{"a\"":1,"b":2}`},
		{`[1]`, []Member{{"a", value(`2`)}}, `{"a":2}`},
	} {
		if got := string(ReplaceMembers(Raw(test.before), test.members...)); got != test.want {
			t.Errorf("%s with %s: %s, want %s", test.before, test.members, got, test.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	for _, test := range []struct{ before, value, want string }{
		{`{}`, ``, ``},
		{`{}`, `1`, `1`},
		{`{"a":2}`, `1`, `1`},
		{`{"a":2}`, ``, ``},
		{`{"a":[1]}`, ``, ``},
		{`{"a":null}`, ``, `null`},
		{`{"a":""}`, ``, `""`},
		{`{"a":[]}`, ``, `[]`},
		{`{"a":[]}`, `1`, `1`},
	} {
		var value []byte
		if test.value != "" {
			value = []byte(test.value)
		}
		m := UpdatedMember(Raw(test.before), "a", value)
		if m.Name != "a" || string(m.Value) != test.want || (m.Value == nil) != (test.want == "") {
			t.Errorf("%s with %q: %s", test.before, test.value, m)
		}
	}
}

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
		var w Writer
		if got := string(WriteArgs(&w, &test.part).Text); got != test.want {
			t.Errorf("%+v: %s, want %s", test.part, got, test.want)
		}
	}
}

func TestContent(t *testing.T) {
	text := func(s string) Part { return Part{Kind: TextPart, Text: []byte(s)} }
	image := Part{Kind: OtherPart, Raw: Raw(`{"type":"image_url"}`)}
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
		var was Raw
		if test.was != "" {
			was = Raw(test.was)
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
		text, media := ResultText(Raw(test.content))
		if string(text) != test.text || media != test.media {
			t.Errorf("%s: %q and %d, want %q and %d", test.content, text, media, test.text, test.media)
		}
	}
}
