package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// setResult sets the result of the call.
func (o *Observation) setResult(by *protocol.Part) {
	o.resultPart, o.Result = by, stream.ResultOK
	if by.Failed {
		o.Result = stream.ResultFailed
	}
}

// ResultPart returns the result as the history has it, nil if there is none.
func (o *Observation) ResultPart() *protocol.Part { return o.resultPart }

// ToolResult returns the result of the call's tool as the history has it. If it names tools, as the result of
// a tool search does, their names are its text, one per line.
func (o *Observation) ToolResult() (r stream.Result) {
	if o.resultPart == nil {
		return r
	}
	text, media := o.resultPart.Text, o.resultPart.Media
	for block := range o.resultPart.Raw.Get("content").Elements() {
		if name := block.Get("tool_name"); media > 0 && block.Get("type").Is("tool_reference") && name.IsString() {
			text, media = append(name.Append(slices.Clip(text)), '\n'), media-1
		}
	}
	return stream.ResultOf(text, media)
}
