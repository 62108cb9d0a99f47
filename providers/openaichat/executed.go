package openaichat

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// executed is a tool that Groq's compound systems ran themselves (ExecutedTool
// in groq-python). It has no id, and no result is to be sent.
type executed struct {
	slot             int32
	sealed, answered bool
}

// executed takes a list of them. An entry comes whole: first with its arguments,
// and again under its index when there is output.
func (d *decoder) executed(st *choiceState, list dialect.Raw, emit func(stream.Event)) {
	each := list.Scan()
	for place, ok := int64(0), each.Array(); ok; place, ok = place+1, each.Element() {
		entry := each.Value()
		index, given := entry.Get("index").Int()
		if !given {
			index = place
		}
		x := st.ran[index]
		if x == nil {
			x = d.openExecuted(st, entry, emit)
			if st.ran == nil {
				st.ran = map[int64]*executed{}
			}
			st.ran[index] = x
		}
		args := entry.Get("arguments")
		ran := entry.Get("output").Given()
		if !x.sealed && (args.Given() || ran) {
			x.sealed = true
			if args.Given() {
				d.buf = args.Append(d.buf[:0])
				emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: x.slot, Text: d.text.Hold(d.buf)})
			}
			emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: x.slot})
		}
		if ran && !x.answered {
			x.answered = true
			emit(stream.Event{Kind: stream.Answer, Turn: d.Number, Slot: x.slot, Code: stream.AnswerOK})
		}
	}
}

func (d *decoder) openExecuted(st *choiceState, entry dialect.Raw, emit func(stream.Event)) *executed {
	x := &executed{slot: d.calls}
	name := entry.Get("name").Text()
	if name == "" {
		name = entry.Get("type").Text() // search, python, browser_automation, …
	}
	d.calls++
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: x.slot, More: &stream.Detail{
		Name: name, CallKind: "server", Server: true, Choice: st.index,
	}})
	return x
}
