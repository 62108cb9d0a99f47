package providers

import "toolscope/stream"

// Others are the lines of a log that are of no exchange: how many, and the last of them.
type Others struct {
	Count int64
	Last  [][]byte
}

// othersKept is how many of them are kept to be looked at.
const othersKept = 100

func (o *Others) take(r stream.Record) {
	o.Count += r.Others
	o.Last = append(o.Last, r.OtherLines...)
	if n := len(o.Last) - othersKept; n > 0 {
		o.Last = append(o.Last[:0], o.Last[n:]...)
	}
}

// beside keeps what stood around the bytes that came last, in the line that they were found in, for
// as long as bytes are kept.
func (x *Exchange) beside(r stream.Record) {
	switch {
	case x.in.kept.ReadOnce:
	case x.chain != nil:
		x.Sent.SetSurround(r.Before, r.After)
	default:
		x.Response.SetSurround(r.Before, r.After)
	}
}

// Latest is the last of the lines.
func (o Others) Latest() []byte {
	if len(o.Last) == 0 {
		return nil
	}
	return o.Last[len(o.Last)-1]
}
