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

// explainedByCut lists the findings that a file may have only because its end is missing. In place of
// ARGS_PLACEHOLDER_PREFIX, a complete file has DONE_MISMATCH, because a later event replaces the arguments after the
// placeholder.
var explainedByCut = []string{"NO_TERMINATOR", "ARGS_CUT", "FRAME_UNDECODABLE", "ARGS_PLACEHOLDER_PREFIX"}

// TestFilesCut checks files that end at any place, for an unknown reason. The missing end may cause only findings
// about the end. In an agent's own lines, these findings name no party. A complete call must be complete in the whole
// file too, unless a later part of the file rejects it.
func TestFilesCut(t *testing.T) {
	rarely(t)
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			whole := f.inspect(f.wire)
			known, calls := blames(whole), callsByArgs(whole)
			wrongOrder := strings.Contains(strings.Join(known, " "), "PROTOCOL_VIOLATION") // arguments may follow the final ones, or the finish reason
			w := &whole.Exchange(0).Response
			for n := range int32(w.Frames()) {
				start, end := w.FrameSpan(n)
				places := []int64{start + 1, (start + end) / 2, end - 1, end}
				for i, at := range places {
					if i != int(n)%len(places) && inLong(1, 0) != 0 {
						continue
					}
					in := f.asked()
					in.Write(stream.Record{Data: f.wire[:at]})
					before := blames(in)
					in.Close()
					wrong := f.wrongInCut(in, known, before)
					if wrong != "" && !(wrongOrder && strings.HasPrefix(wrong, "FIN_CONTRADICTED ")) {
						t.Fatalf("a file that ends at byte %d of %d has the finding %s", at, len(f.wire), wrong)
					}
					for call, state := range callsByArgs(in) {
						if last, ok := calls[call]; state == stream.Complete && !wrongOrder && (!ok || last != stream.Complete && last != stream.Rejected) {
							t.Fatalf("at byte %d of %d, the call %s is complete, but in the whole file it is %s", at, len(f.wire), call, last)
						}
					}
				}
			}
		})
	}
}

// wrongInCut returns a finding that the end of the file doesn't explain. The lists known and before contain the
// findings in the whole file, and those that the part had before its end.
func (f fixture) wrongInCut(in *Inspector, known, before []string) string {
	for _, found := range blames(in) {
		words := strings.Fields(found)
		switch {
		case words[1] == "info", slices.Contains(known, found), slices.Contains(before, found),
			words[2] == "toolscope", words[2] == "model", // neither a provider nor a client
			words[0] == "SCHEMA_INVALID" && words[2] == "unknown": // the arguments may be in the missing end
		case !slices.Contains(explainedByCut, words[0]):
			return found
		case f.dialect.ByAgent && words[2] != "unknown":
			return found
		}
	}
	return ""
}

// callsByArgs returns the states of all calls, by their ids, names and arguments.
func callsByArgs(in *Inspector) map[string]stream.Status {
	all := map[string]stream.Status{}
	for _, turn := range in.Session().Turns {
		for _, c := range turn.Calls {
			all[c.ID+" "+c.Name+" "+string(c.Args())] = c.Status()
		}
	}
	return all
}
