package providers

import (
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestCutByOthers checks streams that a party other than the sender cuts off at any place. The findings must not
// blame a different party, and must have the severity info if the client cut off the stream. At each place, one of
// the parties cuts off the stream, or each of them with TOOLSCOPE_LONG=1.
func TestCutByOthers(t *testing.T) {
	rarely(t)
	parties := []string{"client", "network", "toolscope"}
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			whole := f.inspect(f.wire)
			so := blames(whole) // a cut may cause these findings earlier
			w := &whole.Exchange(0).Response
			for n := range int32(w.Frames()) {
				start, end := w.FrameSpan(n)
				places := []int64{(start + end) / 2, end - 1, end}
				if n == 0 { // the start of any other frame is the end of the previous frame
					places = append(places, start)
				}
				for i, at := range places {
					soFar := f.blamesSoFar(at)
					first := (int(n) + i) % int(inLong(3, 1))
					for _, by := range parties[first : first+int(inLong(1, 3))] {
						if wrong := f.cutBy(at, by, so, soFar); wrong != "" {
							t.Fatalf("cut by %s at byte %d of %d: %s", by, at, len(f.wire), wrong)
						}
					}
				}
			}
		})
	}
}

// blamesSoFar returns the findings after the given number of bytes, and after the line break that ends the last
// frame.
func (f fixture) blamesSoFar(at int64) []string {
	in := f.asked()
	in.Write(stream.Record{Data: f.wire[:min(at+2, int64(len(f.wire)))]})
	return blames(in)
}

// cutBy returns the findings that are wrong when the given party cuts off the stream.
func (f fixture) cutBy(at int64, by string, so, soFar []string) string {
	in := f.asked()
	in.Write(stream.Record{Data: f.wire[:at]})
	before := map[string]int{}
	for _, found := range soFar {
		before[found]++
	}
	in.Write(stream.Record{End: true, Why: "so it was cut", By: by})
	for _, found := range blames(in) {
		if before[found]--; before[found] >= 0 || slices.Contains(so, found) {
			continue
		}
		if !strings.HasSuffix(found, " "+by) || by == "client" && !strings.HasSuffix(found, " info client") {
			return found
		}
	}
	return ""
}
