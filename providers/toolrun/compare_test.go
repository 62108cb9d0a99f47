package toolrun

import "testing"

// TestSameArgs checks that arguments with the same value are treated as equal, even if only one capture is redacted.
func TestSameArgs(t *testing.T) {
	const tag, other = "[redacted:x-api-key:8f3a]", "[redacted:token:0001]"
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{``, `{}`, true},
		{`{"a":"1"}`, `{"a":1}`, false},
		{`{"k":"` + tag + `"}`, `{"k":"[redacted:x-api-key:1111]"}`, true},
		{`{"k":"` + tag + `"}`, `{"k":"` + other + `"}`, true},
		{`{"k":"` + tag + `"}`, `{"k":"hunter22"}`, true},
		{`{"k":"hunter22"}`, `{"k":"` + tag + `"}`, true},
		{`{"k":"a ` + tag + ` b"}`, `{"k":"a hunter22 b"}`, true},
		{`{"k":"a ` + tag + ` b"}`, `{"k":"a hunter22 c"}`, false},
		{`{"k":"a ` + tag + ` b"}`, `{"k":"c hunter22 b"}`, false},
		{`{"k":"` + tag + `","n":"1"}`, `{"k":"hunter22","n":1}`, false},
		{`{"k":["` + tag + `"]}`, `{"k":["hunter22"]}`, true},
		{`{"k":["` + tag + `"]}`, `{"k":["hunter22","x"]}`, false},
		{`{"k":"` + tag + `","n":1}`, `{"k":"hunter22","n":1}`, true},
		{`{"k":"` + tag + other + `"}`, `{"k":"hunter22hunter23"}`, true},
		{`{"k":"` + tag + `"}`, `{}`, false},
		{`{"k":"` + tag + `"}`, `{"k":1}`, false},
	} {
		if got := sameArgs([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}
