package cohere

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

func TestModel(t *testing.T) {
	for request, want := range map[string]string{`{"model":"command-a","stream":true}`: "command-a", `{}`: "", "": ""} {
		if got := Protocol().Model("/v2/chat", []byte(request)); got != want {
			t.Errorf("%s: %q", request, got)
		}
	}
}

// TestErrorBody checks that a body that contains only an error message is recognised by its path and reported as a
// failure.
func TestErrorBody(t *testing.T) {
	body := []byte(`{"id":"e1","message":"invalid api token"}`)
	if got := sniffFrame(protocol.SniffInput{Data: body}); got.Points != 0 {
		t.Errorf("%+v", got)
	}
	if got := sniffFrame(protocol.SniffInput{Data: body, Path: "/v2/chat"}); got.Points != protocol.Strong {
		t.Errorf("%+v", got)
	}
	var got []stream.Event
	d := Protocol().New(protocol.NewOut(func(e stream.Event) { got = append(got, e) }))
	if err := d.Frame(stream.Frame{Data: body}); err != nil {
		t.Error(err)
	}
	d.Close()
	if len(got) != 3 || stream.PayloadOf[stream.Opening](got[0]).ID != "e1" || got[1].Kind != stream.Failure || got[1].Text != "invalid api token" || got[2].Code != stream.CloseCut {
		t.Errorf("%v", got)
	}
}

// TestErrorText checks that the text of an error next to a finish reason is found in a string, in an object with a
// message, and in any other object.
func TestErrorText(t *testing.T) {
	for _, test := range []struct{ wire, want string }{
		{`"too long"`, "too long"}, {`{"message":"too long"}`, "too long"}, {`{"code":1}`, `{"code":1}`},
	} {
		if got := errorText(json.Value(test.wire)); got != test.want {
			t.Errorf("%s: %q, want %q", test.wire, got, test.want)
		}
	}
}

// TestErrorEvent checks that an event of type error, as gateways send it, ends the stream.
func TestErrorEvent(t *testing.T) {
	var got []stream.Event
	d := Protocol().New(protocol.NewOut(func(e stream.Event) { got = append(got, e) }))
	for _, data := range []string{`{"type":"message-start","id":"g1","delta":{"message":{}}}`, `{"type":"error","message":"timed out"}`} {
		if err := d.Frame(stream.Frame{Data: []byte(data)}); err != nil {
			t.Error(err)
		}
	}
	if len(got) != 2 || got[1].Kind != stream.Failure || got[1].Text != "timed out" {
		t.Errorf("%v", got)
	}
}
