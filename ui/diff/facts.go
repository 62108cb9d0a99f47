package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

// Fact is a property of the responses, with its value for each side.
type Fact struct {
	Name  string
	Cells []string
	Marks []Relation
}

// WireFacts returns the properties of the responses that a gateway may change: the form of ids, the number of
// argument bytes, the number of deltas, the finish reason, and the token counts. It does not say which party changed
// them.
func (p *Comparison) WireFacts() (facts []Fact) {
	for _, f := range []struct {
		name string
		of   func(i int) string
	}{
		{"id", p.idForm}, {"bytes", p.argBytes}, {"pieces", p.deltasText}, {"finish", p.finishReason}, {"usage", p.usageText},
	} {
		fact := Fact{Name: f.name, Cells: make([]string, len(p.Sides)), Marks: make([]Relation, len(p.Sides))}
		for i := range p.Sides {
			fact.Cells[i] = f.of(i)
		}
		for i := range p.Sides {
			switch base := fact.Cells[p.Base]; {
			case i == p.Base:
				fact.Marks[i] = Own
			case !p.Sides[i].Over || !p.Sides[p.Base].Over:
				fact.Marks[i] = Open
			case fact.Cells[i] == base:
				fact.Marks[i] = Same
			case fact.Cells[i] == "":
				fact.Marks[i] = Absent
			default:
				fact.Marks[i] = Differs
			}
		}
		facts = append(facts, fact)
	}
	return facts
}

// idForm describes the id of a side's first call: its prefix up to the first of "_-:.", and its length.
func (p *Comparison) idForm(i int) string {
	for n := range p.Sets {
		c := p.Sets[n].Calls[i]
		if c == nil {
			continue
		}
		if c.ID == "" {
			return "none"
		}
		head := c.ID
		if at := strings.IndexAny(head, "_-:."); at >= 0 && at < 16 {
			head = head[:at+1]
		} else {
			head = ""
		}
		return fmt.Sprintf("%s…, %d long", head, len(c.ID))
	}
	return ""
}

// argBytes returns the number of argument bytes. The function bytesWords compares the bytes themselves.
func (p *Comparison) argBytes(i int) string { return p.totalText(i, (*stream.Call).ArgsLen) }

func (p *Comparison) deltasText(i int) string { return p.totalText(i, (*stream.Call).Deltas) }

func (p *Comparison) totalText(i int, of func(*stream.Call) int) string {
	sum, some := 0, false
	for n := range p.Sets {
		if c := p.Sets[n].Calls[i]; c != nil {
			sum, some = sum+of(c), true
		}
	}
	if !some {
		return ""
	}
	return strconv.Itoa(sum)
}

func (p *Comparison) finishReason(i int) string {
	if t := p.Sides[i].Turn; t != nil {
		return t.Finish
	}
	return ""
}

func (p *Comparison) usageText(i int) string {
	t := p.Sides[i].Turn
	if t == nil || !t.Usage.Input.Reported && !t.Usage.Output.Reported {
		return ""
	}
	word := func(name string, n stream.Count) string {
		if !n.Reported {
			return name + " unknown"
		}
		return name + " " + strconv.FormatInt(n.N, 10)
	}
	return word("in", t.Usage.Input) + ", " + word("out", t.Usage.Output)
}

// ChangeSentence describes how side i's response differs from the base's response to the same request at
// another host.
func (p *Comparison) ChangeSentence(i int, way SameRequest, facts []Fact) string {
	var all []string
	for _, f := range facts {
		base := f.Cells[p.Base]
		switch {
		case f.Marks[i] == Absent:
			all = append(all, "no "+f.Name)
		case f.Marks[i] != Differs:
		case f.Name == "id":
			all = append(all, fmt.Sprintf("the id is %s instead of %s", f.Cells[i], base))
		case f.Name == "pieces":
			all = append(all, fmt.Sprintf("arguments arrive in %s deltas, not %s", f.Cells[i], base))
		case f.Name == "finish":
			all = append(all, fmt.Sprintf("the finish reason is %s, not %s", f.Cells[i], base))
		case f.Name == "usage" && base != "":
			all = append(all, fmt.Sprintf("usage is %s instead of %s", f.Cells[i], base))
		}
	}
	if text := p.bytesWords(i); text != "" {
		all = append(all, text)
	}
	if len(all) == 0 {
		all = append(all, "no visible difference")
	}
	how := "same prompt"
	if way.Exact {
		how = "same request"
	}
	return fmt.Sprintf("Through %s, %s: %s.", way.Host, how, strings.Join(all, ", "))
}

// bytesWords returns a phrase if the arguments have equal values but different bytes, or "" otherwise.
func (p *Comparison) bytesWords(i int) string {
	other := false
	for n := range p.Sets {
		set := &p.Sets[n]
		c, b := set.Calls[i], set.Calls[p.Base]
		if c == nil || b == nil || set.argsHash(i) == 0 || set.argsHash(i) != set.argsHash(p.Base) {
			return ""
		}
		other = other || !bytes.Equal(c.Args(), b.Args())
	}
	if other {
		return "the arguments are equal but their bytes differ"
	}
	return ""
}

// Weight says how serious a side's differences are.
type Weight uint8

const (
	Equal  Weight = iota // no differences so far
	Other                // other values
	Uneven               // other fields or types, or more calls
	Fault                // the side has no response, a missing or broken call, or a value that breaks the schema
)

// sideCounts counts a side's differences from the base.
type sideCounts struct {
	own, missing, more  int // numbers of calls that the side makes, lacks, and adds
	states              int
	state               stream.Status // state of the first call whose state differs
	types, values       int           // number of fields that differ
	badTypes, badValues int           // number of fields that differ and break the schema
	absent, added       int
}

// Against describes the most serious difference of side i from the base in a few words, e.g. "one call fewer".
func (p *Comparison) Against(i int) (words string, weight Weight) {
	s, b := &p.Sides[i], &p.Sides[p.Base]
	switch {
	case s.Fails != "":
		return s.Fails, Fault
	case i == p.Base:
		return "base", Equal
	case b.Fails != "":
		return "did not fail", Other
	}
	n := p.countSide(i)
	switch {
	case n.missing > 0 && n.own == 0:
		return "no call", Fault
	case n.missing > 0 && n.more > 0:
		return "other calls", Fault
	case n.missing > 0:
		return callsText(n.missing) + " fewer", Fault
	case n.states == 1 && n.state != stream.Complete:
		return n.state.String(), Fault
	case n.states > 0:
		return countWords(n.states, "other state"), Uneven
	case n.badTypes > 0:
		return countWords(n.badTypes, "wrong type"), Fault
	case n.badValues > 0:
		return countWords(n.badValues, "wrong value"), Fault
	case n.more > 0:
		return callsText(n.more) + " more", Uneven
	case n.types > 0:
		return countWords(n.types, "other type"), Uneven
	case n.absent > 0:
		return countWords(n.absent, "field") + " fewer", Uneven
	case n.added > 0:
		return countWords(n.added, "field") + " more", Uneven
	case n.values > 0:
		return countWords(n.values, "other value"), Other
	case !s.Over || !b.Over:
		return "", Equal
	}
	return "same", Equal
}

// countSide counts a side's differences from the base.
func (p *Comparison) countSide(i int) (n sideCounts) {
	for at := range p.Sets {
		set := &p.Sets[at]
		c, b := set.Calls[i], set.Calls[p.Base]
		if c != nil {
			n.own++
		}
		switch {
		case c == nil && b != nil && p.Sides[i].Over:
			n.missing++
		case c != nil && b == nil && p.Sides[p.Base].Over:
			n.more++
		}
		if p.otherState(set, i) {
			if n.states++; n.states == 1 {
				n.state = c.Status()
			}
		}
		for r := range set.Rows {
			if row := &set.Rows[r]; !row.Split {
				n.countField(set, row, i, p.Base)
			}
		}
	}
	return n
}

// countField counts the difference of one field.
func (n *sideCounts) countField(set *CallSet, r *Row, i, base int) {
	is := changeOf(set, r, i, base)
	if is == noChange {
		return
	}
	breaks := slices.ContainsFunc(CellFindings(set.Calls[i], &r.Cells[i]), BreaksSchema)
	switch is {
	case otherType:
		n.types++
		if breaks {
			n.badTypes++
		}
	case leftOut:
		n.absent++
	case added:
		n.added++
	case otherValue:
		n.values++
	}
	if breaks && is != otherType {
		n.badValues++
	}
}

// countWords returns a number and a noun, e.g. "1 wrong type" or "2 wrong types".
func countWords(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Times contains the times of a turn's first bytes and of its end. They are relative to the request or, if the time
// of the request is unknown, to the turn's first event. A missing time is NoTime.
type Times struct {
	First time.Duration // time of the first byte of the response
	Arg   time.Duration // time of the first argument byte
	End   time.Duration // time of the end, or of the last data so far
	Over  bool
	Asked bool               // times are relative to the request
	Args  [][2]time.Duration // times of each call's first and last argument byte
}

// TimesOf returns the times of a turn.
func TimesOf(v *providers.View, t *stream.Turn) Times {
	l := v.Latency(t, nil)
	since := func(at time.Duration) time.Duration {
		if at < 0 || l.From < 0 || at < l.From {
			return stream.NoTime
		}
		return at - l.From
	}
	times := Times{First: since(t.OpenedAt), Arg: stream.NoTime, End: l.End, Over: t.Closed(), Asked: l.RequestSeen}
	if l.FirstToken >= 0 {
		times.First = l.FirstToken
	}
	last := times.First
	for _, c := range t.Calls {
		from, to := since(c.FirstArgAt), since(c.LastArgAt)
		if from < 0 {
			continue
		}
		times.Args = append(times.Args, [2]time.Duration{from, to})
		if times.Arg < 0 || from < times.Arg {
			times.Arg = from
		}
		last = max(last, to)
	}
	if x := v.Exchange(t.Exchange); !times.Over && x != nil {
		times.End = max(last, since(x.LastRecordAt()))
	}
	return times
}

// BarCell says what happened during one cell of a bar.
type BarCell uint8

const (
	Blank   BarCell = iota // outside the turn
	Nothing                // no response yet
	Silent                 // a response, but no arguments
	Coming                 // arguments arrived
)

// Bar returns a turn's time as a row of cells, or nil if its end is unknown. Each cell stands for the given
// duration. A call's arguments fill at least one cell.
func (t *Times) Bar(cell time.Duration) (bar []BarCell) {
	if t.End < 0 || cell <= 0 {
		return nil
	}
	bar = make([]BarCell, max(1, int((t.End+cell-1)/cell)))
	for i := range bar {
		from, to := time.Duration(i)*cell, time.Duration(i+1)*cell
		bar[i] = Silent
		if to <= t.First || t.First < 0 {
			bar[i] = Nothing
		}
		for _, a := range t.Args {
			if a[0] < to && a[1] >= from {
				bar[i] = Coming
			}
		}
	}
	return bar
}

// Phases returns the number of cells in each phase of a turn: before the response begins, before arguments arrive,
// and the rest.
func (t *Times) Phases(cell time.Duration) (n [3]int) {
	if t.End < 0 || cell <= 0 {
		return n
	}
	cells := func(from, to time.Duration) int {
		if from < 0 || to <= from {
			return 0
		}
		return max(1, int((to-from+cell/2)/cell))
	}
	first, arg := max(t.First, 0), t.Arg
	if t.First < 0 {
		first = t.End
	}
	if arg < 0 {
		arg = t.End
	}
	return [3]int{cells(0, first), cells(first, arg), cells(arg, t.End)}
}

// ByPhase returns bars in which each phase starts at the same cell for all turns. The longest turn in a phase
// determines the phase's width.
func ByPhase(all []Times, cell time.Duration) (bars [][]BarCell) {
	var widest [3]int
	for i := range all {
		for part, n := range all[i].Phases(cell) {
			widest[part] = max(widest[part], n)
		}
	}
	for i := range all {
		var bar []BarCell
		for part, n := range all[i].Phases(cell) {
			for k := range widest[part] {
				piece := Blank
				if k < n {
					piece = [...]BarCell{Nothing, Silent, Coming}[part]
				}
				bar = append(bar, piece)
			}
		}
		for len(bar) > 0 && bar[len(bar)-1] == Blank {
			bar = bar[:len(bar)-1]
		}
		bars = append(bars, bar)
	}
	return bars
}

// Scale returns the duration of one cell at which the longest turn fits in the given number of cells. If byPhase is
// true, the longest phases must fit together. It returns 0 if there is no time to show or no room.
func Scale(all []Times, cells int, byPhase bool) time.Duration {
	var longest time.Duration
	var parts [3]time.Duration
	for i := range all {
		t := &all[i]
		longest = max(longest, t.End)
		parts[0] = max(parts[0], t.First)
		if t.Arg >= 0 {
			parts[1], parts[2] = max(parts[1], t.Arg-t.First), max(parts[2], t.End-t.Arg)
		} else {
			parts[1] = max(parts[1], t.End-max(t.First, 0))
		}
	}
	if byPhase {
		longest, cells = parts[0]+parts[1]+parts[2], cells-2 // the length of each phase is rounded
	}
	if longest <= 0 || cells <= 0 {
		return 0
	}
	return (longest + time.Duration(cells) - 1) / time.Duration(cells)
}
