package replay

import "testing"

// TestMended: what a parser that mends makes of the beginning of an object; what is whole, and what it
// makes no object of, stays.
func TestMended(t *testing.T) {
	for text, want := range map[string]string{
		`{"path": "/etc`: `{"path":"/etc"}`, `{"a":[1,{"b":tr`: `{"a":[1,{"b":true}]}`, `{"a":1,"b`: `{"a":1}`, `{"a":1,"b":`: `{"a":1}`,
		`{"a":-`: `{}`, `{"a":1.5e`: `{"a":1.5}`, `{"a":"x\`: `{"a":"x"}`, `{"a": 1 }`: `{"a": 1 }`, `{`: `{}`, `[1`: `[1`, `"x`: `"x`, ``: ``,
	} {
		if got := string(RepairPrefix([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
