package providers

import (
	"slices"

	"toolscope/stream"
)

// recentHeads are the latest heads. Exchanges of one log mostly have equal heads, which are kept once.
type recentHeads struct{ last []*stream.Head }

// maxHeads is how many heads are kept.
const maxHeads = 4

// intern returns a head equal to h, which must not be modified.
func (hs *recentHeads) intern(h *stream.Head) *stream.Head {
	for _, of := range hs.last {
		if isSameHead(of, h) {
			return of
		}
	}
	own := *h
	if h.Header == nil { // the header of a response is its own
		hs.last = append(hs.last[max(0, len(hs.last)+1-maxHeads):], &own)
	}
	return &own
}

func isSameHead(a, b *stream.Head) bool {
	return a.File == b.File && a.Run == b.Run && a.Origin == b.Origin && a.Method == b.Method && a.URL == b.URL && a.Status == b.Status && a.Header == nil && b.Header == nil &&
		a.Start.Equal(b.Start) && a.Wrappers == b.Wrappers && slices.Equal(a.Lacks, b.Lacks) && a.CutLines == b.CutLines &&
		a.ResponseFromHistory == b.ResponseFromHistory && a.EndUnknown == b.EndUnknown && a.EventNamesUnknown == b.EventNamesUnknown && a.Reconstructed == b.Reconstructed && a.Incremental == b.Incremental
}
