package modes

import (
	"strings"
	"testing"
	"time"
)

// TestAsk stops at its limits, and reads one JSON text alone.
func TestAsk(t *testing.T) {
	code := func(expr string) answers {
		c, err := program(expr)
		if err != nil {
			t.Fatal(err)
		}
		return ask(c, []Asked{{Args: []byte(`{"a":12345678901234567890123,"b":[1,2]}`)}, {Args: []byte(`{"a":1} {"a":2}`)}, {Args: []byte(`{"a":`)}, {Gone: true}}, 300*time.Millisecond)
	}
	all := code(".a")
	if got := string(all.list[0].value); got != "12345678901234567890123" {
		t.Errorf("the number became %s", got)
	}
	if all.unparsed != 2 || all.gone != 1 || all.asked != 4 || all.list[1].why != "no JSON: something stands behind it" || all.list[2].why != "no JSON: it ends too early" {
		t.Errorf("%+v", all)
	}
	if all = code("range(1e9)"); len(all.list) != jqAnswers || all.stopped == "" {
		t.Errorf("%d answers, stopped: %q", len(all.list), all.stopped)
	}
	if all = code("last(repeat(1))"); !strings.Contains(all.stopped, "took longer") || all.asked != 1 {
		t.Errorf("%d asked, stopped: %q", all.asked, all.stopped)
	}
	if all = code("env, $ENV"); string(all.list[0].value) != "{}" || string(all.list[1].value) != "{}" {
		t.Errorf("it sees the system: %+v", all.list)
	}
	if all = code("empty, halt"); len(all.list) != 2 {
		t.Errorf("%+v", all.list)
	}
	if _, err := program(`import "x" as x; .`); err == nil {
		t.Error("it reads files")
	}
}
