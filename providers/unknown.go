package providers

import (
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// unknown shows a stream of no known dialect: every frame is kept and seen,
// none is interpreted.
var unknown = dialect.Dialect{
	Name:  "unknown",
	Title: "no known dialect",
	New:   func(o *dialect.Out) dialect.Decoder { return dialect.Adapt(new(unknownDecoder))(o) },
}

// silent shows an exchange in which no body came.
var silent = dialect.Dialect{
	Name: unknown.Name, Title: unknown.Title,
	New: func(o *dialect.Out) dialect.Decoder { return dialect.Adapt(&unknownDecoder{empty: true})(o) },
}

type unknownDecoder struct {
	title  string // of the shape its frames have, if that is known
	frames int
	empty  bool // there was no body
}

func (d *unknownDecoder) Turn() int32 { return 0 }

func (d *unknownDecoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	d.frames++
	name := string(f.Event)
	if name == "" && d.title != "" {
		name = dialect.Raw(f.Data).Get("type").Text()
	}
	if err := dialect.Raw(f.Data).Get("error"); d.title == "" && err.Given() {
		if text := errorWords(f.Data); text != "" {
			emit(stream.Event{Kind: stream.Failure, Text: text, More: new(stream.Detail)})
			return nil
		}
	}
	emit(stream.Event{Kind: stream.Unknown, Text: name})
	return nil
}

// errorWords is what the body of an error says, wherever web services put it; ""
// if it is none of their JSON.
func errorWords(body []byte) string {
	all := dialect.Raw(body)
	err := all.Get("error")
	for _, text := range []dialect.Raw{
		err.Get("message"), err, all.Get("message"), all.Get("Message"), all.Get("detail"), all.Get("error_description"),
	} {
		if text.IsString() && !text.Empty() {
			return text.Text()
		}
	}
	return ""
}

// Close leaves the turn open: nobody knows whether it ended.
func (d *unknownDecoder) Close(emit func(stream.Event)) {
	if d.empty {
		return
	}
	frames := fmt.Sprintf("%d frames", d.frames)
	if d.frames == 1 {
		frames = "1 frame"
	}
	of, message := dialectUnknown, frames+" of no known dialect: shown as they came, not interpreted"
	switch {
	case d.title != "":
		of, message = dialectSeen, fmt.Sprintf("%s: recognised, not decoded; %s shown as they came", d.title, frames)
	case d.frames == 0:
		message = "comments came and nothing else"
	}
	emit(dialect.Diagnose(0, stream.NoSlot, of, "%s", message))
}
