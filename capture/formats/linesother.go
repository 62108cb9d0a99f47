package formats

import (
	"bytes"

	"toolscope/capture"
)

// otherLines are lines that hold no payload: how many, since that was last told, and the last of them.
type otherLines struct {
	count int64
	last  [][]byte
}

const (
	maxOtherLines     = 20      // other lines that are reported with their count
	maxOtherLineBytes = 1 << 10 // of each of them
)

// addLine counts lines, of which one is kept.
func (o *otherLines) addLine(n int64, line []byte) {
	o.count += n
	if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
		return
	}
	if len(o.last) == maxOtherLines {
		copy(o.last, o.last[1:])
		o.last = o.last[:maxOtherLines-1]
	}
	o.last = append(o.last, bytes.Clone(line[:min(len(line), maxOtherLineBytes)]))
}

func (r *lineReader) addOther(line []byte) {
	if len(bytes.Trim(line, "[], \t\r\n")) > 0 || line == nil {
		r.others.addLine(1, line)
	}
}

// reportOthers tells of the lines that came since it was told last.
func (r *lineReader) reportOthers() {
	if r.others.count == 0 {
		return
	}
	r.recs = append(r.recs, capture.Record{Exchange: r.flows.last, At: capture.NoTime, Others: r.others.count, OtherLines: r.others.last})
	r.others = otherLines{}
}
