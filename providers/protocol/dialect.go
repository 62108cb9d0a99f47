// Package protocol is the kit that wire protocols are written with. A dialect is data: a struct of
// functions, in a folder of its own. Its wire structs are private to it; only events leave it.
//
// A Decoder reads with a Shape and speaks through an Out:
//
//   - Out makes the events of one exchange. It numbers the turns and knows which are open.
//   - Turn is one model response: Open begins it; Text, Think, Usage, Finish and End tell of it.
//   - Call is one call of a Turn: OpenCall begins it; Args, Seal, Reject and Answer tell of it.
//   - Shape is the members of a frame that mean something, bound once to the Raws they go to.
//   - Scanner walks JSON that no Shape fits; Raw is the exact bytes of one value.
//   - Target says how history is sent back by the protocol, and what its provider refuses.
//
// A Raw that is missing or of the wrong type reads as an empty one, and the session reports what no
// protocol allows. So a decoder says what it reads, in the order of the wire, and checks little:
// only that a turn is open before it tells of one.
//
// A protocol is added as one folder with one file, and one line in providers.All. The file has a
// function Dialect, which gives a name, a title, a Sniff that scores a frame, and New:
//
//	type decoder struct {
//		*dialect.Out
//		turn                 *dialect.Turn
//		shape                *dialect.Shape
//		kind, id, name, args dialect.Raw
//	}
//
//	func newDecoder(o *dialect.Out) dialect.Decoder {
//		d := &decoder{Out: o}
//		d.shape = dialect.ShapeOf(dialect.Value("type", &d.kind), dialect.Value("id", &d.id),
//			dialect.Value("name", &d.name), dialect.Value("args", &d.args))
//		return d
//	}
//
//	func (d *decoder) Frame(f stream.Frame) error {
//		if err := d.shape.Read(f.Data); err != nil {
//			return err
//		}
//		if !d.turn.IsOpen() {
//			d.turn = d.Open(stream.Opening{})
//		}
//		switch string(d.kind.Word()) {
//		case "call":
//			d.turn.OpenCall(0, stream.CallInfo{ID: d.id.Text(), Name: d.name.Text()})
//		case "args":
//			d.turn.Call(0).Args(d.args)
//		case "end":
//			d.turn.Call(0).Seal()
//			d.turn.End()
//		default:
//			d.Unknown(d.kind.Text())
//		}
//		return nil
//	}
//
//	func (d *decoder) Close() { d.turn.Cut("the stream ended without end") }
//
// The tests of providers then hold it to what is true of every protocol. Fixtures of its wire go
// into its testdata; fixture_test.go says how they are written.
package protocol

import (
	"bytes"

	"toolscope/stream"
)

// A Protocol is one wire protocol a tool call can arrive by.
type Protocol struct {
	Name          string // as in the machine contract: "anthropic", "openai-chat"
	Title         string // as people say it: "Anthropic Messages"
	Sniff         func(SniffInput) SniffScore
	New           func(*Out) Decoder
	ParallelTurns bool // several turns may be open at a time

	// Tools are the tools that a request declares; nil where the dialect has no requests.
	Tools func(request []byte) []Tool
	// Model is the model that a request asks for, "" where it does not say; nil where the response
	// tells the model.
	Model func(path string, request []byte) string
	// Findings are those that only this dialect makes.
	Findings []*stream.Diagnosis
	// Reads says how the history of a request is read, where none is ever written by this protocol:
	// only its Decode and its rules are used. It is nil where Targets say so.
	HistoryTarget *Target
	// Targets are where history can be sent by this protocol, first the provider it is named after;
	// none where the dialect has no requests.
	Targets []Target
}

// A Tool is one tool a request declares.
type Tool struct {
	Name        string
	Namespace   string // its namespace, where that is not part of Name
	Kind        string // function, custom, server, …: as a call of it would have
	Description string // what the model is told of it
	Schema      Raw    // of its arguments, as JSON Schema 2020-12; nil when the request has none
}

// SniffInput is what an exchange shows before it is decoded. Any part of it may be missing.
type SniffInput struct {
	Path   string              // of the request, "" when unknown
	Header map[string][]string // of the response, canonical names; nil when unknown
	Event  []byte              // SSE event type of a frame
	Data   []byte              // payload of that frame; empty when only the outside is known
}

// HeaderIs reports whether the response has that header (canonical name).
func (e SniffInput) HeaderIs(name string) bool { return len(e.Header[name]) > 0 }

// SniffScore is how sure a dialect is that the exchange is of its protocol, and why. The most points
// win; 0 is no claim.
type SniffScore struct {
	Points int
	Why    string
}

// Points for one piece of evidence, from hints to certainty.
const (
	Weak   = 10 // common to several protocols
	Likely = 40
	Strong = 70 // a path, or a name only this protocol uses
	Sure   = 100
)

// A Decoder reads the frames of one exchange and tells its Out what they say.
type Decoder interface {
	// Frame reads a data frame whose Data is one JSON text or a terminator. An error means that it
	// does not decode; nothing was said then.
	Frame(f stream.Frame) error
	// Close says that no more frames come.
	Close()
}

// IsDone reports whether data is [DONE], the word that ends a stream of Chat Completions and that
// gateways add to others. Some hosts put spaces round it.
func IsDone(data []byte) bool {
	return len(data) < 100 && string(bytes.TrimSpace(data)) == "[DONE]"
}
