package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestHAR checks that an archive has all required values, and names the values that are unknown.
func TestHAR(t *testing.T) {
	text := HAR("1", []Exchange{
		{Method: "POST", URL: "https://h/v1?key=a&b=c", Status: 200, ResponseHeader: map[string][]string{"Content-Type": {"text/event-stream"}},
			RequestBody: []byte("{}"), ResponseBody: []byte("data: \x1b\n\n"), Start: time.Unix(1, 5e6), Wait: 20 * time.Millisecond, Receive: time.Millisecond},
		{ResponseBody: []byte("\xff")},
		{Status: 101, URL: "wss://h", Messages: []Message{{Sent: true, At: time.Unix(2, 5e8), Data: []byte("{}")}}},
	})
	if strings.ContainsRune(string(text), '\x1b') {
		t.Error("it is not clean")
	}
	var log harLog
	if err := json.Unmarshal(text, &log); err != nil || len(log.Log.Entries) != 3 {
		t.Fatal(err, len(log.Log.Entries))
	}
	all := log.Log.Entries
	if e := all[0]; e.Started != "1970-01-01T00:00:01.005Z" || e.Time != 21 || e.Request.Post.Text != "{}" || len(e.Request.Query) != 2 ||
		e.Response.Content.Text != "data: \x1b\n\n" || e.Response.Content.Type != "text/event-stream" || e.Comment != "" {
		t.Errorf("%+v", e)
	}
	if e := all[1]; e.Response.Content.Encoding != "base64" || e.Response.Content.Text != "/w==" || e.Comment != "unknown: times, request, status" {
		t.Errorf("%+v", e)
	}
	if m := all[2].Messages; len(m) != 1 || m[0].Type != "send" || m[0].Time != 2.5 || m[0].Opcode != 1 || m[0].Data != "{}" {
		t.Errorf("%+v", m)
	}
}
