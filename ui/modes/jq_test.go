package modes

import (
	"strings"
	"testing"
	"time"

	"toolscope/ui/filter"
)

// TestAsk checks that a run stops at its limits, and reports the calls that could not be queried.
func TestAsk(t *testing.T) {
	of := func(expr string) answers {
		e, err := filter.ParseJQ(expr)
		if err != nil {
			t.Fatal(err)
		}
		return runJQ(e, []JQCall{{Args: []byte(`{"a":1}`)}, {Args: []byte(`{"a":1} {"a":2}`)}, {Args: []byte(`{"a":`)}, {Evicted: true}}, 300*time.Millisecond)
	}
	all := of(".a")
	if all.unparsed != 2 || all.evicted != 1 || all.queried != 4 || string(all.list[0].value) != "1" || all.list[1].why != "not JSON: more text follows the value" {
		t.Errorf("%+v", all)
	}
	if all = of("range(1e9)"); len(all.list) != maxJQAnswers || all.stopped == "" {
		t.Errorf("%d answers, stopped: %q", len(all.list), all.stopped)
	}
	if all = of("last(repeat(1))"); !strings.Contains(all.stopped, "took longer") || all.queried != 1 {
		t.Errorf("%d asked, stopped: %q", all.queried, all.stopped)
	}
}
