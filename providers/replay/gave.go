package replay

import (
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// answered takes the result of the call.
func (o *Observation) answered(by *dialect.Part) {
	o.gave, o.Result = by, stream.ResultOK
	if by.Failed {
		o.Result = stream.ResultFailed
	}
}

// Given is the result as the history has it, nil where there is none.
func (o *Observation) Given() *dialect.Part { return o.gave }

// Gave is what the call's tool gave, as the history has it. Where that names tools, as a search for
// tools does, their names are text, one a line.
func (o *Observation) Gave() (r stream.Result) {
	if o.gave == nil {
		return r
	}
	text, media := o.gave.Text, o.gave.Media
	for block := range o.gave.Raw.Get("content").Elements() {
		if name := block.Get("tool_name"); media > 0 && block.Get("type").Is("tool_reference") && name.IsString() {
			text, media = append(name.Append(slices.Clip(text)), '\n'), media-1
		}
	}
	return stream.ResultOf(text, media)
}
