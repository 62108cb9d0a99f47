package json_test

import (
	"fmt"

	"toolscope/stream/json"
)

// A value that is cut off ends where the text ends.
func ExampleValueEnd() {
	for _, text := range []string{`{"a":[1,2]} and more`, `"Oslo", 3`, `{"a":[1,`} {
		n := json.ValueEnd([]byte(text))
		fmt.Printf("%s\n", text[:n])
	}
	// Output:
	// {"a":[1,2]}
	// "Oslo"
	// {"a":[1,
}

// The content of a string that is still arriving stops before a half-finished escape.
func ExampleReadString() {
	for _, text := range []string{`"caf\u00e9"`, `"caf\u00`} {
		content, n, closed := json.ReadString(nil, []byte(text))
		fmt.Printf("%s %d %t\n", content, n, closed)
	}
	// Output:
	// café 11 true
	// caf 8 false
}

// After each write, the lexer reports the syntax of the text so far.
func ExampleLexer() {
	var lex json.Lexer
	for _, delta := range []string{`{"city":`, ` "Oslo"`, `}`, `{"city": `, `oops`} {
		lex.Write([]byte(delta))
		fmt.Println(lex.Syntax(), lex.Depth())
	}
	fmt.Println(lex.Err())
	// Output:
	// prefix 1
	// prefix 1
	// object 0
	// concat 1
	// trailing 1
	// byte 25: expected a value, got 'o'
}

// A shape reads the fields that a decoder uses, and validates everything else.
func ExampleShape() {
	var kind, text json.Value
	shape := json.ShapeOf(json.Field("type", &kind), json.Object("delta", json.Field("text", &text)))
	for _, frame := range []string{`{"type":"delta","delta":{"text":"Os\u006co"},"index":0}`, `{"type":"stop"}`, `{"type":"delta",}`} {
		if err := shape.Read([]byte(frame)); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s %q %t\n", kind.Word(), text.Text(), text.IsPresent())
	}
	// Output:
	// delta "Oslo" true
	// stop "" false
	// byte 16: expected a key, got '}'
}

// A scanner reads a complete text once, from front to back.
func ExampleScanner() {
	s := json.Scan([]byte(`{"name":"weather","tags":["a","b"],"n":2.0}`))
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "name":
			fmt.Println("name", s.Value().Text())
		case "tags":
			for ok := s.Array(); ok; ok = s.Element() {
				fmt.Println("tag", s.Value().Text())
			}
		case "n":
			fmt.Println(s.Value().Int())
		}
	}
	fmt.Println(s.End())
	// Output:
	// name weather
	// tag a
	// tag b
	// 2 true
	// <nil>
}

// A text that is cut off still has the fields before the cut.
func ExampleReadFields() {
	r := json.ReadFields([]byte(`{"model":"m-1","usage":{"in":5},"text":"Hel`))
	for r.Next() {
		value := r.Value()
		fmt.Printf("%s %s %t\n", r.Name(), value, r.Closed)
	}
	// Output:
	// model "m-1" true
	// usage {"in":5} true
	// text "Hel false
}

// Texts are the same if their values are, even if their spelling differs. A repeated field counts, except for readers
// that keep only the last.
func ExampleSameIn() {
	a, b := []byte(`{"n":9007199254740993,"a":1,"a":2}`), []byte(`{ "a": 2.0, "n": 9007199254740992 }`)
	fmt.Println(json.Same(a, b), json.SameIn(json.Parsed, a, b), json.SameIn(json.AsDouble, a, b))
	fmt.Println(json.Same([]byte(`9007199254740993`), []byte(`9007199254740993.0`)))
	// Output:
	// false false true
	// true
}

// A writer adds the punctuation between keys and values.
func ExampleWriter() {
	var w json.Writer
	w.Open('{').Member("role", "user").Key("content").Raw([]byte(`[1, 2]`)).MemberIfSet("name", "").Close('}')
	fmt.Printf("%s\n", w.Text)
	// Output: {"role":"user","content":[1, 2]}
}
