package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// setResult takes the result of the call.
func (o *Observation) setResult(by *protocol.Part) {
	o.resultPart, o.Result = by, stream.ResultOK
	if by.Failed {
		o.Result = stream.ResultFailed
	}
}

// ResultPart is the result as the history has it, nil where there is none.
func (o *Observation) ResultPart() *protocol.Part { return o.resultPart }

// ToolResult is what the call's tool gave, as the history has it. Where that names tools, as a search for
// tools does, their names are text, one a line.
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
