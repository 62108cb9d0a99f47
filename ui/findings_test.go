package ui

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/stream"
)

func TestFindingsPane(t *testing.T) {
	s := newScreen(t, 80, 24).feed(attack("\u202e")["anthropic"]...)
	for _, c := range []struct{ keys, want string }{
		{"3", "findings: HIDDEN_CHARACTERS, follows"},
		{"j", "findings: HIDDEN_CHARACTERS"}, // the finding's sentence
		{"j", "findings: SOURCE_NOTE"},       // about the turn; listed before the turn's error
		{"k", "findings: HIDDEN_CHARACTERS"},
		{"G", "findings: PROVIDER_ERROR"},
		{"g", "findings: HIDDEN_CHARACTERS"},
		{"h", "list: tool\u202eafter"},
	} {
		if got := s.press(c.keys).where(); got != c.want {
			t.Errorf("%q: got %s, want %s\n%s", c.keys, got, c.want, s.text())
		}
	}
}

// TestFindingsGrow checks that later findings are listed in the right place.
func TestFindingsGrow(t *testing.T) {
	find := func(code string, slot int32) stream.Event {
		found := (&stream.Diagnosis{Code: code}).Finding("%s", stream.Own(code))
		return stream.Event{Kind: stream.Found, Slot: slot, What: &found}
	}
	s, _ := liveScreen(t)
	s.resize(80, 60).press("g3").shows("nothing unusual")
	slot := s.in.Session().Turns[0].Calls[0].Slot
	for _, c := range []struct {
		code string
		slot int32
		want string
	}{
		{"TURN_ONE", stream.NoSlot, "TURN_ONE"}, {"CALL_ONE", slot, "CALL_ONE TURN_ONE"}, {"TURN_TWO", stream.NoSlot, "CALL_ONE TURN_ONE TURN_TWO"},
		{"CALL_TWO", slot, "CALL_ONE CALL_TWO TURN_ONE TURN_TWO"},
	} {
		s.in.Timeline.Append(find(c.code, c.slot))
		s.feed(ping)
		var got []string
		for _, word := range strings.Fields(s.text()) {
			if (strings.HasPrefix(word, "CALL_") || strings.HasPrefix(word, "TURN_")) && !strings.HasSuffix(word, ".") { // not part of the callout
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("after %s: %v", c.code, got)
		}
	}
	for range 500 {
		s.in.Timeline.Append(find("MORE", stream.NoSlot))
	}
	if s.feed(ping).press("G").shows("Findings 504", "and 4 more"); s.press("<enter>").focus != s.findings {
		t.Error("the line about the rest leads to", s.where())
	}
}

// TestSchema checks that before the first byte, the tool's schema is shown as far as it fits, and that
// missing arguments are marked and have a finding.
func TestSchema(t *testing.T) {
	request := `{"tools":[{"type":"function","function":{"name":"get","parameters":{"required":["city"],
		"properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string"}}}}}]}`
	body := `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",` +
		`"function":{"name":"get","arguments":"{\"city\":\"Oslo\",\"days\":\"3"}}]},"finish_reason":null}]}` + "\n\n"
	records := []stream.Record{{Request: true, Data: []byte(request)}, {Data: []byte(body)}}
	opened := strings.Replace(body, `{\"city\":\"Oslo\",\"days\":\"3`, "", 1)
	waiting := []stream.Record{records[0], {Data: []byte(opened)}}
	newScreen(t, 250, 30).feed(waiting...).shows("no argument bytes yet; the schema needs city string, days integer?, unit string?")
	newScreen(t, 100, 24).feed(waiting...).shows("the schema needs city")
	newScreen(t, 250, 30).feed(records...).shows(`"days": "3█  Δ1 want integer`, "[Findings 1]").hides("the schema needs city")
	newScreen(t, 24, 24).feed(records...)
	given := func(o *Options) { o.Prepare = func(in *providers.Inspector) { in.Request = []byte(request) } }
	newScreen(t, 160, 30, given).feed(waiting[1]).shows("the schema needs city")
	newScreen(t, 160, 30).feed(waiting[1]).shows("no argument bytes yet").hides("the schema allows")
}
