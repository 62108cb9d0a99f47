package providers

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// unknownProtocol shows a stream of no known dialect: every frame is kept and seen, none is interpreted.
var unknownProtocol = protocol.Protocol{
	Name:  "unknown",
	Title: "no known dialect",
	New:   func(o *protocol.Out) protocol.Decoder { return newUnknown(o, "") },
}

// unknownLike is unknown, of what looks like something in words.
func unknownLike(guess string) *protocol.Protocol {
	d := unknownProtocol
	d.New = func(o *protocol.Out) protocol.Decoder {
		decoder := newUnknown(o, "")
		decoder.guess = guess
		return decoder
	}
	return &d
}

// emptyProtocol shows an exchange in which no body came.
var emptyProtocol = protocol.Protocol{
	Name: unknownProtocol.Name, Title: unknownProtocol.Title,
	New: func(o *protocol.Out) protocol.Decoder { return silentDecoder{newUnknown(o, "")} },
}

type unknownDecoder struct {
	turn   *protocol.Turn
	title  string // of the undecoded protocol that its frames show, if any
	guess  string // what it looks like, if that is known
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

// errorWords is the message in an error's body, wherever web services put it; "" if there is none.
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

// Close leaves the turn open: whether it ended is not known.
func (d *unknownDecoder) Close() {
	frames := count.Of(d.frames, "frame")
	switch {
	case d.title != "":
		d.turn.Find(protocolUndecoded, "%s: recognised, not decoded; %s shown as they came", d.title, frames)
	case d.frames == 0:
		d.turn.Find(protocolUnknown, "comments came and nothing else")
	case d.guess != "":
		d.turn.Find(protocolUnknown, "it looks like %s: %s of no known dialect, shown as they came, not interpreted", d.guess, frames)
	default:
		d.turn.Find(protocolUnknown, "%s of no known dialect: shown as they came, not interpreted", frames)
	}
}

// silentDecoder reads what has no body.
type silentDecoder struct{ *unknownDecoder }

// Close tells nothing: the exchange reports that nothing came, and why.
func (silentDecoder) Close() {}
