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

// indexer makes the lines of calls that a hub's index has: those of print, of what still arrives.
type indexer struct {
	in    *providers.Inspector
	q     *turnPrinter
	calls []fleet.Call
}

// newIndexers makes an indexer for each capture. They read it as the flags say that it is read here.
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

// Write takes a record. What a call's line has does not depend on how much comes at a time.
func (x *indexer) Write(r capture.Record) {
	x.in.MakeRoom()
	x.in.Write(coreRecord(r))
	_ = x.q.printEnded(false) // into memory
}

// Calls are those of turns that ended since it was asked last.
func (x *indexer) Calls(all bool) []fleet.Call {
	if all {
		x.in.Close()
		_ = x.q.printEnded(true)
	}
	calls := x.calls
	x.calls = nil
	return calls
}

// Holds reports whether a turn that has ended is not among them yet.
func (x *indexer) Holds() bool { return len(x.q.ended) > 0 }

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

// reportIndex says what the hub's index does not have.
func (p *hubPublisher) reportIndex(a *app) {
	s := p.Progress().Index
	if s.Why == "" {
		return
	}
	what := nonEmpty([]string{
		textIf(s.Calls > 0, count.Of(s.Calls, "call")),
		textIf(s.Bytes > 0, "what is in "+count.Of(s.Bytes, "byte")),
	})
	why, how, _ := strings.Cut(s.Why, "\n")
	a.printNote("--publish: the hub's index lacks %s: %s", strings.Join(what, " and "), why)
	if how != "" {
		a.printNote("%s", how)
	}
}
