package replay

import (
	"testing"
)

func TestJoined(t *testing.T) {
	for want, messages := range map[string][]string{"": nil, `{"a":1}`: {`{"a":1}`}, "[1,\n2]": {"1", "2"}} {
		var all [][]byte
		for _, m := range messages {
			all = append(all, []byte(m))
		}
		if got := string(joinMessages(all)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
