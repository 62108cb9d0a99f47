package screen

import "toolscope/providers/replay"

// Side compares the two sides of something: a request with what the model wrote, or one turn with
// another.
type Side uint8

const (
	Same    Side = iota
	Alike        // the same meaning
	Differs      // something else
	Absent       // missing, or unknown
	Nothing      // nothing was sent

	NumSides = iota
)

// OutcomeSides is the side of each outcome of a call.
var OutcomeSides = [replay.NumOutcomes]Side{
	replay.Verbatim: Same, replay.AssumedEmpty: Alike, replay.Parsed: Alike, replay.Reformatted: Alike, replay.Unwrapped: Alike,
	replay.Wrapped: Differs, replay.Renamed: Differs, replay.AsText: Differs, replay.Repaired: Differs,
	replay.Emptied: Nothing, replay.Dropped: Nothing, replay.Throws: Nothing, replay.Unknown: Absent,
}
