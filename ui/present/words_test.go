package present

import "testing"

func TestShortURL(t *testing.T) {
	for url, want := range map[string]string{
		"": "", "http://h/v1/x?y=1": "/v1/x?y=1", "http://h": "http://h", "/v1": "/v1", "://": "://", "x://h/": "/",
	} {
		if got := shortURL(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}
