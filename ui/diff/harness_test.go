package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

// source builds turns from the wire data that a test writes.
type source struct {
	in    providers.Inspector
	open  map[int]bool
	slots map[int]int
	now   time.Duration
}

func newSource() *source { return &source{open: map[int]bool{}, slots: map[int]int{}} }

func (s *source) event(exchange int, format string, args ...any) {
	s.now += 10 * time.Millisecond
	s.in.Write(stream.Record{Exchange: exchange, At: s.now, Data: []byte("data: " + fmt.Sprintf(format, args...) + "\n\n")})
}

// call adds a call to a turn. If args ends in …, the arguments are unfinished.
func (s *source) call(exchange int, name, args string) {
	if !s.open[exchange] {
		s.open[exchange] = true
		s.event(exchange, `{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m%[1]d","content":[]}}`, exchange)
	}
	slot := s.slots[exchange]
	s.slots[exchange]++
	args, growing := strings.CutSuffix(args, "…")
	s.event(exchange, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t_%d_%d","name":%q,"input":{}}}`, slot, exchange, slot, name)
	s.event(exchange, `{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, slot, quoted(args))
	if !growing {
		s.event(exchange, `{"type":"content_block_stop","index":%d}`, slot)
	}
}

func (s *source) end(exchanges ...int) {
	for _, x := range exchanges {
		s.event(x, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`)
		s.event(x, `{"type":"message_stop"}`)
	}
}

// quoted returns text as a JSON string.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// members returns calls with the given arguments, and their compared fields.
func members(t *testing.T, args ...string) ([]*stream.Call, []Row) {
	t.Helper()
	s := newSource()
	for i, a := range args {
		if a != "-" {
			s.call(i+1, "tool", a)
		}
	}
	calls := make([]*stream.Call, len(args))
	for _, turn := range s.in.Session().Turns {
		calls[turn.Exchange-1] = turn.Calls[0]
	}
	rows, _ := CompareArgs(argsOf(calls), 0, make([]bool, len(args)))
	return calls, rows
}

// picture returns the comparison of a source's turns. A turn counts as ended if the source has reported its end.
func (s *source) picture(names ...string) *Comparison {
	p := &Comparison{}
	turns := make([]*stream.Turn, len(names))
	for i, name := range names {
		for _, t := range s.in.Session().Turns {
			if t.Exchange == i+1 {
				turns[i] = t
			}
		}
		side := Side{Name: name, Turn: turns[i], Took: stream.NoTime}
		if t := turns[i]; t != nil {
			side.Over, side.Took = t.Closed(), TimesOf(s.in.View(), t).End
		}
		p.Sides = append(p.Sides, side)
	}
	lists, named := Calls(turns, ArgsHash)
	coming := make([]bool, len(names))
	for i := range coming {
		coming[i] = !p.Sides[i].Over
	}
	for _, at := range Align(named, 0) {
		set := CallSet{Calls: make([]*stream.Call, len(names))}
		for i, n := range at {
			if n >= 0 {
				set.Calls[i] = lists[i][n]
			}
		}
		set.Rows, set.Sums = CompareArgs(argsOf(set.Calls), 0, coming)
		p.Sets = append(p.Sets, set)
	}
	return p
}

// argsOf returns the arguments of calls, without their lexers.
func argsOf(calls []*stream.Call) []*Args {
	all := make([]*Args, len(calls))
	for i, c := range calls {
		all[i] = ArgsOf(c).Snapshot()
	}
	return all
}
