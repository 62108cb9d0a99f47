package shrink

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// asked returns the record of a request.
func asked(x int, url, body string) capture.Record {
	head := &capture.Head{Method: "POST", URL: url, Header: map[string][]string{"Content-Type": {"a"}, "X-Id": {"1"}}}
	return capture.Record{Exchange: x, Side: capture.Request, Head: head, Data: []byte(body), End: capture.EndEOF}
}

// answered returns the records of a response whose bytes arrive in parts.
func answered(x int, parts ...string) []capture.Record {
	list := []capture.Record{{Exchange: x, Head: &capture.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}}}
	for i, part := range parts {
		list = append(list, capture.Record{Exchange: x, At: time.Duration(i) * time.Second, Data: []byte(part)})
	}
	return append(list, capture.Record{Exchange: x, End: capture.EndCut, Why: "reset"})
}

// written returns records as text, one in a line.
func written(records []capture.Record) string {
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%d%s", r.Exchange, map[capture.Side]string{capture.Request: " >", capture.Response: " <"}[r.Side])
		fmt.Fprintf(&b, " @%d", r.At.Milliseconds())
		if h := r.Head; h != nil {
			fmt.Fprintf(&b, "%s %v", strings.TrimSuffix(" "+h.Method+" "+h.URL, "  "), h.Header)
		}
		if r.Note != "" {
			fmt.Fprintf(&b, " note %s", r.Note)
		}
		if len(r.Data) > 0 {
			fmt.Fprintf(&b, " %s", strings.ReplaceAll(string(r.Data), "\n", "|"))
		}
		if r.End != "" {
			fmt.Fprintf(&b, " %s %s", r.End, r.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// has returns a condition: the text of the records contains all words.
func has(words string) func([]capture.Record) (bool, error) {
	return func(records []capture.Record) (bool, error) {
		text := written(records)
		return !slices.ContainsFunc(strings.Split(words, "&"), func(w string) bool { return !strings.Contains(text, w) }), nil
	}
}

func unchanged(records []capture.Record) []capture.Record { return records }

const (
	start = "data: {\"type\":\"start\",\"index\":0,\"id\":\"call_123\",\"name\":\"Bash\"}\n\n"
	one   = "data: {\"type\":\"delta\",\"index\":0,\"text\":\"{\\\"a\\\":\"}\n\n"
	two   = "data: {\"type\":\"delta\",\"index\":0,\"text\":\"[12,bad]}\"}\n\n"
	other = "data: {\"type\":\"start\",\"index\":1,\"id\":\"call_456\",\"name\":\"Read\"}\n\n"
	third = "data: {\"type\":\"start\",\"index\":2,\"id\":\"call_789\",\"name\":\"Read\"}\n\n"
	done  = "data: [DONE]\n\n"
)

// TestReduce checks what is left of small captures.
func TestReduce(t *testing.T) {
	const stream = " map[Content-Type:[text/event-stream]]\n"
	for _, c := range []struct {
		name    string
		records []capture.Record
		words   string
		bare    bool
		want    string
	}{
		{"one event", answered(1, start, one, two, other, done), "bad", false,
			"1 < @0" + stream + `1 < @10 data: {"type":"delta","index":0,"text":"bad"}||` + "\n1 < @20 cut \n"},
		{"without types", answered(1, start, one, two, other, done), "bad", true,
			"1 < @0 map[]\n" + `1 < @10 data: {"text":"bad"}||` + "\n1 < @20 cut \n"},
		{"deltas that are joined", answered(1, start, one, two, other, done), `"{\"a\":&bad`, false,
			"1 < @0" + stream + `1 < @10 data: {"type":"delta","index":0,"text":"{\"a\":bad"}||` + "\n1 < @20 cut \n"},
		{"two deltas", answered(1, one, two), `"{\"a\":&bad`, false,
			"1 < @0" + stream + `1 < @10 data: {"type":"delta","index":0,"text":"{\"a\":bad"}||` + "\n1 < @20 cut \n"},
		{"an id of a removed event", answered(1, `data: {"type":"a","id":"c0"}`+"\n\n", `data: {"type":"bad","id":"call_123"}`+"\n\n"), "bad", false,
			"1 < @0" + stream + `1 < @10 data: {"type":"bad","id":"c0"}||` + "\n1 < @20 cut \n"},
		{"two letters", answered(1, `data: {"text":"ab"}`+"\n\n"), `"ab"`, false,
			"1 < @0" + stream + `1 < @10 data: {"text":"ab"}||` + "\n1 < @20 cut \n"},
		{"a call", answered(1, start, one, two, other, done), "start&bad", false,
			"1 < @0" + stream + `1 < @10 data: {"type":"start","index":0,"id":"c0"}||` + "\n" +
				`1 < @20 data: {"type":"delta","index":0,"text":"bad"}||` + "\n1 < @30 cut \n"},
		{"numbers without a gap", answered(1, start, one, two, other, third, done), "start&bad&789", false,
			"1 < @0" + stream + `1 < @10 data: {"type":"delta","index":0,"text":"bad"}||` + "\n" +
				`1 < @20 data: {"type":"start","index":1,"id":"call_789"}||` + "\n1 < @30 cut \n"},
		{"a gap of the original", answered(1, start, one, two, third, done), "start&bad&789", false,
			"1 < @0" + stream + `1 < @10 data: {"type":"delta","index":0,"text":"bad"}||` + "\n" +
				`1 < @20 data: {"type":"start","index":2,"id":"call_789"}||` + "\n1 < @30 cut \n"},
		{"a request", append([]capture.Record{asked(1, "https://h.example/v1/secret:do/chat?key=1",
			`{"model":"gpt-5","messages":[{"role":"user","content":"hello bad world"},{"role":"user","content":"x"}],"n":12}`)},
			answered(1, start)...), "bad", false,
			"1 > @0 POST https://localhost/v1/x:do/chat map[Content-Type:[a]]\n" +
				`1 > @10 {"messages":[{"role":"user","content":"bad"}]}` + "\n1 > @20 eof \n1 < @30" + stream + "1 < @40 cut \n"},
		{"names", answered(1, `data: {"id":"call_123","of_id":"call_123","name":"Bash","model":"big","status":"failed","n":12,"x":[]}`+"\n\n"),
			`"id"&"of_id"&"name"&"model"&"status":"failed"&"n"`, false,
			"1 < @0" + stream + `1 < @10 data: {"id":"c0","of_id":"c0","name":"t0","model":"m0","status":"failed","n":0}||` + "\n1 < @20 cut \n"},
		{"two exchanges", append(answered(1, start, one), answered(2, two)...), "bad", false,
			"2 < @0" + stream + `2 < @10 data: {"type":"delta","index":0,"text":"bad"}||` + "\n2 < @20 cut \n"},
		{"lines of events", answered(1, "event: a\nid: 7\n: hi\ndata: {\"text\":\ndata: \"bad\"}\n\n", done), "bad", false,
			"1 < @0" + stream + `1 < @10 event: a|data: {"text":"bad"}||` + "\n1 < @20 cut \n"},
		{"the end of a stream", answered(1, start, done), "DONE", false,
			"1 < @0" + stream + "1 < @10 data: [DONE]||\n1 < @20 cut \n"},
		{"a reason", answered(1, start, done), "reset", false,
			"1 < @0" + stream + "1 < @10 data: [DONE]||\n1 < @20 cut reset\n"},
		{"a text that is not JSON", answered(1, "data: hello bad world\n\n"), "bad", false,
			"1 < @0" + stream + "1 < @10 data: bad||\n1 < @20 cut \n"},
		{"a note", []capture.Record{{Exchange: 1, Note: "bad news"}, {Exchange: 1, Data: []byte(start), Note: "more"}}, "bad news", false,
			"1 < @0 note bad news\n1 < @10 " + `data: {"type":"start","index":0,"id":"c0"}||` + "\n"},
		{"a packed value", answered(1, `data: {"bytes":"eyJ0ZXh0IjoiYmFkIG9uZSIsImEiOjF9"}`+"\n\n"), "eyJ0ZXh0IjoiYmFk", false, // {"text":"bad one","a":1}
			"1 < @0" + stream + `1 < @10 data: {"bytes":"eyJ0ZXh0IjoiYmFkIn0="}||` + "\n1 < @20 cut \n"}, // {"text":"bad"}
	} {
		r, err := Reduce(t.Context(), c.records, Options{Holds: has(c.words), Placeholders: unchanged, MaxQuestions: 10000, Bare: c.bare})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := written(r.Records); got != c.want || r.Kept != 0 || r.Limit != "" {
			t.Errorf("%s: kept %d, limit %q\n%s\nwant\n%s", c.name, r.Kept, r.Limit, got, c.want)
		}
	}
}

// TestCopies checks that the copies in a text are shortened in the same way.
func TestCopies(t *testing.T) {
	twice := func(records []capture.Record) (bool, error) {
		_, text, _ := strings.Cut(written(records), `"text":"`)
		text, _, _ = strings.Cut(text, `"}|`)
		half := text[:len(text)/2]
		return strings.Contains(half, "bad") && text == half+half, nil
	}
	data := answered(1, `data: {"text":"{\"bad\":12,\"b\":true}{\"bad\":12,\"b\":true}"}`+"\n\n")
	r, err := Reduce(t.Context(), data, Options{Holds: twice, Placeholders: unchanged, MaxQuestions: 1000})
	if err != nil || string(r.Records[1].Data) != "data: {\"text\":\"badbad\"}\n\n" {
		t.Errorf("%v\n%s", err, written(r.Records))
	}
}

// TestRounds checks that the steps are repeated as long as one of them changes the draft: here, a number can be
// replaced only after an event is removed, and this event only after another number is replaced.
func TestRounds(t *testing.T) {
	holds := func(records []capture.Record) (bool, error) {
		text := written(records)
		number := func(key, event string) bool { // the number is 0, if the event is gone
			return strings.Contains(text, `"`+key+`":`) && (strings.Contains(text, event) || strings.Contains(text, `"`+key+`":0`))
		}
		late := strings.Contains(text, "first") && strings.Contains(text, `"k":0`)
		return strings.Contains(text, "bad") && number("n", "first") && number("k", "second") && !late, nil
	}
	data := answered(1, `data: {"type":"bad","n":12,"k":12}`+"\n\n", `data: {"type":"first"}`+"\n\n", `data: {"second":true}`+"\n\n")
	r, err := Reduce(t.Context(), data, Options{Holds: holds, Placeholders: unchanged, MaxQuestions: 1000})
	if err != nil || r.Events != 1 || string(r.Records[1].Data) != `data: {"type":"bad","n":0,"k":0}`+"\n\n" {
		t.Errorf("%v\n%s", err, written(r.Records))
	}
}

// TestNoTime checks that a record without a time gets none.
func TestNoTime(t *testing.T) {
	data := []capture.Record{{Exchange: 1, At: capture.NoTime, Data: []byte(one)}, {Exchange: 1, At: time.Hour, Data: []byte(two)}}
	r, err := Reduce(t.Context(), data, Options{Holds: has(`{\"a\":&"[12,bad]}`), Placeholders: unchanged, MaxQuestions: 1000})
	if err != nil || len(r.Records) != 2 || r.Records[0].At != capture.NoTime || r.Records[1].At != 10*time.Millisecond {
		t.Errorf("%v\n%+v", err, r)
	}
}

// TestDeltaRun checks which events at the start of a list can be joined: they differ in only one text.
func TestDeltaRun(t *testing.T) {
	for _, c := range []struct {
		events []string
		want   int
	}{
		{[]string{`{"t":"a"}`, `{"t":"b"}`, `{"t":"b"}`}, 3},
		{[]string{`{"t":"a","sequence_number":1,"obfuscation":"x"}`, `{"t":"b","sequence_number":2,"obfuscation":"y"}`}, 2},
		{[]string{`{"t":"a"}`, `{"t":"a"}`}, 0},
		{[]string{`{"t":"a","u":"a"}`, `{"t":"b","u":"b"}`}, 0},
		{[]string{`{"t":"a","u":"a"}`, `{"t":"b","u":"a"}`, `{"t":"a","u":"b"}`}, 2},
		{[]string{`{"t":"a"}`, `{"t":"b"}`, `{"u":"b"}`}, 2},
		{[]string{`{"t":"a"}`, `{"t":"b"}`, `{"t":"c","u":"b"}`}, 2},
		{[]string{`{"t":"a"}`, `{"t":1}`}, 0},
		{[]string{`{"n":1}`, `{"n":2}`}, 0},
		{[]string{`{"id":"a"}`, `{"id":"b"}`}, 0},
	} {
		r := &reducer{draft: draft{gone: map[any]bool{}}}
		var list []*event
		for _, text := range c.events {
			list = append(list, newEvent(capture.Record{}, []byte(text), false))
		}
		if run := r.deltaRun(list); len(run) != c.want {
			t.Errorf("%q: %d events, want %d", c.events, len(run), c.want)
		}
	}
}

// TestPlaceholders checks that the content is replaced as far as the condition permits, and that the texts that it
// needs are counted.
func TestPlaceholders(t *testing.T) {
	replace := func(records []capture.Record) (all []capture.Record) {
		for _, r := range records {
			r.Data = []byte(strings.NewReplacer("bad", "xxx", "good", "xxxx").Replace(string(r.Data)))
			all = append(all, r)
		}
		return all
	}
	data := answered(1, `data: {"type":"a","text":"bad"}`+"\n\n", `data: {"type":"b","text":"good"}`+"\n\n")
	for words, want := range map[string]int{`"a"&"b"`: 0, `"a"&"b"&bad`: 1, `bad&good`: 2} {
		r, err := Reduce(t.Context(), data, Options{Holds: has(words), Placeholders: replace, MaxQuestions: 1000})
		if err != nil || r.Kept != want || r.EventsBefore != 2 || r.Events != 2 {
			t.Errorf("%s: %+v, %v", words, r, err)
			continue
		}
		if text := written(r.Records); strings.Contains(text, "good") != strings.Contains(words, "good") {
			t.Errorf("%s: %s", words, text)
		}
	}
}

// TestOtherForm checks that an event is counted if its placeholder has another form.
func TestOtherForm(t *testing.T) {
	replace := func(records []capture.Record) []capture.Record {
		all := slices.Clone(records)
		for i, r := range all {
			if len(r.Data) > 0 {
				all[i].Data = []byte("data: 1\n\n")
			}
		}
		return all
	}
	r, err := Reduce(t.Context(), answered(1, one, two), Options{Holds: has("bad"), Placeholders: replace, MaxQuestions: 1000})
	if err != nil || r.Kept != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLimits checks how the search ends at a limit, at an error, and without a problem in the capture.
func TestLimits(t *testing.T) {
	data := answered(1, start, one, two, other, third, done)
	reduce := func(ctx context.Context, o Options) (*Result, string) {
		o.Placeholders = unchanged
		r, err := Reduce(ctx, data, o)
		return r, fmt.Sprint(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := reduce(t.Context(), Options{Holds: has("absent"), MaxQuestions: 9}); err != "the condition is not true for the file" {
		t.Error(err)
	}
	for ctx, most := range map[context.Context]int{ended: 9, t.Context(): 0} {
		if _, err := reduce(ctx, Options{Holds: has("bad"), MaxQuestions: most}); !strings.HasPrefix(err, "the limits ended the search before its first step") {
			t.Error(err)
		}
	}
	r, err := reduce(t.Context(), Options{Holds: has("bad"), MaxQuestions: 3})
	if err != "<nil>" || r.Questions != 3 || r.Limit != "limit of questions" || !strings.Contains(written(r.Records), "bad") {
		t.Errorf("%+v, %s", r, err)
	}
	asked := 0
	fails := func([]capture.Record) (bool, error) {
		if asked++; asked > 3 {
			return false, errors.New("broken")
		}
		return true, nil
	}
	if _, err := reduce(t.Context(), Options{Holds: fails, MaxQuestions: 99}); err != "broken" {
		t.Error(err)
	}
}

// TestCutDown checks that only the needed items are left, in order.
func TestCutDown(t *testing.T) {
	for _, needed := range [][]int{nil, {0}, {7}, {3, 4}, {0, 2, 4, 6}, {0, 1, 2, 3, 4, 5, 6, 7}} {
		all := []int{0, 1, 2, 3, 4, 5, 6, 7}
		kept, changed := cutDown(all, func(kept, cut []int) bool {
			if len(kept)+len(cut) > 8 || len(cut) == 0 {
				t.Errorf("kept %v, cut %v", kept, cut)
			}
			return !slices.ContainsFunc(needed, func(n int) bool { return !slices.Contains(kept, n) })
		})
		if !slices.Equal(kept, needed) || changed != (len(needed) < 8) {
			t.Errorf("%v: %v %t", needed, kept, changed)
		}
	}
}

// TestMembers checks how JSON in a text is divided into members, and that the members make the text again.
func TestMembers(t *testing.T) {
	for _, c := range []struct {
		text   string
		depth  int
		want   string
		deeper bool
	}{
		{`{"a":1,"b":[2,{"c":3}]}`, 1, `{ "a":1 ,"b":[2,{"c":3}] }`, true},
		{`{"a":1,"b":[2,{"c":3}]}`, 2, `{"a":1,"b":[ 2 ,{"c":3} ]}`, true},
		{`{"a":1,"b":[2,{"c":3}]}`, 3, `{"a":1,"b":[2,{ "c":3 }]}`, false},
		{`{\"a,{\":1,\"b\":2}`, 1, `{ \"a,{\":1 ,\"b\":2 }`, false},
		{`[1`, 1, `[ 1`, false},
		{`no JSON, here`, 1, `no JSON, here`, false},
	} {
		pieces, deeper := membersAt(textToken().FindAllString(c.text, -1), c.depth)
		if strings.Join(pieces, " ") != c.want || deeper != c.deeper || joinMembers(pieces) != c.text {
			t.Errorf("%s at %d: %q %t", c.text, c.depth, pieces, deeper)
		}
	}
	if got := joinMembers([]string{"{", ",1", ",[", ",2", "]"}); got != "{1,[2]" {
		t.Error(got)
	}
}

// TestShortToken checks what replaces the tokens of a text.
func TestShortToken(t *testing.T) {
	const text = "hello A b 42 7 true null é, 世界 \\u00e9 \\n x 0"
	var got []string
	for _, token := range textToken().FindAllString(text, -1) {
		got = append(got, shortToken(token))
	}
	if all := strings.Join(got, ""); all != "x x x 0 0 true null x, x \\u00e9 \\n x 0" {
		t.Errorf("%q", all)
	}
}

// TestWords checks which values are words of a protocol, which nodes programs need, and how values are named.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		path, lit string
		word      bool
		needed    bool
		letter    string
	}{
		{".type", `"x"`, true, true, ""}, {".a.role", `"x"`, true, true, ""}, {".object", `"x"`, true, false, ""},
		{".stop_reason", `"end_turn"`, true, false, ""}, {".finishReason", `"STOP"`, true, false, ""}, {".stop_reason", `"other"`, false, false, ""},
		{".status", `"failed"`, true, false, ""}, {".text", `"failed"`, false, false, ""},
		{".input.type", `"x"`, false, false, ""}, {".args.id", `"x"`, false, false, ""}, {".schema.#.name", `"x"`, false, false, ""},
		{".id", `"x"`, false, true, "c"}, {".call_id", `"x"`, false, false, "c"}, {".toolUseId", `"x"`, false, false, "c"},
		{".name", `"x"`, false, false, "t"}, {".model", `"x"`, false, false, "m"}, {".modelVersion", `"x"`, false, false, "m"},
		{".index", `1`, false, true, ""}, {".output_index", `1`, false, true, ""}, {".blockIndex", `1`, false, true, ""},
		{".sequence_number", `1`, false, false, ""}, {".index", `"1"`, false, false, ""},
	} {
		n := &node{kind: c.lit[0], key: c.path[strings.LastIndexByte(c.path, '.')+1:], path: c.path, lit: c.lit}
		if word, needed, letter := isProtocolWord(n, c.lit), isNeeded(n), nameLetter(n); word != c.word || needed != c.needed || letter != c.letter {
			t.Errorf("%s %s: word %t, needed %t, letter %q", c.path, c.lit, word, needed, letter)
		}
	}
}

// TestReadEvents checks the events of a capture, and that their records have the same bytes again.
func TestReadEvents(t *testing.T) {
	const aws = "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"
	ws := &capture.Head{URL: "wss://h/x"}
	stdio := &capture.Head{Method: capture.Stdio}
	for _, c := range []struct {
		name    string
		records []capture.Record
		want    []string
	}{
		{"a split event", answered(1, start[:9], start[9:]+one), []string{"", start, one, ""}},
		{"line breaks of all kinds", answered(1, "data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"), []string{"", "data: 1\r\n\r\n", "data: 2\r\r", "data: 3\n\n", ""}},
		{"lines of JSON", answered(1, "{\"a\":1}\n{\"a\":2}\n"), []string{"", "{\"a\":1}\n", "{\"a\":2}\n", ""}},
		{"a body without events", answered(1, "{\"a\":\n", "1}"), []string{"", "{\"a\":\n1}", ""}},
		{"a request in two records", []capture.Record{{Exchange: 1, Side: capture.Request, Data: []byte("{\"a\":\n")}, {Exchange: 1, Side: capture.Request, Data: []byte("1}")}}, []string{"{\"a\":\n1}"}},
		{"AWS messages", answered(1, aws+aws), []string{"", aws, aws, ""}},
		{"a WebSocket", []capture.Record{{Exchange: 1, Side: capture.Request, Head: ws}, {Exchange: 1, Data: []byte("{\n}")}, {Exchange: 1, Side: capture.Request, Data: []byte("1")}, {Exchange: 1, Side: capture.Request, Data: []byte("2")}}, []string{"", "{\n}", "1", "2"}},
		{"a process", []capture.Record{{Exchange: 1, Side: capture.Request, Head: stdio, Data: []byte("{\"a\":1}\n{\"a\":2}\n")}}, []string{"", "{\"a\":1}\n", "{\"a\":2}\n"}},
	} {
		r := newReducer(t.Context(), c.records, Options{})
		var got []string
		for _, record := range r.draftRecords() {
			got = append(got, string(record.Data))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestEdited checks that an edited event keeps its framing and the state of its checksum.
func TestEdited(t *testing.T) {
	message := func(payload string, sum uint32) string {
		e := &event{aws: []byte("head"), payload: parsePayload([]byte(payload)), data: []byte("x"), edits: 1}
		out := (&draft{}).bytesOf(e)
		return string(binary.BigEndian.AppendUint32(out[:len(out)-4], binary.BigEndian.Uint32(out[len(out)-4:])^sum))
	}
	for _, c := range []struct{ name, data, want string }{
		{"an event", "id: 1\ndata: {\"a\":1,\"b\":2}\n\n", "id: 1\ndata: {\"b\":2}\n\n"},
		{"an event without an end", "data: {\"a\":1,\"b\":2}", "data: {\"b\":2}"},
		{"carriage returns", "data: {\"a\":1,\"b\":2}\r\n\r\n", "data: {\"b\":2}\n\n"},
		{"a line", "{\"a\":1,\"b\":2}\r\n", "{\"b\":2}\r\n"},
		{"a message", message(`{"a":1,"b":2}`, 0), message(`{"b":2}`, 0)},
		{"a message with a wrong checksum", message(`{"a":1,"b":2}`, 7), message(`{"b":2}`, 1)},
	} {
		e := newEvent(capture.Record{}, []byte(c.data), strings.Contains(c.data, "data:"))
		d := draft{gone: map[any]bool{}}
		if got := string(d.bytesOf(e)); got != c.data {
			t.Errorf("%s, not edited: %q", c.name, got)
		}
		if e.payload.kids == nil {
			t.Errorf("%s: no JSON", c.name)
			continue
		}
		d.gone[e.payload.kids[0]], e.edits = true, 1
		if got := string(d.bytesOf(e)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
