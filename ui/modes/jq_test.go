package modes

import (
	"strings"
	"testing"
	"time"

	"toolscope/ui/jq"
)

// TestAsk stops at its limits, and tells what could not be asked.
func TestAsk(t *testing.T) {
	of := func(expr string) answers {
		e, err := jq.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		return ask(e, []Asked{{Args: []byte(`{"a":1}`)}, {Args: []byte(`{"a":1} {"a":2}`)}, {Args: []byte(`{"a":`)}, {Gone: true}}, 300*time.Millisecond)
	}
	all := of(".a")
	if all.unparsed != 2 || all.gone != 1 || all.asked != 4 || string(all.list[0].value) != "1" || all.list[1].why != "no JSON: something stands behind it" {
		t.Errorf("%+v", all)
	}
	if all = of("range(1e9)"); len(all.list) != jqAnswers || all.stopped == "" {
		t.Errorf("%d answers, stopped: %q", len(all.list), all.stopped)
	}
	if all = of("last(repeat(1))"); !strings.Contains(all.stopped, "took longer") || all.asked != 1 {
		t.Errorf("%d asked, stopped: %q", all.asked, all.stopped)
	}
}
