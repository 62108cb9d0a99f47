package providers

import "toolscope/stream"

// OtherLines are the lines of a log that are of no exchange: how many, and the last of them.
type OtherLines struct {
	Count int64
	Last  [][]byte
}

// maxOtherLines is how many of them are kept to be looked at.
const maxOtherLines = 100

func (o *OtherLines) add(r stream.Record) {
	o.Count += r.Others
	o.Last = append(o.Last, r.OtherLines...)
	if n := len(o.Last) - maxOtherLines; n > 0 {
		o.Last = append(o.Last[:0], o.Last[n:]...)
	}
}

// keepSurroundings keeps what stood around the bytes that came last, in the line that they were found in, for
// as long as bytes are kept.
func (x *Exchange) keepSurroundings(r stream.Record) {
	switch {
	case x.in.kept.ReadOnce:
	case x.chain != nil:
		x.Sent.SetSurround(r.Before, r.After)
	default:
		x.Response.SetSurround(r.Before, r.After)
	}
}

// LastLines is the last of the lines.
func (o OtherLines) LastLines() []byte {
	if len(o.Last) == 0 {
		return nil
	}
	return o.Last[len(o.Last)-1]
}
