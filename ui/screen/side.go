package screen

import "toolscope/providers/replay"

// Side is what the other side has of something: the request of what the model wrote, one turn of
// another.
type Side uint8

const (
	Same    Side = iota
	Alike        // the same meaning
	Differs      // something else
	Absent       // it has none, or nobody knows
	Nothing      // nothing of it was sent

	NumSides = iota
)

// OutcomeSides is what a request has of a call's arguments.
var OutcomeSides = [replay.NumOutcomes]Side{
	replay.Verbatim: Same, replay.AssumedEmpty: Alike, replay.Parsed: Alike, replay.Reformatted: Alike, replay.Unwrapped: Alike,
	replay.Wrapped: Differs, replay.Renamed: Differs, replay.AsText: Differs, replay.Repaired: Differs,
	replay.Emptied: Nothing, replay.Dropped: Nothing, replay.Throws: Nothing, replay.Unknown: Absent,
}
