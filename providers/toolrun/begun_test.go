package toolrun

import "testing"

// TestBegun checks that a JSON string is recognised as the beginning of the model's arguments, with the right size.
func TestBegun(t *testing.T) {
	const wrote = `{"a":"\u00e9"}`
	for got, want := range map[string]int{`"{\"a"`: 3, `""`: 0, `"{\"a\":\"\\u00"`: 10, `"{'a"`: -1, `{"a":1}`: -1, `"{\"a\":\"\\u00e9\"}"`: -1, `7`: -1} {
		size, ok := prefixLen([]byte(wrote), []byte(got))
		if ok != (want >= 0) || ok && size != want {
			t.Errorf("%s of %s: %d, %v", got, wrote, size, ok)
		}
	}
}
