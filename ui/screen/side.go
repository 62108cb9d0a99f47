package screen

import "toolscope/providers/replay"

// Side is the result of a comparison: of a request with the text that the model wrote, or of two turns.
type Side uint8

const (
	Same    Side = iota
	Alike        // the same meaning
	Differs      // something else
	Absent       // missing or unknown
	Nothing      // nothing was sent

	NumSides = iota
)

// OutcomeSides maps the outcome of a call to its side.
var OutcomeSides = [replay.NumOutcomes]Side{
	replay.Verbatim: Same, replay.AssumedEmpty: Alike, replay.Parsed: Alike, replay.Reformatted: Alike, replay.Unwrapped: Alike,
	replay.Wrapped: Differs, replay.Renamed: Differs, replay.AsText: Differs, replay.Repaired: Differs,
	replay.Emptied: Nothing, replay.Dropped: Nothing, replay.Throws: Nothing, replay.Unknown: Absent,
}
