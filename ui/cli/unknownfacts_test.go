package cli

import (
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/present"
)

// TestUnknownFacts checks that each kind of missing fact has a description for readers. The facts about the exchange
// must keep the words of the capture format.
func TestUnknownFacts(t *testing.T) {
	lacks := []capture.Lack{
		capture.NoDeltas, capture.NoTimes, capture.LateTimes, capture.Reencoded, capture.Resent, capture.NoEnding, capture.NoBody,
		capture.NoNames, capture.Mixed, capture.CutLines, capture.UsageBefore, capture.Composed, capture.Rewound,
	}
	x := &providers.Exchange{Head: &stream.Head{}}
	for _, lack := range lacks {
		x.Head.Lacks = append(x.Head.Lacks, string(lack))
	}
	x.Head.Lacks = append(x.Head.Lacks, "a later version's fact")
	before := slices.Clone(x.Head.Lacks)
	texts := present.UnknownFacts(x)
	for i, text := range texts[:len(lacks)] {
		if text == before[i] || strings.HasPrefix(text, "what ") || strings.Contains(text, "answer") {
			t.Errorf("%q has the text %q", before[i], text)
		}
	}
	if last := texts[len(lacks)]; last != "a later version's fact" || !slices.Equal(before, x.Head.Lacks) {
		t.Errorf("an unknown fact has the text %q; the words are %q, want %q", last, x.Head.Lacks, before)
	}
}
