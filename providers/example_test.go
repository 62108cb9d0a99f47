package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// exampleProtocol is a complete protocol with three kinds of frames: call, args and end. Copy it to start a
// new protocol.
var exampleProtocol = protocol.Protocol{
	Name:  "example",
	Title: "Example",
	Sniff: func(e protocol.SniffInput) (score protocol.SniffScore) {
		switch string(json.Value(e.Data).Get("example").Word()) {
		case "call", "args", "end":
			return protocol.SniffScore{Points: protocol.Sure, Why: "the field example"}
		}
		return score
	},
	New: newExampleDecoder,
}

// exampleDecoder reads the frames of one response.
type exampleDecoder struct {
	*protocol.Out
	turn                 *protocol.Turn
	shape                *json.Shape
	kind, id, name, args json.Value
}

func newExampleDecoder(o *protocol.Out) protocol.Decoder {
	d := &exampleDecoder{Out: o}
	d.shape = json.ShapeOf(
		json.Field("example", &d.kind),
		json.Field("id", &d.id),
		json.Field("name", &d.name),
		json.Field("args", &d.args))
	return d
}

// Frame reads one frame: an SSE event, or a line.
func (d *exampleDecoder) Frame(f stream.Frame) error {
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

// Close ends the turn if the stream stopped without its terminator.
func (d *exampleDecoder) Close() { d.turn.Cut("the stream ended without end") }

// ensureTurn returns the open turn. If there is none, it opens a turn.
func (d *exampleDecoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{})
	}
	return d.turn
}

const exampleWire = `{"example":"call","id":"c1","name":"weather"}
{"example":"args","args":"{\"city\":"}
{"example":"args","args":"\"Oslo\"}"}
{"example":"end"}
`

// Example_protocol decodes a stream of exampleProtocol, once complete and once cut off.
func Example_protocol() {
	for _, frames := range []int{4, 2} {
		var in Inspector
		in.ForceProtocol(&exampleProtocol)
		lines := strings.SplitAfter(exampleWire, "\n")
		in.Write(stream.Record{Data: []byte(strings.Join(lines[:frames], ""))})
		in.Close()
		for _, t := range in.Session().Turns {
			for _, c := range t.Calls {
				fmt.Printf("%s %s %s %s\n", c.ID, c.Name, c.Args(), c.Status())
			}
		}
	}
	// Output:
	// c1 weather {"city":"Oslo"} complete
	// c1 weather {"city": aborted
}

// TestExampleConforms checks the example in the same way as every other protocol.
func TestExampleConforms(t *testing.T) {
	was := All
	All = append(slices.Clip(All), exampleProtocol)
	defer func() { All = was }()
	checkConformance(t, fixture{name: "example", dialect: &exampleProtocol, wire: []byte(exampleWire)})
}
