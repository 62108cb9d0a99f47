package providers

import "toolscope/stream"

// OtherLines are the lines of a log outside of exchanges: their number, and the last of them.
type OtherLines struct {
	Count int64
	Last  [][]byte
}

// maxOtherLines is how many of them are kept.
const maxOtherLines = 100

func (o *OtherLines) add(r stream.Record) {
	o.Count += r.Others
	o.Last = append(o.Last, r.OtherLines...)
	if n := len(o.Last) - maxOtherLines; n > 0 {
		o.Last = append(o.Last[:0], o.Last[n:]...)
	}
}

// keepSurroundings keeps the text around the latest bytes in their log line, as long as bytes are kept.
func (x *Exchange) keepSurroundings(r stream.Record) {
	switch {
	case x.in.kept.ReadOnce:
	case x.chain != nil:
		x.Sent.SetSurround(r.Before, r.After)
	default:
		x.Response.SetSurround(r.Before, r.After)
	}
}

// LastLines returns the last line.
func (o OtherLines) LastLines() []byte {
	if len(o.Last) == 0 {
		return nil
	}
	return o.Last[len(o.Last)-1]
}
