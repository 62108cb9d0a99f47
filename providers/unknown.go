package providers

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// unknownProtocol shows a stream of an unknown protocol: every frame is kept and shown, none is interpreted.
var unknownProtocol = protocol.Protocol{
	Name:  "unknown",
	Title: "unknown protocol",
	New:   func(o *protocol.Out) protocol.Decoder { return newUnknown(o, "") },
}

// unknownLike returns unknownProtocol for a stream that looks like guess.
func unknownLike(guess string) *protocol.Protocol {
	d := unknownProtocol
	d.New = func(o *protocol.Out) protocol.Decoder {
		decoder := newUnknown(o, "")
		decoder.guess = guess
		return decoder
	}
	return &d
}

// emptyProtocol shows an exchange without a response body.
var emptyProtocol = protocol.Protocol{
	Name: unknownProtocol.Name, Title: unknownProtocol.Title,
	New: func(o *protocol.Out) protocol.Decoder { return silentDecoder{newUnknown(o, "")} },
}

type unknownDecoder struct {
	turn   *protocol.Turn
	title  string // of the undecoded protocol that its frames show, if any
	guess  string // what the stream looks like, "" while unknown
	frames int
}

func newUnknown(o *protocol.Out, title string) *unknownDecoder {
	return &unknownDecoder{turn: o.OpenSilently(), title: title}
}

func (d *unknownDecoder) Frame(f stream.Frame) error {
	d.frames++
	body := protocol.Raw(f.Data)
	name := string(f.Event)
	if name == "" && d.title != "" {
		name = body.Get("type").Text()
	}
	if d.title == "" && body.Get("error").IsPresent() {
		if text := errorWords(body); text != "" {
			d.turn.Fail("", text)
			return nil
		}
	}
	d.turn.Unknown(name)
	return nil
}

// errorWords returns the message in the body of an error, from any of the fields that web services
// use; "" if there is none.
func errorWords(body protocol.Raw) string {
	err := body.Get("error")
	for _, text := range []protocol.Raw{
		err.Get("message"), err, body.Get("message"), body.Get("Message"), body.Get("detail"), body.Get("error_description"),
	} {
		if text.HasText() {
			return text.Text()
		}
	}
	return ""
}

// Close leaves the turn open: whether it ended is unknown.
func (d *unknownDecoder) Close() {
	frames := count.Of(d.frames, "frame")
	switch {
	case d.title != "":
		d.turn.Find(protocolUndecoded, "%s recognised but not decoded: %s shown as received", stream.Own(d.title), stream.Own(frames))
	case d.frames == 0:
		d.turn.Find(protocolUnknown, "the body contains only comments")
	case d.guess != "":
		d.turn.Find(protocolUnknown, "%s of an unknown protocol, shown as received, not interpreted; possibly %s", stream.Own(frames), d.guess)
	default:
		d.turn.Find(protocolUnknown, "%s of an unknown protocol, shown as received, not interpreted", stream.Own(frames))
	}
}

// silentDecoder decodes an exchange without a response body.
type silentDecoder struct{ *unknownDecoder }

// Close reports nothing: the exchange reports that nothing arrived, and why.
func (silentDecoder) Close() {}
