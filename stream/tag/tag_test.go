package tag

import "testing"

func TestTag(t *testing.T) {
	of := Of("x-api-key", "8f3a")
	if of != "[redacted:x-api-key:8f3a]" || !IsIn("key "+of) || !IsIn([]byte(of)) || IsIn("[redacted]") || IsIn([]byte("redacted:")) {
		t.Error(of)
	}
}
