package formats

import (
	"bytes"

	"toolscope/capture"
)

// others are lines that hold no payload: how many, since that was last told, and the last of them.
type others struct {
	count int64
	last  [][]byte
}

const (
	othersKept  = 20      // lines of others that are told with their count
	othersBytes = 1 << 10 // of each of them
)

// add counts lines, of which one is kept.
func (o *others) add(n int64, line []byte) {
	o.count += n
	if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
		return
	}
	if len(o.last) == othersKept {
		copy(o.last, o.last[1:])
		o.last = o.last[:othersKept-1]
	}
	o.last = append(o.last, bytes.Clone(line[:min(len(line), othersBytes)]))
}

func (r *lineReader) other(line []byte) {
	if len(bytes.Trim(line, "[], \t\r\n")) > 0 || line == nil {
		r.others.add(1, line)
	}
}

// tellOthers tells of the lines that came since it was told last.
func (r *lineReader) tellOthers() {
	if r.others.count == 0 {
		return
	}
	r.recs = append(r.recs, capture.Record{Exchange: r.flows.last, At: capture.NoTime, Others: r.others.count, OtherLines: r.others.last})
	r.others = others{}
}
