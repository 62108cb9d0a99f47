package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func faults(t testing.TB, words ...string) []Fault {
	t.Helper()
	list, err := ParseFaults(words...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// sent returns the bytes that an injector sends for a body that arrives in these chunks, the pieces in which it sends
// them, and the faults that changed nothing.
func sent(b *Injector, chunks ...string) (out string, pieces []string, unfit []Unused) {
	add := func(list []OutChunk) {
		for _, p := range list {
			out += string(p.Data)
			pieces = append(pieces, string(p.Data))
		}
	}
	for _, c := range chunks {
		add(b.Write([]byte(c), 0))
	}
	last, unfit := b.Close()
	add(last)
	return out, pieces, unfit
}

// TestAtOnce checks that data is sent as soon as possible: an event when it ends, and each chunk of a body without
// events. Data waits only if a fault needs to see the data after it.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		fault, kind string
		chunks      []string
		want        []string // after each chunk, and at the end
	}{
		{"bad-args", "text/event-stream", []string{"data: 1\n", "\nda", "ta: 2\n\n"}, []string{"", "data: 1\n\n", "data: 2\n\n", ""}},
		{"bad-args", "text/event-stream", []string{"data: 1\r\n\r", "\ndata: 2\r\n\r\n"}, []string{"data: 1\r\n\r", "\ndata: 2\r\n\r\n", ""}},
		{"bad-args", "application/x-ndjson", []string{"{}\n", "{\"a\":", "1}\n"}, []string{"{}\n", "", "{\"a\":1}\n", ""}},
		{"bad-args", "", []string{"{}\n", "{}\n"}, []string{"", "{}\n{}\n", ""}},
		{"bad-args", "application/json", []string{"{\"a\":", "1}"}, []string{"", "", "{\"a\":1}"}},
		{"cut@9", "application/json", []string{"{\"a\":", "1}"}, []string{"{\"a\":", "1}", ""}},
		{"cut@9", "", []string{"da", "ta: 1\n\n"}, []string{"", "data: 1\n\n", ""}},
		{"no-terminator", "", []string{"data: 1\n\n", ": c\n\n", "data: [DONE]\n\n"}, []string{"", "", "", "data: 1\n\n: c\n\n"}},
		{"repeat", "", []string{"\x00\x00\x00", awsMessage[3:], awsMessage}, []string{"", awsMessage + awsMessage, awsMessage + awsMessage, ""}},
		{"repeat", "", []string{awsMessage[:13], awsMessage[13:] + awsMessage}, []string{"", strings.Repeat(awsMessage, 4), ""}},
		{"cut@9", "", []string{"{" + strings.Repeat(" ", startSize)}, []string{"{" + strings.Repeat(" ", startSize), ""}},
		{"cut@9", "", []string{"\x00\x01", "\xff plain enough"}, []string{"", "\x00\x01\xff plain enough", ""}},
		{"cut@9", "", []string{"plain", " text"}, []string{"plain", " text", ""}},
	} {
		b := New(faults(t, c.fault), http.Header{"Content-Type": {c.kind}}, false)
		var got []string
		joined := func(list []OutChunk) {
			text := ""
			for _, p := range list {
				text += string(p.Data)
			}
			got = append(got, text)
		}
		for _, chunk := range c.chunks {
			joined(b.Write([]byte(chunk), 0))
		}
		last, _ := b.Close()
		if joined(last); !slices.Equal(got, c.want) {
			t.Errorf("%s of %q: %q, want %q", c.fault, c.chunks, got, c.want)
		}
	}
}

// awsMessage is a message of the AWS event stream encoding without headers or payload.
const awsMessage = "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"

// TestMessages checks that a WebSocket message is an event, and is never split or joined to another message.
func TestMessages(t *testing.T) {
	created, delta, done := `{"type":"response.created"}`, `{"type":"response.function_call_arguments.delta","delta":"{\"a\""}`, `{"type":"response.completed"}`
	for words, want := range map[string][]string{
		"cut@2":         {created, delta},
		"no-terminator": {created, delta},
		"bad-args":      {created, strings.Replace(delta, `"{\"`, `"\"`, 1), done},
		"empty-args":    {created, strings.Replace(delta, `"{\"a\""`, `""`, 1), done},
		"repeat":        {created, created, delta, delta, done, done},
	} {
		b := NewMessages(faults(t, words))
		_, pieces, unfit := sent(b, created, delta, done)
		if !slices.Equal(pieces, want) || unfit != nil || b.BreaksHere() != strings.HasPrefix(words, "cut") {
			t.Errorf("%s: %q, %v", words, pieces, unfit)
		}
	}
}

// TestPieces checks the bytes of each output chunk and the pause before it, and that the body is unchanged.
func TestPieces(t *testing.T) {
	const one, two, comment, done = "data: 1\n\n", "data: 22\n\n", ": c\n\n", "data: [DONE]\n\n"
	const args = "event: x\r\ndata: {\"type\":\"function_call\",\"arguments\":\"{}\"}\r\rid: 1\rdata: 2\n\n"
	for _, c := range []struct {
		words        string
		chunks, want []string
		fits         bool
	}{
		{"split", []string{"ab", "c"}, []string{"a", "b", "c"}, true},
		{"repeat", []string{one + comment + two}, []string{one + one + comment + two + two}, true},
		{"delay=1s", []string{one + comment + two}, []string{"1s " + one + comment, "1s " + two}, true},
		{"no-terminator", []string{one, two, done, comment}, []string{one, two, comment}, true},
		{"no-terminator cut@1", []string{one, two, done}, []string{one}, true},
		{"cut-inside@2", []string{one + two[:2], two[2:] + one}, []string{one, two[:2], two[2:5]}, true},
		{"bad-args", []string{args}, []string{strings.Replace(args, "{}", "}", 1)}, true},
		{"bad-args", []string{one + one}, []string{one + one}, false},
		{"bad-utf8", []string{`{"content":{"parts":[1]},"text":"7ab"}`}, []string{`{"content":{"parts":[1]},"text":"7` + "\xff" + `b"}`}, true},
	} {
		b := New(faults(t, strings.Fields(c.words)...), nil, false)
		var list []OutChunk
		var bodies [][]byte
		for _, chunk := range c.chunks {
			bodies = append(bodies, []byte(chunk))
			list = append(list, b.Write(bodies[len(bodies)-1], 0)...)
		}
		last, unfit := b.Close()
		var got []string
		for _, p := range append(list, last...) {
			piece := string(p.Data)
			if p.Pause > 0 {
				piece = p.Pause.String() + " " + piece
			}
			got = append(got, piece)
		}
		if !slices.Equal(got, c.want) || (unfit == nil) != c.fits {
			t.Errorf("%s of %q: %q, %v\nwant %q", c.words, c.chunks, got, unfit, c.want)
		}
		if !slices.EqualFunc(bodies, c.chunks, func(p []byte, was string) bool { return string(p) == was }) {
			t.Errorf("%s: the body became %q", c.words, bodies)
		}
	}
}

// TestBadArgs checks that arguments that are sent as text become invalid JSON, wherever they are repeated.
// Arguments that are objects can't be made invalid in this way.
func TestBadArgs(t *testing.T) {
	for body, want := range map[string]string{
		`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a"}}`:   `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"\"a"}}`,
		`{"type":"x","item":{"type":"function_call","arguments":"{}"},"tools":[{"arguments":"{}"}]}`: `{"type":"x","item":{"type":"function_call","arguments":"}"},"tools":[{"arguments":"{}"}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}`:                    `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"argument\u0073":"{"}}]}}]}`:               `{"choices":[{"delta":{"tool_calls":[{"function":{"argument\u0073":""}}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`:      "",
		`{"choices":[{"message":{"content":"{}"}}]}`:                                                 "",
	} {
		got, _, unfit := sent(New(faults(t, "bad-args"), nil, false), body)
		if want == "" {
			want = body
		}
		if got != want || (len(unfit) == 0) == (got == body) {
			t.Errorf("%s\nbecame %s, %v", body, got, unfit)
		}
	}
}

// TestSet checks that a fault for the first N responses counts only responses to which it applies, and that a fault
// for each Nth response counts all responses.
func TestSet(t *testing.T) {
	s := NewSet(faults(t, "cut@1x2", "repeat/2", "status=429/3"))
	var got []string
	for n := range 6 {
		line := ""
		if f := s.Refusal(); f != nil {
			line = f.String()
		} else {
			for _, f := range s.ForNext() {
				if line += f.String() + " "; n == 0 {
					s.GiveBack(f)
				}
			}
		}
		got = append(got, strings.TrimSpace(line))
	}
	if want := []string{"cut@1x2", "repeat/2 cut@1x2", "status=429/3", "cut@1x2", "repeat/2", "status=429/3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestIsAside checks which requests don't ask for a model's response.
func TestIsAside(t *testing.T) {
	for line, want := range map[string]bool{
		"POST /v1/messages": false, "POST /v1/messages/count_tokens": true, "GET /v1/models": true, "HEAD /": true, "OPTIONS /v1/responses": true,
		"POST /v1beta/models/g:streamGenerateContent": false, "POST /v1beta/models/g:countTokens": true, "POST /model/m/converse-stream": false,
	} {
		method, path, _ := strings.Cut(line, " ")
		if got := IsAside(httptest.NewRequest(method, path, nil)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
	r := httptest.NewRequest("GET", "/v1/responses", nil)
	r.Header.Set("Upgrade", "WebSocket")
	if IsAside(r) {
		t.Error("a WebSocket is one")
	}
}

// TestParseFaults checks that every fault in the table can be parsed from its example, and that an error lists
// the faults.
func TestParseFaults(t *testing.T) {
	for i, k := range kinds {
		word := k.example
		if word == "" {
			word = k.name
		}
		f, err := ParseFaults(word)
		if err != nil || f[0].String() != word || !f[0].Is(k.name) || f[0].orderIndex() != i {
			t.Errorf("%s: %v, %v", word, f, err)
		}
		if listed := Faults()[i]; listed[0] != k.name+k.arg || listed[1] == "" {
			t.Errorf("listed as %q", listed)
		}
	}
	for words, want := range map[string]string{
		"":                  "unknown fault \"\"\nuse one of status=CODE, empty-args, bad-args, merge-index, bad-utf8, no-terminator, repeat, cut@N, cut-inside@N, delay=TIME, split",
		"cat@3":             "unknown fault \"cat@3\"\nuse one of status=",
		"cut":               "\"cut\": N must be a whole number of at least 0\nuse cut@N, e.g. cut@3",
		"cut@x":             "\"cut@x\": N must",
		"cut=3":             "\"cut=3\": N must",
		"cut@-1":            "\"cut@-1\": N must",
		"cut-inside@0":      "\"cut-inside@0\": N must be a whole number of at least 1\nuse cut-inside@N, e.g. cut-inside@3",
		"cut-inside":        "\"cut-inside\": N must",
		"delay=3":           "\"delay=3\": TIME must be a number with a unit: ms, s or m\nuse delay=TIME, e.g. delay=250ms",
		"delay=-1s":         "\"delay=-1s\": TIME",
		"delay":             "\"delay\": TIME",
		"status":            "\"status\": CODE must be a status from 400 to 599\nuse status=CODE, e.g. status=429",
		"status=200":        "\"status=200\": CODE",
		"status=429x0":      "\"status=429x0\": in xN, N must be a whole number of at least 1\nuse status=CODE, e.g. status=429",
		"status=429x":       "\"status=429x\": CODE must",
		"split@3":           "\"split@3\": split takes no value",
		"split/0":           "\"split/0\": in /N, N must be a whole number of at least 1\nuse split, e.g. split",
		"cut@1 split cut@2": "\"cut@2\": cut appears twice",
	} {
		list := strings.Fields(words)
		if words == "" {
			list = []string{""}
		}
		if _, err := ParseFaults(list...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", words, err, want)
		}
	}
}

// FuzzInjector checks that all bytes of a body are forwarded in order, however the body is split into chunks. Whatever
// the faults are, nothing panics and the input body doesn't change.
func FuzzInjector(f *testing.F) {
	bodies := []string{
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"{\"}}]}}]}\n\n: c\n\ndata: [DONE]\n\n",
		"event: message_stop\r\ndata: {}\r\n\r\n", "{\"a\":1}\n{\"done\":true}\n", awsMessage + awsMessage, `[{"text":"a"}]`, "", "\r", "data", "{}\n{\n",
	}
	for _, body := range bodies {
		f.Add([]byte(body), uint8(3), "merge-index")
		f.Add([]byte(body), uint8(200), "cut-inside@2 repeat")
		f.Add([]byte(body), uint8(7), "empty-args bad-args no-terminator bad-utf8 split delay=1ms")
	}
	f.Fuzz(func(t *testing.T, body []byte, size uint8, words string) {
		pass := func(faults []Fault) string {
			b := New(faults, nil, false)
			var out []byte
			for chunk := range slices.Chunk(body, int(size)+1) {
				for _, p := range b.Write(chunk, 0) {
					out = append(out, p.Data...)
				}
			}
			last, _ := b.Close()
			for _, p := range last {
				out = append(out, p.Data...)
			}
			return string(out)
		}
		was := string(body)
		if got := pass(nil); got != was {
			t.Fatalf("%q became %q", was, got)
		}
		if got := pass(faults(t, "cut@65000", "merge-index/1")[:1]); got != was {
			t.Fatalf("%q became %q", was, got)
		}
		if bending, err := ParseFaults(strings.Fields(words)...); err == nil {
			pass(bending)
		}
		if string(body) != was {
			t.Fatal("the recording changed")
		}
	})
}

// FuzzRewrite checks that values are found where encoding/json finds them, and that values that are not
// replaced keep their bytes.
func FuzzRewrite(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"\"]}"}],"c":null}`, ` [ -1.5e3 , [] , {} ] `, `{"\u0061\\":{"":true}}`, `"x"`, `{"a":1,"a":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if same, changed := rewriteText(text, func(_ []string, value, _ []byte) []byte { return nil }); changed || !bytes.Equal(same, text) {
			t.Fatalf("%q became %q", text, same)
		}
		same, _ := rewriteText(text, func(_ []string, value, _ []byte) []byte {
			if !json.Valid(value) || len(bytes.TrimSpace(value)) != len(value) {
				t.Fatalf("%q has no value %q", text, value)
			}
			return nil
		})
		if nulls, changed := rewriteText(text, func(_ []string, _, _ []byte) []byte { return []byte("null") }); changed {
			var was, is any
			if json.Unmarshal(text, &was) == nil && (json.Unmarshal(nulls, &is) != nil || !hollow(was, is)) {
				t.Fatalf("%q became %q", text, nulls)
			}
		}
		if utf8.Valid(text) != utf8.Valid(same) {
			t.Fatal("bytes changed")
		}
	})
}

// hollow reports whether the second value has the same fields as the first, all of them null.
func hollow(was, is any) bool {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		for key := range was {
			ok = ok && is[key] == nil
		}
		return ok && len(is) == len(was)
	case []any:
		is, ok := is.([]any)
		return ok && len(is) == len(was) && !slices.ContainsFunc(is, func(v any) bool { return v != nil })
	}
	return false
}

// TestFaultValues checks the values of faults, and that only a status is a refusal.
func TestFaultValues(t *testing.T) {
	for word, want := range map[string]Fault{
		"delay=250ms": {pause: 250 * time.Millisecond}, "status=503": {n: 503}, "cut@0": {}, "cut-inside@2x3": {n: 2, times: 3}, "cut@1/4": {n: 1, every: 4},
	} {
		f := faults(t, word)[0]
		if got := (Fault{n: f.n, times: f.times, every: f.every, pause: f.pause}); got != want {
			t.Errorf("%s: %#v, want %#v", word, got, want)
		}
		if refusal := NewSet([]Fault{f}).Refusal(); (refusal != nil) != f.Is("status") {
			t.Errorf("%s: the refusal is %v", word, refusal)
		}
	}
}

// TestEachLine checks the lines of server-sent events with each kind of line break.
func TestEachLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a@1", "a\nb\n": "a@2 b@4", "a\r\nb\r\n\r\n": "a@3 b@6 @8", "a\r\rb": "a@2 @3 b@4", "a\n\rb\r": "a@2 @3 b@5",
	} {
		var got []string
		for line, end := range eachLine([]byte(text)) {
			got = append(got, fmt.Sprintf("%s@%d", line, end))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
