package json

import (
	"fmt"
)

// A value that is cut off ends where the text ends.
func ExampleValueEnd() {
	for _, text := range []string{`{"a":[1,2]} and more`, `"Oslo", 3`, `{"a":[1,`} {
		n := ValueEnd([]byte(text))
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
		content, n, closed := ReadString(nil, []byte(text))
		fmt.Printf("%s %d %t\n", content, n, closed)
	}
	// Output:
	// café 11 true
	// caf 8 false
}
