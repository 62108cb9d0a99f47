package providers

import (
	"bytes"
	"strings"

	"toolscope/providers/acp"
	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/json"
)

// editorSide frames the messages of the editor in a recorded connection between an editor and an agent. The
// decoder reads the messages of both sides, in the order in which they were recorded.
type editorSide struct {
	lines stream.Lines
	torn  bool // bytes of the current line are missing
}

// isAgentConnection reports whether an exchange is a recorded connection between an editor and an agent.
func isAgentConnection(h *stream.Head) bool {
	return h.Method == mcp.Stdio && strings.HasPrefix(h.URL, acp.Scheme)
}

// readEditorBytes reads bytes of the editor.
func (x *Exchange) readEditorBytes(r *stream.Record) {
	e, p := &x.editor, r.Data
	if r.Lost > 0 {
		*e = editorSide{torn: true}
	}
	if e.torn {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			return
		}
		e.torn, p = false, p[i+1:]
	}
	x.at = r.At
	e.lines.Write(p, func(f stream.Frame) { x.decodeFrame(&f, x.frame) })
}

// isAboutProcess reports whether a record is only a note about the process of an agent: its command line, its
// standard error or a signal.
func (in *Inspector) isAboutProcess(r *stream.Record) bool {
	x := in.byNumber[r.Exchange]
	return x != nil && isAgentConnection(x.Head) && mcp.IsProcessNote(r.Note)
}

var shownCall = &stream.Diagnosis{
	Code: "ACP_MODEL_CALL", Severity: stream.Info, By: stream.Client,
	Meaning: "The agent showed a call of the model to its editor: both calls have the same id. Agents may add fields to the arguments that they show.",
	Advice:  "Nothing. If the arguments differ, compare the two calls.",
}

// matchShownCall matches a shown call of an agent to the model's call with the same id. When the shown arguments are
// final, it compares them with the model's arguments.
func (x *Exchange) matchShownCall(e *stream.Event) {
	if e.Kind != stream.CallOpen && e.Kind != stream.Seal || x.Protocol.Name != acp.Name {
		return
	}
	s := x.in.Session()
	t := s.Turn(e.Turn)
	if t == nil || len(t.Calls) == 0 {
		return
	}
	if e.Kind == stream.CallOpen {
		if of, _ := s.Find(s.EarlierCall()); of != nil && !of.Shown {
			if x.modelCalls == nil {
				x.modelCalls = map[stream.Ref]stream.Ref{}
			}
			x.modelCalls[t.Calls[len(t.Calls)-1].Ref()] = s.EarlierCall()
		}
		return
	}
	for _, c := range t.Calls {
		ref, matched := x.modelCalls[c.Ref()]
		if _, written := s.Find(ref); matched && c.Slot == e.Slot && written != nil {
			delete(x.modelCalls, c.Ref())
			f := shownCall.Finding("the model made the call in turn %d; %s", ref.Turn+1, compareShown(written, c))
			x.emit(stream.Event{Kind: stream.Found, Turn: int32(x.turns.indexOf(e.Turn)), Slot: e.Slot, What: &f})
		}
	}
}

// compareShown compares the arguments of a call with the arguments that an agent shows for it.
func compareShown(written, shown *stream.Call) stream.Message {
	added, isPart := acp.AddedFields(written.Args(), shown.Args())
	switch {
	case shown.ArgsLen() == 0:
		return stream.Messagef("the agent shows no arguments")
	case written.ArgsLen() != len(written.Args()):
		return stream.Messagef("toolscope no longer has the model's arguments")
	case json.Same(written.Args(), shown.Args()):
		return stream.Messagef("the arguments are the same")
	case isPart:
		return stream.Messagef("the agent adds %s", stream.Fact(strings.Join(added, ", ")))
	}
	return stream.Messagef("the arguments differ")
}
