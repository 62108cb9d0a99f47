package fix

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/json"
)

// A Fault is a place in a file that breaks a rule of the target.
type Fault struct {
	*stream.Diagnosis
	Rule    string
	Message stream.Message
	Path    string // path in the request body, or in the line of a session file; "" if unknown
	Line    int    // 0 if unknown
	Start   int    // range of the place in the file
	End     int    // 0 if unknown
	Client  string // what the client sends instead; "" if it sends the fault unchanged
}

// A Correction is one change to a history that makes the history obey a rule. It may consist of several Changes.
type Correction struct {
	Code  string
	Line  int // in the original file
	Words stream.Message
}

// A Result is the diagnosis of a file, with its corrections.
type Result struct {
	Target      *protocol.Target
	Items       int // number of messages or items in the history
	Faults      []Fault
	Corrections []Correction
	Changes     []Change // the changes for all corrections together, as ranges of the original file
	Text        []byte   // the corrected file
	Left        []Fault  // faults that can't be corrected
	Notes
}

// maxPasses is the maximum number of times that a file is checked.
const maxPasses = 10_000

// maxFixBytes limits the work on a large file with many faults: the file's size times the number of passes.
const maxFixBytes = 4 << 30

// Correct checks a file and corrects its faults. It changes only the bytes that break a rule.
func Correct(text []byte, form *Form, read Reader) (*Result, error) {
	d, err := openDocument(text, form, read)
	if err != nil {
		return nil, err
	}
	result := &Result{Target: d.Target, Items: len(d.items), Notes: d.Notes}
	breaches := d.checkRules()
	result.Faults = d.faultsOf(breaches)
	changed := &pieces{original: text, list: []piece{{from: 0, to: len(text)}}}
	for pass := 0; len(breaches) > 0 && pass < min(maxPasses, 10+maxFixBytes/max(1, len(text))); pass++ {
		done := d.correctPass(breaches)
		if len(done) == 0 {
			break
		}
		var edits []edit
		for _, c := range done {
			at := changed.originalOffset(c.edits[0].from)
			result.Corrections = append(result.Corrections, Correction{Code: c.code, Line: lineOf(text, at), Words: c.words})
			edits = append(edits, c.edits...)
		}
		slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(b.from-a.from, b.to-a.to) })
		for _, e := range edits { // last one first, so that the earlier offsets stay valid
			changed.applyEdit(e)
		}
		if d, err = openDocument(changed.joinPieces(), form, read); err != nil {
			return nil, fmt.Errorf("the correction failed: %w", err)
		}
		breaches = d.checkRules()
	}
	result.Text, result.Changes = d.text, changed.listChanges()
	result.Left = slices.DeleteFunc(d.faultsOf(breaches), func(f Fault) bool { return f.Client != "" })
	return result, nil
}

// NeedsCorrection reports whether a provider would refuse the client's request.
func (r *Result) NeedsCorrection() bool {
	return slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Client == "" })
}

// checkRules returns the rules that the request breaks. It leaves out rules whose breach only a refusal can prove.
func (d *document) checkRules() (all []requestrules.Breach) {
	if d.Form != Body {
		all = slices.DeleteFunc(new(requestrules.Session).Check(d.Messages, false), func(b requestrules.Breach) bool { return b.Rule != "result-once" })
	}
	for _, b := range requestrules.Check(d.Request) {
		isKnown := slices.ContainsFunc(all, func(o requestrules.Breach) bool { return o.Rule == b.Rule })
		if b.Proof != requestrules.ByRefusal && !isKnown && !slices.Contains(d.ignored, b.Rule) {
			all = append(all, b)
		}
	}
	d.unanswered = map[partPlace]bool{}
	for _, b := range all {
		if b.Rule == "call-answered" {
			for _, at := range b.Spots {
				d.unanswered[partPlace{at.Message, at.Part}] = true
			}
		}
	}
	return all
}

// clientWords describes what the client sends instead of a fault. If the client sends the fault unchanged, the result
// is "".
func (d *document) clientWords(b *requestrules.Breach, at requestrules.Spot) string {
	if b.Rule == "result-has-call" && d.Form == Codex && d.findCall(at) != nil {
		return "" // the session has the call in another place
	}
	return d.RuleWords[b.Rule]
}

// faultsOf returns the faults in the given breaches, one for each place.
func (d *document) faultsOf(breaches []requestrules.Breach) (all []Fault) {
	for _, b := range breaches {
		for _, at := range b.Spots {
			one := b
			one.Spots = []requestrules.Spot{at}
			f := Fault{Diagnosis: b.Diagnosis, Rule: b.Rule, Message: one.Message(""), Client: d.clientWords(&b, at)}
			place := d.placeOf(at.Message, at.Part)
			if at.Message == -1 {
				place = d.toolNamePlace(at.Part)
			}
			if place.isKnown() {
				begin := 0 // of the request body or, in a session file, of the line
				if d.Form != Body {
					begin = bytes.LastIndexByte(d.text[:place.from], '\n') + 1
				}
				f.Path = json.PathAt(d.text[begin:], place.from-begin, place.to-begin)
				f.Line, f.Start, f.End = lineOf(d.text, place.from), place.from, place.to
			}
			all = append(all, f)
		}
	}
	return all
}

// correctPass returns corrections for as many faults as possible. No two of them change the same item or neighbouring
// items.
func (d *document) correctPass(breaches []requestrules.Breach) (done []*correction) {
	busy := map[int]bool{}
	d.given = map[string]bool{}
	for i := range breaches {
		b := &breaches[i]
		for _, at := range b.Spots {
			if d.clientWords(b, at) != "" {
				continue
			}
			c := d.correctFault(b, at)
			if c == nil || slices.ContainsFunc(c.edits, func(e edit) bool { return !d.keepsParts(e) }) {
				continue
			}
			touched := []int{}
			for _, e := range c.edits {
				n := d.itemNear(e.from)
				touched = append(touched, n-1, n, n+1)
			}
			if slices.ContainsFunc(touched, func(n int) bool { return busy[n] }) {
				continue
			}
			for _, n := range touched {
				busy[n] = true
			}
			c.code, d.given[c.fresh] = b.Code, true
			done = append(done, c)
		}
	}
	return done
}

// keepsParts reports whether an edit stays inside one item and one part, or replaces whole ones. Any other edit would
// destroy history next to the fault.
func (d *document) keepsParts(e edit) bool {
	cuts := func(r valueRange) bool {
		isInside := r.from <= e.from && e.to <= r.to
		isWhole := e.from <= r.from && r.to <= e.to
		return e.from < r.to && r.from < e.to && !isInside && !isWhole
	}
	isCut := slices.ContainsFunc(d.items, func(it item) bool { return cuts(it.valueRange) }) ||
		slices.ContainsFunc(d.places, func(p messagePlace) bool { return slices.ContainsFunc(p.parts, cuts) })
	return !isCut && 0 <= e.from && e.from <= e.to && e.to <= len(d.text)
}

// itemNear returns the index of the last item that begins at or before an offset, or 0.
func (d *document) itemNear(offset int) (near int) {
	for i := range d.items {
		if d.items[i].from <= offset {
			near = i
		}
	}
	return near
}
