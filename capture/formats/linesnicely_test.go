package formats

import (
	"fmt"
	"strings"
	"testing"
)

// TestPrintedNicely: an event whose JSON stands in many lines, each a field data:, is one event, with
// whatever else is logged between them: lists of objects in it, too.
func TestPrintedNicely(t *testing.T) {
	var event []string
	add := func(lines ...string) {
		for _, line := range lines {
			event = append(event, "data: "+line)
		}
	}
	add(`{`, ` "type": "response.created",`, ` "sequence_number": 0,`, ` "response": {`, `  "id": "resp_a",`, `  "object": "response",`, `  "tools": [`)
	for n := range 60 {
		add(`   {`, fmt.Sprintf(`    "name": "tool_%d"`, n), `   },`)
	}
	add(`   {`, `    "name": "last"`, `   }`, `  ],`, `  "output": []`, ` }`, `}`)

	var log strings.Builder
	for n, line := range event {
		fmt.Fprintf(&log, "Jan  2 03:04:05 box api[1]: %s\n", line)
		fmt.Fprintf(&log, "Jan  2 03:04:05 box api[2]: data: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_b\",\"delta\":\"x\"}\n", n)
		fmt.Fprintf(&log, "Jan  2 03:04:05 box db[3]: checkpoint %d\n", n)
	}
	all, others := streamsOf(readLog(t, []byte(log.String()), 1<<20))
	var whole string
	for _, s := range all {
		if strings.Contains(s, "resp_a") {
			whole = s
		}
	}
	if !strings.Contains(whole, strings.Join(event, "\n")+"\n") || others != int64(len(event)) {
		t.Errorf("%d streams, %d other lines of %d:\n%s", len(all), others, len(event), whole)
	}
}
