package providers

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/stream"
)

// A load is traffic in which all exchanges have the same length. Their cost must not depend on the number of
// earlier exchanges.
type load struct {
	name     string
	protocol string
	window   int                   // number of calls in a request
	together int                   // number of exchanges in a conversation; 0 for all
	opening  func(talk int) string // the user's first text
	id       func(talk, n int) string
	sent     func(args string) string // the client's change to arguments; nil for none
}

func noID(int, int) string         { return "" }
func randomID(talk, n int) string  { return fmt.Sprintf("call_%08xZ%dq", talk*7919+n*104729, n) }
func counterID(_, n int) string    { return fmt.Sprintf("call_%d", n%2) }
func hiddenID(int, int) string     { return "toolu_0hidden1d2" }
func anOpening(talk int) string    { return fmt.Sprintf("Please do number %d.", talk) }
func sameOpening(int) string       { return "Please do it." }
func spaceless(args string) string { return strings.ReplaceAll(args, `": `, `":`) }

var loads = []load{
	{"conversation", "openai-chat", 20, 0, anOpening, randomID, nil},
	{"conversation, arguments rewritten", "anthropic", 20, 0, anOpening, randomID, spaceless},
	{"conversation without ids", "gemini", 20, 0, anOpening, noID, nil},
	{"conversation without ids, arguments rewritten", "gemini", 20, 0, anOpening, noID, spaceless},
	{"conversation with ids that are numbers", "openai-chat", 20, 0, anOpening, counterID, nil},
	{"conversation with one id", "anthropic", 20, 0, anOpening, hiddenID, nil},
	{"conversations", "openai-chat", 8, 8, anOpening, randomID, nil},
	{"conversations without ids", "gemini", 8, 8, anOpening, noID, nil},
	{"conversations that begin alike", "openai-chat", 8, 8, sameOpening, randomID, nil},
	{"conversations that begin alike, without ids", "gemini", 8, 8, sameOpening, noID, nil},
	{"conversations that begin alike, with ids that are numbers", "openai-chat", 8, 8, sameOpening, counterID, nil},
}

// exchange returns the request and the response of exchange n.
func (l *load) exchange(n int) (request []byte, response string) {
	to, err := FindTarget(l.protocol)
	if err != nil {
		panic(err)
	}
	talk, at := 0, n
	if l.together > 0 {
		talk, at = n/l.together, n%l.together
	}
	args := func(n int) string {
		return fmt.Sprintf(`{"path": "cmd/main_%05d.go", "talk": "%05d", "text": "%s"}`, n, talk, strings.Repeat("x = f(y) ", 10))
	}
	history := []protocol.Message{{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte(l.opening(talk))}}}}
	for i := max(0, at-l.window); i < at; i++ {
		sent := args(i)
		if l.sent != nil {
			sent = l.sent(sent)
		}
		history = append(history,
			protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{{Kind: protocol.CallPart, ID: l.id(talk, i), Name: "edit", ToolKind: "function", Form: to.Form, Args: []byte(sent)}}},
			protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.ResultPart, ID: l.id(talk, i), Name: "edit", Text: []byte(`"ok"`)}}})
	}
	a := agent{to: to}
	return historytest.Request(to, to.Encode(history)), a.response(protocol.Message{Parts: []protocol.Part{{Kind: protocol.CallPart, ID: l.id(talk, at), Name: "edit", Args: []byte(args(at))}}})
}

// records returns the records of exchange n.
func (l *load) records(n int) []stream.Record {
	request, response := l.exchange(n)
	return []stream.Record{{Exchange: n + 1, Request: true, Data: request}, {Exchange: n + 1, Data: []byte(response)}, {Exchange: n + 1, End: true}}
}

// run writes the load's exchanges whose numbers are at least from and less than end.
func (l *load) run(in *Inspector, from, end int) {
	for n := from; n < end; n++ {
		for _, r := range l.records(n) {
			in.Write(r)
		}
	}
}

// cost is the average cost of some exchanges.
type cost struct {
	took          time.Duration
	allocs, bytes uint64
}

// costs returns the cost of the exchanges between the numbers from and end, after all earlier exchanges.
func (l *load) costs(in *Inspector, from, end int) cost {
	l.run(in, len(in.exchanges), from)
	var records []stream.Record
	for n := from; n < end; n++ {
		records = append(records, l.records(n)...)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for _, r := range records {
		in.Write(r)
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	n := uint64(end - from)
	return cost{took / time.Duration(n), (after.Mallocs - before.Mallocs) / n, (after.TotalAlloc - before.TotalAlloc) / n}
}

// BenchmarkLoad compares the last of many exchanges with early ones.
func BenchmarkLoad(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				in := new(Inspector)
				early := l.costs(in, 100, 400)
				late := l.costs(in, 4200, 4500)
				b.ReportMetric(float64(early.took.Microseconds()), "early-us")
				b.ReportMetric(float64(late.took.Microseconds()), "late-us")
				b.ReportMetric(float64(late.took)/float64(early.took), "late/early")
				b.ReportMetric(float64(late.allocs)/float64(early.allocs), "allocs-late/early")
				b.ReportMetric(float64(late.bytes)/float64(early.bytes), "bytes-late/early")
			}
		})
	}
}
