package openairesponses

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestManyItems checks that the cost of an event doesn't depend on the number of earlier items, no matter how the
// provider uses indexes and ids.
func TestManyItems(t *testing.T) {
	for name, host := range map[string]struct{ at, id, again string }{
		"as documented":       {`,"output_index":%d`, `"id":"fc_%d"`, `fc_%d`},
		"one index for all":   {`,"output_index":0`, `"id":"fc_%d"`, `fc_%d`},
		"no index":            {``, `"id":"fc_%d"`, `fc_%d`},
		"ids that change":     {`,"output_index":%d`, `"id":"a_%d"`, `b_%d`},
		"no ids":              {`,"output_index":%d`, `"id":""`, ``},
		"one id for all":      {`,"output_index":%d`, `"id":"fc"`, `fc`},
		"one of each for all": {`,"output_index":0`, `"id":"fc"`, `fc`},
	} {
		t.Run(name, func(t *testing.T) {
			opened, sealed := 0, 0
			d := newDecoder(protocol.NewOut(func(e stream.Event) {
				switch e.Kind {
				case stream.CallOpen:
					opened++
				case stream.Seal:
					sealed++
				}
			})).(*decoder)
			feed := func(format string, args ...any) {
				data := []byte(fmt.Sprintf(format, args...))
				if err := d.Frame(stream.Frame{Data: data}); err != nil {
					t.Fatalf("%s: %v", data, err)
				}
			}
			number := func(format string, i int) string { return strings.ReplaceAll(format, "%d", strconv.Itoa(i)) }
			feed(`{"type":"response.created","response":{"id":"r","object":"response"}}`)
			const n = 40
			for i := range n {
				at, id, again := number(host.at, i), number(host.id, i), number(host.again, i)
				feed(`{"type":"response.output_item.added"%s,"item":{"type":"function_call",%s,"call_id":"c_%d","name":"f","arguments":""}}`, at, id, i)
				feed(`{"type":"response.function_call_arguments.delta"%s,"item_id":"%s","delta":"{}"}`, at, again)
				feed(`{"type":"response.output_item.done"%s,"item":{"type":"function_call",%s,"call_id":"c_%d","name":"f","arguments":"{}"}}`, at, id, i)
				items := &d.turns[0].items
				for k := range len(items.all) - 1 {
					items.all[k] = nil // code that reads this item after this point panics
				}
				for _, list := range items.at {
					hide(list)
				}
				for _, list := range items.byID {
					hide(list)
				}
			}
			if name != "one of each for all" && (opened != n || sealed != n) {
				t.Errorf("%d calls, %d sealed", opened, sealed)
			}
		})
	}
}

// hide replaces all items of a list with nil, except the first and the last.
func hide(list []*item) {
	for k := 1; k < len(list)-1; k++ {
		list[k] = nil
	}
}
