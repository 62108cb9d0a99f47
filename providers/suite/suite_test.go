package suite

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

func loadCases(t *testing.T) []*Case {
	t.Helper()
	info, all, err := LoadCases()
	if err != nil {
		t.Fatal(err)
	}
	if info.Suite != 1 || info.Version == "" || len(all) < 140 {
		t.Fatalf("version %d of the form, %q, %d cases", info.Suite, info.Version, len(all))
	}
	return all
}

// TestCases checks that every case has the right form, and that every file belongs to a case.
func TestCases(t *testing.T) {
	used := map[string]bool{"cases/LICENSE": true}
	for _, c := range loadCases(t) {
		name := path.Join("cases", c.ID)
		used[name+".json"], used[path.Join("cases", c.Protocol, c.Stream)] = true, true
		if !strings.HasPrefix(c.ID, c.Protocol+"/") || !strings.HasPrefix(path.Join("cases", c.Protocol, c.Stream), name+".") || c.ContentType() == "" {
			t.Errorf("%s: the names of the protocol %s and the stream %s don't fit", c.ID, c.Protocol, c.Stream)
		}
		if _, err := fs.Stat(Files(), name+".json"); err != nil {
			t.Error(err)
		}
		if c.End != "close" && c.End != "reset" || len(c.Must) == 0 || len(c.Body) == 0 {
			t.Errorf("%s: end %q, %d outcomes in must, %d bytes", c.ID, c.End, len(c.Must), len(c.Body))
		}
		if !strings.HasSuffix(c.Reason, ".") || c.Source != Practice && !strings.HasPrefix(c.Source, "https://") {
			t.Errorf("%s: reason %q, source %q", c.ID, c.Reason, c.Source)
		}
		if len(c.MustNot) > 0 && c.Source == Practice && !c.HasTag(OffSpec) {
			t.Errorf("%s: an outcome that must not be needs a document, because the stream follows the rules", c.ID)
		}
		for _, tag := range c.Tags {
			if !slices.Contains([]string{OffSpec, Cut, Rare}, tag) {
				t.Errorf("%s: unknown tag %s", c.ID, tag)
			}
		}
		for _, chunking := range c.Chunkings() {
			if chunks := c.Chunks(chunking); !bytes.Equal(bytes.Join(chunks, nil), c.Body) || slices.ContainsFunc(chunks, func(p []byte) bool { return len(p) == 0 }) {
				t.Errorf("%s: the chunks with the chunking %s are not the stream", c.ID, chunking)
			}
		}
		c.checkSets(t)
	}
	err := fs.WalkDir(Files(), "cases", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !used[name] {
			t.Errorf("%s belongs to no case", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkSets checks that each outcome in a set gets the verdict of that set.
func (c *Case) checkSets(t *testing.T) {
	for want, set := range map[Verdict][]Outcome{Must: c.Must, May: c.May} {
		for _, o := range set {
			if o.Harm != "" {
				t.Errorf("%s: a harm is permitted", c.ID)
			}
			if v, _, why := c.JudgeAnswer(answerOf(&o)); v != want {
				t.Errorf("%s: %s is %v, want %v %s", c.ID, &o, v, want, why)
			}
		}
	}
	for _, o := range c.MustNot {
		if v, _, _ := c.JudgeAnswer(answerOf(&o)); o.Harm == "" && v != Wrong {
			t.Errorf("%s: %s is %v, want wrong", c.ID, &o, v)
		}
	}
}

// answerOf returns an answer with the given outcome.
func answerOf(o *Outcome) *Answer {
	a := &Answer{Calls: []AnswerCall{}}
	if o.Error {
		a.Error = new(string)
	}
	for _, call := range o.Calls {
		a.Calls = append(a.Calls, AnswerCall{Name: call.Name, Input: call.Value})
	}
	return a
}

// readAnswer reads an answer that is written without its id.
func readAnswer(t *testing.T, text string) *Answer {
	t.Helper()
	_, a, err := ReadAnswer([]byte(`{"id":"x",` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestUsable checks which calls are usable.
func TestUsable(t *testing.T) {
	for answer, want := range map[string]string{
		`"calls":[{"name":"note","arguments":"{\"text\":1}"}]`:                               `{"calls":[["note",{"text":1}]]}`,
		`"calls":[{"name":"note","input":{"text":1}}]`:                                       `{"calls":[["note",{"text":1}]]}`,
		`"calls":[{"name":"note","arguments":{"text":1}}]`:                                   `{"calls":[["note",{"text":1}]]}`,
		`"calls":[{"name":"note","arguments":"{\"text\":\"al"}]`:                             `{"calls":[]}`,
		`"calls":[{"name":"note","arguments":"{}{}"}]`:                                       `{"calls":[]}`,
		`"calls":[{"name":"tick","arguments":""}]`:                                           `{"calls":[]}`,
		`"calls":[{"name":"tick"}]`:                                                          `{"calls":[]}`,
		`"calls":[{"name":"tick","arguments":null}]`:                                         `{"calls":[["tick",null]]}`,
		`"calls":[{"name":"tick","input":{},"ok":false}]`:                                    `{"calls":[]}`,
		`"calls":[{"name":"tick","input":{},"ok":true}],"finish":"failed"`:                   `{"calls":[]}`,
		`"calls":[{"name":"tick","input":{}},{"name":"a\"b","input":[1]}],"finish":"length"`: `{"calls":[["tick",{}],["a\"b",[1]]]}`,
		`"error":""`: `{"error":true}`,
		`"calls":[{"name":"tick","input":{}}],"error":"cut"`: `{"error":true}`,
	} {
		if got := readAnswer(t, answer).Outcome().String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", answer, got, want)
		}
	}
}

// TestHarms checks that answers with each harm are recognised, and that answers that only resemble them are not.
func TestHarms(t *testing.T) {
	for _, test := range []struct {
		harm, answer string
		is           bool
	}{
		{"any", `"calls":[{"name":"tick","input":{}}]`, true},
		{"any", `"calls":[{"name":"tick","arguments":"{"}]`, false},
		{"any", `"error":"x"`, false},
		{"any-other", `"calls":[{"name":"tick","input":{"a":1}}]`, true},
		{"any-other", `"calls":[{"name":"tick","arguments":" {} "}]`, false},
		{"lost", `"calls":[]`, true},
		{"lost", `"calls":[{"name":"note","arguments":"{"}]`, false},
		{"joined", `"calls":[{"name":"note","arguments":"{\"a\":1}{\"b\":2}"}]`, true},
		{"joined", `"calls":[{"name":"note","arguments":"{\"a\":1} {\"b\":2} "}]`, true},
		{"joined", `"calls":[{"name":"note","arguments":"{\"a\":\"}{\"}"}]`, false},
		{"joined", `"calls":[{"name":"note","arguments":"{\"a\":1}{\"b\""}]`, false},
		{"null-word", `"calls":[{"name":"note","arguments":"null{\"a\":1}"}]`, true},
		{"null-word", `"calls":[{"name":"note","arguments":"{\"a\":1}null"}]`, true},
		{"null-word", `"calls":[{"name":"note","arguments":"{\"a\":null}"}]`, false},
		{"null-word", `"calls":[{"name":"note","arguments":"null"}]`, false},
		{"object-word", `"calls":[{"name":"note","arguments":"[object Object]"}]`, true},
		{"object-word", `"calls":[{"name":"note","arguments":"[\"object\"]"}]`, false},
		{"empty-slot", `"calls":[{"name":"","arguments":""}]`, true},
		{"empty-slot", `"calls":[]`, false},
		{"name-doubled", `"calls":[{"name":"notenote","input":{}}]`, true},
		{"name-doubled", `"calls":[{"name":"note","input":{}},{"name":"note","input":{}}]`, false},
	} {
		c := &Case{Must: []Outcome{{Calls: []Call{{"tick", []byte("{}")}}}}, MustNot: []Outcome{{Harm: test.harm}}}
		if v, _, _ := c.JudgeAnswer(readAnswer(t, test.answer)); v == Wrong != test.is {
			t.Errorf("%s, %s: %v", test.harm, test.answer, v)
		}
	}
}

// TestVerdicts checks the verdict on several answers to a case.
func TestVerdicts(t *testing.T) {
	c := &Case{Must: []Outcome{{Calls: []Call{{"note", []byte(`{"n":1}`)}}}}, May: []Outcome{{}}, MustNot: []Outcome{{Error: true}}}
	one, same, none, failed := `"calls":[{"name":"note","input":{"n":1}}]`, `"calls":[{"name":"note","arguments":"{\"n\":0,\"n\":1}"}]`, `"calls":[]`, `"error":"x"`
	for _, test := range []struct {
		answers []string
		want    Verdict
		why     string
	}{
		{[]string{one, same}, Must, ""},
		{[]string{none, none}, May, ""},
		{[]string{failed, failed}, Wrong, `{"error":true}`},
		{[]string{one, none}, Wrong, "a different outcome with the chunking half"},
		{[]string{`"calls":[{"name":"x","input":1}]`}, None, ""},
		{[]string{one, ""}, Wrong, "no answer with the chunking half"},
	} {
		r := &Result{Case: c}
		for i, text := range test.answers {
			x := ChunkedAnswer{Chunking: []string{"whole", "half"}[i]}
			if text != "" {
				x.Answer = readAnswer(t, text)
			}
			r.Answers = append(r.Answers, x)
		}
		if r.SetVerdict(); r.Verdict != test.want || r.Why != test.why {
			t.Errorf("%v: %v, %q, want %v, %q", test.answers, r.Verdict, r.Why, test.want, test.why)
		}
	}
}

// TestBadForms checks that invalid outcomes and answers are refused.
func TestBadForms(t *testing.T) {
	for _, text := range []string{`{}`, `{"calls":"anything"}`, `{"calls":[["note"]]}`, `{"calls":[[1,{}]]}`, `{"error":true,"calls":"any"}`} {
		if json.Unmarshal([]byte(text), new(Outcome)) == nil {
			t.Errorf("%s is an outcome", text)
		}
	}
	for _, text := range []string{``, `[]`, `{"calls":[]}`, `{"id":"x"}`, `{"id":1,"calls":[]}`, `{"id":"x","calls":{}}`, `{"id":"x","calls":[]}{`} {
		if _, _, err := ReadAnswer([]byte(text)); err == nil {
			t.Errorf("%s is an answer", text)
		}
	}
}

// TestSelect checks that patterns select the right cases, and that an unknown pattern is an error.
func TestSelect(t *testing.T) {
	all := loadCases(t)
	for _, test := range []struct {
		only, not []string
		is        func(*Case) bool
	}{
		{nil, nil, func(*Case) bool { return true }},
		{[]string{"anthropic"}, nil, func(c *Case) bool { return c.Protocol == "anthropic" }},
		{[]string{"*/one-call", "cut"}, []string{"gemini/*"}, func(c *Case) bool {
			return (strings.HasSuffix(c.ID, "/one-call") || c.HasTag(Cut)) && c.Protocol != "gemini"
		}},
		{nil, []string{OffSpec}, func(c *Case) bool { return !c.HasTag(OffSpec) }},
	} {
		got, err := SelectCases(all, test.only, test.not)
		want := slices.DeleteFunc(slices.Clone(all), func(c *Case) bool { return !test.is(c) })
		if err != nil || len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%v, %v: %d cases, want %d: %v", test.only, test.not, len(got), len(want), err)
		}
	}
	if _, err := SelectCases(all, nil, []string{"antropic"}); err == nil || !strings.Contains(err.Error(), "antropic") {
		t.Errorf("an unknown pattern: %v", err)
	}
}
