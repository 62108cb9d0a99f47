package openaichat

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// executedTool is a tool that Groq's compound systems ran (ExecutedTool in groq-python). It has no id,
// and the client sends no result for it.
type executedTool struct {
	*protocol.Call
	answered bool
}

// readExecuted reads executed_tools. Each entry is complete: it comes first with its arguments, and
// again with the same index when it has output.
func (d *decoder) readExecuted(st *choiceState, list protocol.Raw) {
	place := int64(-1)
	for entry := range list.Elements() {
		place++
		index, given := entry.Get("index").Int()
		if !given {
			index = place
		}
		x := st.ran[index]
		if x == nil {
			x = d.openExecuted(st, entry)
			if st.ran == nil {
				st.ran = map[int64]*executedTool{}
			}
			if !x.IsCounted() {
				st.ran[index] = x
			}
		}
		args := entry.Get("arguments")
		ran := entry.Get("output").IsPresent()
		if !x.Sealed && (args.IsPresent() || ran) {
			if args.IsPresent() {
				x.Args(args)
			}
			x.Seal()
		}
		if ran && !x.answered {
			x.answered = true
			x.AddResult(false)
		}
	}
}

func (d *decoder) openExecuted(st *choiceState, entry protocol.Raw) *executedTool {
	name := entry.Get("name").Text()
	if name == "" {
		name = entry.Get("type").Text() // search, python, browser_automation, …
	}
	return &executedTool{Call: d.turn.NextCall(stream.CallInfo{Name: name, Kind: "server", RunByProvider: true, Choice: st.index})}
}
