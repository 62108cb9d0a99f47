package proxy

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"testing"
)

func TestSetMarks(t *testing.T) {
	for to, want := range map[string]bool{
		"http://127.0.0.1:80": true, "http://localhost": true, "http://[::1]:8": true, "http://0.0.0.0:8": true, "http://[::]:8": true, "http://a.localhost": true,
		"https://127.0.0.1:443": false, "http://api.example.com": false, "https://api.example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false,
	} {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{"Connection": {"Upgrade"}, "A": {"b"}}
		SetMarks(h, u, []string{"x", "y"})
		if _, set := h[markField]; set != want {
			t.Errorf("%s: %v", to, h)
		}
		if marks := TakeMarks(h); want != slices.Equal(marks, []string{"x", "y"}) || !reflect.DeepEqual(h, http.Header{"Connection": {"Upgrade"}, "A": {"b"}}) {
			t.Errorf("%s: took %q, left %v", to, marks, h)
		}
	}
}

func TestTakeMarks(t *testing.T) {
	for _, test := range []struct {
		header http.Header
		marks  []string
		rest   http.Header
	}{
		{http.Header{"Connection": {"close"}}, nil, http.Header{"Connection": {"close"}}},
		{http.Header{markField: {"x"}, "Connection": {markField}}, []string{"x"}, http.Header{}},
		{http.Header{markField: {"x,y", " z"}}, []string{"x", "y", "z"}, http.Header{}},
		{http.Header{markField: {"x"}, "Connection": {"keep-alive", "toolscope-via"}}, []string{"x"}, http.Header{"Connection": {"keep-alive"}}},
	} {
		if marks := TakeMarks(test.header); !slices.Equal(marks, test.marks) || !reflect.DeepEqual(test.header, test.rest) {
			t.Errorf("took %q, left %v; want %q, %v", marks, test.header, test.marks, test.rest)
		}
	}
	if first, second := NewMark(), NewMark(); first == second {
		t.Error("two servers have the same mark")
	}
}
