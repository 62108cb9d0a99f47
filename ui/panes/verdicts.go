package panes

import (
	"iter"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// Verdicts caches the harm of each row in a session. A row is a call, or a turn that has its own row. The
// rows are in the order of the turns. Extend updates only turns with new events.
type Verdicts struct {
	Counts  present.VerdictCounts // counts for all rows, including rows of dropped turns
	Version int                   // changes when a row is added or removed, or its harm changes

	session *stream.Session
	harms   []present.Harm
	rows    prefixSums // by turn: number of its harms; 0 for a turn that was dropped from the list
	gone    int        // number of turns that were dropped from the list before the first turn in rows
	dropped int        // number of turns at the start of rows that were dropped from the list
	room    []present.Harm
}

// Extend updates the verdicts of new and changed turns.
func (v *Verdicts) Extend(view *providers.View, news *Changes) {
	s := view.Session()
	went := s.TrimmedTurns() - v.gone
	if news.All || s != v.session || went < v.dropped || went > 2*len(s.Turns)+16 {
		*v = Verdicts{session: s, gone: s.TrimmedTurns(), Version: v.Version + 1, room: v.room}
		went = 0
	}
	if went = min(went, v.rows.len()); v.dropped < went {
		v.harms = slices.Delete(v.harms, 0, v.rows.sumBefore(went))
		v.Version++
	}
	for ; v.dropped < went; v.dropped++ {
		v.rows.set(v.dropped, 0)
	}
	for i := v.rows.len() - v.dropped; i < len(s.Turns); i++ {
		v.rows.push(0)
		v.updateAt(view, i, s.Turns[i])
	}
	for _, number := range news.Turns {
		if t := s.Turn(number); t != nil {
			v.Update(view, t)
		}
	}
}

// Update computes the verdicts of a turn again.
func (v *Verdicts) Update(view *providers.View, t *stream.Turn) {
	if i := indexIn(v.session.Turns, t); i >= 0 && v.dropped+i < v.rows.len() {
		v.updateAt(view, i, t)
	}
}

// updateAt computes the verdicts of turn i.
func (v *Verdicts) updateAt(view *providers.View, i int, t *stream.Turn) {
	from, to := v.rowSpan(i)
	old, now := v.harms[from:to], v.harmsOf(view, t)
	if slices.Equal(old, now) {
		return
	}
	v.Version++
	if t.Retention != stream.Dropped || len(old) == 0 { // verdicts on dropped calls remain in the counts
		for _, h := range old {
			v.Counts[h]--
		}
		for _, h := range now {
			v.Counts[h]++
		}
		if t.Retention == stream.Dropped {
			v.Counts[now[0]]--
			for st, n := range t.DroppedCounts() {
				v.Counts[present.HarmOf(stream.Status(st))] += int(n)
			}
		}
	}
	v.harms = slices.Replace(v.harms, from, to, now...)
	v.rows.set(v.dropped+i, len(now))
}

// harmsOf returns the harm of each row of a turn. The result is valid until the next call.
func (v *Verdicts) harmsOf(view *providers.View, t *stream.Turn) []present.Harm {
	v.room = v.room[:0]
	worst := present.Healthy
	for _, c := range t.Calls {
		h := present.VerdictOfCall(c).Harm
		worst = min(worst, h)
		v.room = append(v.room, h)
	}
	own := present.VerdictOfTurn(view.Exchange(t.Exchange), t).Harm
	if t.Retention == stream.Dropped {
		for st, n := range t.DroppedCounts() {
			if n > 0 {
				own = min(own, present.HarmOf(stream.Status(st)))
			}
		}
	}
	if len(t.Calls) == 0 || own.IsBad() && !worst.IsBad() && own < worst {
		v.room = append(v.room, own)
	}
	return v.room
}

// rowSpan returns the range in harms for turn i.
func (v *Verdicts) rowSpan(i int) (from, to int) {
	return v.rows.sumBefore(v.dropped + i), v.rows.sumBefore(v.dropped + i + 1)
}

// RowsOf returns the harm of each row of a turn: the rows of its calls and, if there is one, its own row.
func (v *Verdicts) RowsOf(t *stream.Turn) []present.Harm {
	if v == nil || v.session == nil {
		return nil
	}
	i := indexIn(v.session.Turns, t)
	if i < 0 || v.dropped+i >= v.rows.len() {
		return nil
	}
	from, to := v.rowSpan(i)
	return v.harms[from:to]
}

// WorstOf returns the worst harm of a turn.
func (v *Verdicts) WorstOf(t *stream.Turn) present.Harm {
	worst := present.Healthy
	for _, h := range v.RowsOf(t) {
		worst = min(worst, h)
	}
	return worst
}

// Turns returns the index of each turn in its session, and the worst harm of its rows.
func (v *Verdicts) Turns() iter.Seq2[int, present.Harm] {
	return func(yield func(int, present.Harm) bool) {
		at := 0
		for i := range v.session.Turns {
			n := v.rows.countOf(v.dropped + i)
			if !yield(i, slices.Min(v.harms[at:at+n])) {
				return
			}
			at += n
		}
	}
}

// Rows returns the number of rows.
func (v *Verdicts) Rows() int { return len(v.harms) }

// HarmSign returns the role and the sign for a harm.
func HarmSign(p *screen.Pen, h present.Harm) (screen.Role, display.Text) {
	st, role := stream.Complete, screen.Muted
	switch h {
	case present.HarmError:
		return screen.Bad, p.Glyph.Severity[stream.Error]
	case present.HarmWarn:
		return screen.Caution, display.Clean(strings.TrimSpace(p.Glyph.Severity[stream.Warn].String()))
	case present.HarmMalformed:
		st = stream.Malformed
	case present.HarmCut:
		st = stream.CutShort
	case present.HarmNotObject:
		st = stream.NotObject
	case present.HarmAborted, present.HarmStopped:
		st = stream.Aborted
	case present.HarmRejected:
		st = stream.Rejected
	case present.HarmLooksDone:
		st = stream.LooksDone
	case present.HarmUnseen:
		st = stream.Unseen
	case present.HarmOpen:
		st = stream.Streaming
	}
	switch {
	case h.IsBad():
		role = screen.Bad
	case h.IsCaution():
		role = screen.Caution
	case h == present.HarmOpen:
		role = screen.Live
	}
	return role, p.Glyph.Status[st]
}

// countedHarms are the harms that are counted, in the order in which the counts are shown.
var countedHarms = [2][]present.Harm{
	{present.HarmMalformed, present.HarmError, present.HarmCut, present.HarmAborted, present.HarmRejected},
	{present.HarmNotObject, present.HarmLooksDone, present.HarmWarn, present.HarmUnseen},
}

// BadText returns the number of bad calls and turns, for example "17 bad", or "nothing bad".
func BadText(n *present.VerdictCounts) screen.StyledText {
	if bad := n.Bad(); bad > 0 {
		return screen.StyledText{Role: screen.Bad, Text: screen.Count(bad).Between("", " bad")}
	}
	return screen.StyledText{Role: screen.Muted, Text: display.Lit("nothing bad")}
}

// HarmCounts returns the number of calls and turns for each harm: first the bad harms, then those that need
// attention.
func HarmCounts(p *screen.Pen, n *present.VerdictCounts) (bad, caution []screen.StyledText) {
	for i, to := range []*[]screen.StyledText{&bad, &caution} {
		for _, h := range countedHarms[i] {
			if n[h] > 0 {
				role, sign := HarmSign(p, h)
				*to = append(*to, screen.StyledText{Role: role, Text: display.Join(sign, screen.Count(n[h]))})
			}
		}
	}
	return bad, caution
}
