package providers

import (
	"slices"
	"strconv"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// plainHTTP shows an exchange without a model: other requests of the client. Its bodies are shown but not
// interpreted.
var plainHTTP = protocol.Protocol{
	Name:  "http",
	Title: "plain HTTP",
	New:   func(o *protocol.Out) protocol.Decoder { return plainDecoder{o.OpenSilently()} },
}

type plainDecoder struct{ turn *protocol.Turn }

func (d plainDecoder) Frame(stream.Frame) error {
	d.turn.Unknown("")
	return nil
}

// Close leaves the turn open: the exchange ends it as HTTP does.
func (plainDecoder) Close() {}

// isPlain reports whether no model answers the request: its path shows that, or the server refused a
// WebSocket.
func (x *Exchange) isPlain() bool {
	if x.in.forcedFor(x.Number) != nil {
		return false
	}
	return x.requests.path != "" || x.requests.upgrades && slices.Contains(noWebSocket, x.Head.Status)
}

// noWebSocket are the status codes of servers without WebSockets.
var noWebSocket = []int{404, 405, 426, 501}

// AsksNothing reports whether the request contains nothing that a model could answer.
func (x *Exchange) AsksNothing() bool {
	return (x.Head.Method == "GET" || x.Head.Method == "DELETE") && !x.requests.upgrades && x.in.forcedFor(x.Number) == nil
}

// endPlain ends the turn of an exchange in which no model answers.
func (x *Exchange) endPlain() {
	if x.decoder == nil && x.why == "" && x.Head.Status != 0 && !x.own && (x.isPlain() || x.AsksNothing() && x.Head.Status < 400) {
		x.setProtocol(&plainHTTP, "method and path")
	}
	if x.Protocol != &plainHTTP {
		return
	}
	turn, code := x.lastTurn(), stream.FinishDone
	if x.Head.Status >= 400 {
		code = stream.FinishRefused
	}
	if x.Head.Status != 0 {
		x.emit(stream.Event{Kind: stream.Finish, Turn: turn, Slot: stream.AllChoices, Text: strconv.Itoa(x.Head.Status), Code: code})
	}
	end := stream.Event{Kind: stream.TurnClose, Turn: turn}
	if x.why != "" || x.cutShort() {
		end.Code, end.Text = stream.CloseCut, x.why
	}
	x.emit(end)
}
