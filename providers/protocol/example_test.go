package protocol_test

import (
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads a protocol of three frame types: call, args and end.
type decoder struct {
	*protocol.Out
	turn                 *protocol.Turn
	shape                *protocol.Shape
	kind, id, name, args protocol.Raw
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	d := &decoder{Out: o}
	d.shape = protocol.ShapeOf(
		protocol.Value("type", &d.kind),
		protocol.Value("id", &d.id),
		protocol.Value("name", &d.name),
		protocol.Value("args", &d.args))
	return d
}

func (d *decoder) Frame(f stream.Frame) error {
	if err := d.shape.Read(f.Data); err != nil {
		return err
	}
	switch string(d.kind.Word()) {
	case "call":
		d.ensureTurn().OpenCall(0, stream.CallInfo{ID: d.id.Text(), Name: d.name.Text()})
	case "args":
		d.ensureTurn().Call(0).Args(d.args)
	case "end":
		if d.turn.IsOpen() { // the terminator may come twice
			d.turn.Call(0).Seal()
			d.turn.End()
		}
	default:
		d.Unknown(d.kind.Text())
	}
	return nil
}

func (d *decoder) Close() { d.turn.Cut("the stream ended without end") }

// ensureTurn returns the open turn, and opens one if there is none.
func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{})
	}
	return d.turn
}

func Example() {
	var session stream.Session
	d := newDecoder(protocol.NewOut(session.Apply))
	for _, frame := range []string{
		`{"type":"call","id":"c1","name":"weather"}`,
		`{"type":"args","args":"{\"city\":\"Oslo\"}"}`,
		`{"type":"end"}`,
		`{"type":"end"}`,
	} {
		if err := d.Frame(stream.Frame{Data: []byte(frame)}); err != nil {
			fmt.Println(err)
		}
	}
	d.Close()
	for _, t := range session.Turns {
		for _, c := range t.Calls {
			fmt.Printf("%s %s %s %s\n", c.ID, c.Name, c.Args(), c.Status())
		}
	}
	// Output: c1 weather {"city":"Oslo"} complete
}
