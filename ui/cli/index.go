package cli

import (
	"bytes"
	"strings"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
)

// indexer builds the lines of calls for a hub's index while a capture arrives. They are the lines of print.
type indexer struct {
	in    *providers.Inspector
	q     *turnPrinter
	calls []fleet.Call
}

// newIndexers returns a function that makes an indexer for a capture. Indexers decode with the flags for
// reading.
func (a *app) newIndexers() (func(string) fleet.Indexer, error) {
	prepare, err := a.reading.inspectorSetup()
	if err != nil {
		return nil, err
	}
	return func(file string) fleet.Indexer {
		x := &indexer{in: new(providers.Inspector)}
		prepare(x.in)
		x.q = newTurnPrinter(x.in, file, x)
		return x
	}, nil
}

// Write takes a record. A call's line doesn't depend on how the bytes are divided into records.
func (x *indexer) Write(r capture.Record) {
	x.in.MakeRoom()
	x.in.Write(coreRecord(r))
	_ = x.q.printEnded(false) // writes to memory, which can't fail
}

// Calls returns the calls of turns that ended since the last call of Calls. all ends the open turns.
func (x *indexer) Calls(all bool) []fleet.Call {
	if all {
		x.in.Close()
		_ = x.q.printEnded(true)
	}
	calls := x.calls
	x.calls = nil
	return calls
}

// Holds reports whether Calls has calls to return.
func (x *indexer) Holds() bool { return len(x.q.ended) > 0 }

// addTurn makes the lines of a turn's calls.
func (x *indexer) addTurn(v *providers.View, file string, t *stream.Turn) {
	calls, _ := wireCalls(t)
	for _, c := range calls {
		var line bytes.Buffer
		p := jsonPrinter{lineWriter: lineWriter{&line}}
		p.writeCall(v, file, t, c)
		x.calls = append(x.calls, fleet.Call{Exchange: t.Exchange, Model: t.Model, Status: c.Status().String(), Line: line.Bytes()})
	}
}

func (x *indexer) sentBack([]sentBackCall) {}
func (x *indexer) flush() error            { return nil }

// reportIndex reports what the hub's index lacks.
func (p *hubPublisher) reportIndex(a *app) {
	s := p.Progress().Index
	if s.Why == "" {
		return
	}
	what := nonEmpty([]string{
		textIf(s.Calls > 0, count.Of(s.Calls, "call")),
		textIf(s.Bytes > 0, "the calls in "+count.Of(s.Bytes, "byte")),
	})
	why, how, _ := strings.Cut(s.Why, "\n")
	a.printNote("--publish: the hub's index lacks %s: %s", strings.Join(what, " and "), why)
	if how != "" {
		a.printNote("%s", how)
	}
}
