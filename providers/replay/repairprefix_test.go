package replay

import "testing"

// TestRepairPrefix checks that RepairPrefix completes the beginning of an object. A complete object, and a text without
// an object, must stay unchanged.
func TestRepairPrefix(t *testing.T) {
	for text, want := range map[string]string{
		`{"path": "/etc`: `{"path":"/etc"}`, `{"a":[1,{"b":tr`: `{"a":[1,{"b":true}]}`, `{"a":1,"b`: `{"a":1}`, `{"a":1,"b":`: `{"a":1}`,
		`{"a":-`: `{}`, `{"a":1.5e`: `{"a":1.5}`, `{"a":"x\`: `{"a":"x"}`, `{"a": 1 }`: `{"a": 1 }`, `{`: `{}`, `[1`: `[1`, `"x`: `"x`, ``: ``,
	} {
		if got := string(RepairPrefix([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
