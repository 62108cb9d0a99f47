// Package shrink reduces a capture to the smallest one that still meets a condition.
//
//	records ─▶ events, each with a tree ─▶ fewer exchanges, calls, events, fields, letters ─▶ records
//
// Terms. An event is the bytes of one server-sent event, JSON line, AWS message or WebSocket message, or a body
// that is none of these. A group is the events of one call or content block. A question asks whether a draft of
// the result meets the condition.
//
// Invariants:
//   - The result of a step meets the condition, or the step is undone.
//   - The framing of the result is valid wherever the framing of the original was.
//   - The same records and condition give the same result, unless a time limit ends the search.
package shrink

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolscope/capture"
	"toolscope/stream/lazyregexp"
)

// Options are the condition and the limits.
type Options struct {
	// Holds reports whether records meet the condition. An error ends the search.
	Holds func([]capture.Record) (bool, error)

	// Placeholders returns the records with their content replaced by other words of the same length.
	Placeholders func([]capture.Record) []capture.Record

	Bare         bool // also remove types, ids, indexes and roles
	MaxQuestions int
}

// Result is the smallest capture that was found.
type Result struct {
	Records      []capture.Record
	Events       int    // number of events with bytes
	EventsBefore int    // number of events with bytes in the original
	Questions    int    // number of drafts that were checked
	Kept         int    // number of texts from the original that the condition needs
	Limit        string // the limit that ended the search early; "" if none did
}

// limitError names the limit that ended the search.
type limitError string

func (e limitError) Error() string { return string(e) }

// reducer searches for the smallest draft.
type reducer struct {
	Options
	draft
	ctx       context.Context
	events    []*event
	all       map[numberPlace][]int // numbers in the original, by place
	frozen    bool                  // numbers are not changed any more
	known     map[[sha256.Size]byte]bool
	questions int
	err       error
}

// numberPlace is a field with numbers in one side of an exchange.
type numberPlace struct {
	of   capture.Stream
	path string
}

// Reduce returns the smallest records that still meet the condition. The context's end is a time limit.
func Reduce(ctx context.Context, records []capture.Record, o Options) (*Result, error) {
	r := newReducer(ctx, records, o)
	before := r.countEvents()
	if ok, err := o.Holds(records); err != nil || !ok {
		return nil, cmp.Or(err, errors.New("the condition is not true for the file"))
	}
	var limit limitError
	anonymous := r.startsWith(o.Placeholders(records))
	if !anonymous && !r.startsWith(records) {
		if errors.As(r.err, &limit) {
			return nil, errors.New("the limits ended the search before its first step: use a longer --max-time")
		}
		return nil, cmp.Or(r.err, errors.New("the condition is true for the file, but not after the file is divided into events: toolscope can't shrink it"))
	}
	r.run()
	kept := 0
	if !anonymous && (r.err == nil || errors.As(r.err, &limit)) {
		r.err = nil
		if limit != "" {
			r.MaxQuestions += maxLateQuestions
			r.ctx = context.WithoutCancel(ctx)
		}
		if kept = r.replaceContent(); limit == "" {
			r.run()
		}
	}
	records = r.draftRecords()
	if r.err != nil && !errors.As(r.err, &limit) {
		return nil, r.err
	}
	return &Result{Records: records, Events: r.countEvents(), EventsBefore: before, Questions: r.questions, Kept: kept, Limit: string(limit)}, nil
}

// maxLateQuestions is the number of questions that may be asked after a limit was reached, about texts that have not
// been replaced yet.
const maxLateQuestions = 2000

func newReducer(ctx context.Context, records []capture.Record, o Options) *reducer {
	r := &reducer{Options: o, ctx: ctx, known: map[[sha256.Size]byte]bool{}}
	r.load(records)
	return r
}

// load makes the records the current draft.
func (r *reducer) load(records []capture.Record) {
	r.events, r.all = readEvents(records), map[numberPlace][]int{}
	r.draft = draft{gone: map[any]bool{}, texts: map[*node]string{}}
	for _, e := range r.events {
		for _, n := range e.numbers {
			at := placeOf(n)
			r.all[at] = append(r.all[at], numberIn(n.lit))
		}
	}
	for at, list := range r.all {
		slices.Sort(list)
		r.all[at] = slices.Compact(list)
	}
}

func placeOf(n *node) numberPlace { return numberPlace{n.in.record.Stream(), n.path} }

func numberIn(lit string) int {
	v, _ := strconv.Atoi(lit) // adoptNodes checked the digits
	return v
}

// startsWith makes the records the current draft, with evenly spaced times if possible. It reports whether the draft
// meets the condition.
func (r *reducer) startsWith(records []capture.Record) bool {
	r.load(records)
	for _, even := range []bool{true, false} {
		if r.even = even; r.isTrue() {
			return true
		}
	}
	return false
}

// run applies all steps until none of them changes the draft.
func (r *reducer) run() {
	for r.cutRounds(); !r.frozen && r.err == nil; r.cutRounds() {
		// From now on, the numbers stay as they are: an event may be needed only because its removal would change later
		// numbers. First, they are computed once more, because the latest draft may have been undone.
		r.closeGaps()
		for n, text := range r.numbers {
			if text != r.textOf(n) {
				r.texts[n] = text
				n.in.edits++
			}
		}
		r.numbers, r.frozen = nil, true
	}
}

// cutRounds applies all steps until none of them changes the draft.
func (r *reducer) cutRounds() {
	for again := true; again && r.err == nil; {
		again = r.cutExchanges()
		for _, step := range []func() bool{r.cutGroups, r.joinDeltas, r.cutEvents, r.cutFields, r.joinDeltas, r.simplifyTexts, r.simplifyNames} {
			again = step() || again
		}
	}
}

// isTrue reports whether the current draft has events and meets the condition.
func (r *reducer) isTrue() bool {
	if r.err != nil || r.countEvents() == 0 {
		return false
	}
	if r.ctx.Err() != nil {
		r.err = limitError("time limit")
		return false
	}
	records := r.draftRecords()
	sum := hashRecords(records)
	if holds, asked := r.known[sum]; asked {
		return holds
	}
	if r.questions >= r.MaxQuestions {
		r.err = limitError("limit of questions")
		return false
	}
	r.questions++
	holds, err := r.Holds(records)
	if err != nil {
		r.err = err
		return false
	}
	r.known[sum] = holds
	return holds
}

// hashRecords returns a hash of the content of records.
func hashRecords(records []capture.Record) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, r := range records {
		fmt.Fprintf(h, "%d %s %d %d %s %q %s %d %q ", r.Exchange, r.Side, r.At, len(r.Data), r.End, r.Why, r.By, r.Lost, r.Note)
		if r.Head != nil {
			fmt.Fprintf(h, "%q %v ", r.Head.URL, r.Head.Header)
		}
		h.Write(r.Data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// draftRecords returns the records of the current draft.
func (r *reducer) draftRecords() (records []capture.Record) {
	r.closeGaps()
	for _, e := range r.events {
		if !r.gone[e] {
			records = append(records, r.recordOf(e, len(records)))
		}
	}
	return records
}

func (r *reducer) countEvents() (n int) {
	for _, e := range r.events {
		if e.data != nil && !r.gone[e] {
			n++
		}
	}
	return n
}

// isKept reports whether a node and all nodes around it are in the draft.
func (r *reducer) isKept(n *node) bool {
	for at := n; at != nil && n.in.edits > 0; at = at.up {
		if r.gone[at] {
			return false
		}
	}
	return !r.gone[n.in]
}

// closeGaps closes the gaps that removed numbers leave. Gaps of the original stay, and so does the order.
func (r *reducer) closeGaps() {
	if r.frozen {
		return
	}
	left := map[numberPlace]map[int]int{}
	var kept []*node
	for _, e := range r.events {
		for _, n := range e.numbers {
			if !r.isKept(n) {
				continue
			}
			kept = append(kept, n)
			at := placeOf(n)
			if left[at] == nil {
				left[at] = map[int]int{}
			}
			left[at][numberIn(n.lit)] = 0
		}
	}
	for at, numbers := range left {
		next, before, gap := r.all[at][0], -1, false
		for _, v := range r.all[at] {
			gap = gap || before >= 0 && v > before+1
			if _, is := numbers[v]; is {
				if gap && next > r.all[at][0] {
					next++
				}
				numbers[v], next, gap = next, next+1, false
			}
			before = v
		}
	}
	r.numbers = map[*node]string{}
	for _, n := range kept {
		r.numbers[n] = strconv.Itoa(left[placeOf(n)][numberIn(n.lit)])
	}
}

// setGone removes events and nodes from the draft, or puts them back.
func (r *reducer) setGone(units []any, gone bool) {
	for _, u := range units {
		if n, is := u.(*node); is {
			if gone {
				n.in.edits++
			} else {
				n.in.edits--
			}
		}
		if gone {
			r.gone[u] = true
		} else {
			delete(r.gone, u)
		}
	}
}

// setTexts replaces scalars if the draft then meets the condition. It reports whether it changed any.
func (r *reducer) setTexts(texts map[*node]string) bool {
	old := map[*node]string{}
	for n, text := range texts {
		if had := r.textOf(n); had != text {
			old[n], r.texts[n] = had, text
			n.in.edits++
		}
	}
	if len(old) == 0 || r.isTrue() {
		return len(old) > 0
	}
	for n, text := range old {
		r.texts[n] = text
		n.in.edits--
	}
	return false
}

// cutDown removes as many items as possible, first many at a time, then one by one. The parameter holds is a function
// that reports whether the draft meets the condition with the items of kept and without those of cut.
func cutDown[T any](list []T, holds func(kept, cut []T) bool) (kept []T, changed bool) {
	for size := len(list); size > 0; size /= 2 {
		for at := 0; at < len(list); {
			end := min(at+size, len(list))
			rest := slices.Concat(list[:at], list[end:])
			if holds(rest, list[at:end]) {
				list, changed = rest, true
			} else {
				at = end
			}
		}
	}
	return list, changed
}

// cutUnits removes as many groups of events and nodes as possible. It reports whether it removed any.
func (r *reducer) cutUnits(groups [][]any) bool {
	_, changed := cutDown(groups, func(_, cut [][]any) bool {
		var units []any
		for _, u := range slices.Concat(cut...) {
			if !r.gone[u] {
				units = append(units, u)
			}
		}
		r.setGone(units, true)
		if len(units) > 0 && r.isTrue() {
			return true
		}
		r.setGone(units, false)
		return false
	})
	return changed
}

// cutExchanges removes exchanges, and reports whether it removed any.
func (r *reducer) cutExchanges() bool {
	of := map[int][]any{}
	for _, e := range r.events {
		if !r.gone[e] {
			of[e.record.Exchange] = append(of[e.record.Exchange], e)
		}
	}
	var groups [][]any
	for _, x := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, of[x])
	}
	return r.cutUnits(groups)
}

// cutEvents removes events, and reports whether it removed any.
func (r *reducer) cutEvents() bool {
	var groups [][]any
	for _, e := range r.events {
		if !r.gone[e] && !e.fixed {
			groups = append(groups, []any{e})
		}
	}
	return r.cutUnits(groups)
}

// cutGroups removes calls and content blocks: the events with the same numbers, and the elements of lists in other
// events that have the same id. Events without numbers are grouped by their form.
func (r *reducer) cutGroups() bool {
	of, names := map[string][]any{}, []string(nil)
	owner := map[string]string{} // group of an id; "" if several groups have it
	var others []*event
	for _, e := range r.events {
		if r.gone[e] || e.fixed || e.data == nil {
			continue
		}
		name, numbered := r.groupOf(e)
		if of[name] == nil {
			names = append(names, name)
		}
		if of[name] = append(of[name], e); !numbered {
			others = append(others, e)
			continue
		}
		for n := range e.eachNode {
			if n.kind == '"' && isIDKey(n.key) {
				if had, is := owner[r.textOf(n)]; is && had != name {
					owner[r.textOf(n)] = ""
				} else {
					owner[r.textOf(n)] = name
				}
			}
		}
	}
	for _, e := range others {
		for n := range e.eachNode {
			if n.kind != '"' || !isIDKey(n.key) || n.up.up == nil || n.up.up.kind != '[' || !r.isKept(n) {
				continue
			}
			if name := owner[r.textOf(n)]; name != "" && !slices.Contains(of[name], any(n.up)) {
				of[name] = append(of[name], n.up)
			}
		}
	}
	var groups [][]any
	for _, name := range names {
		groups = append(groups, of[name])
	}
	return r.cutUnits(groups)
}

// groupOf returns the name of an event's group, and whether the event has numbers that identify the group.
func (r *reducer) groupOf(e *event) (name string, numbered bool) {
	name = fmt.Sprint(e.record.Stream())
	for _, n := range e.numbers {
		if at := placeOf(n); len(r.all[at]) > 1 && n.key != "sequence_number" {
			name, numbered = name+" "+n.path+"="+n.lit, true
		}
	}
	if !numbered {
		for n := range e.eachNode {
			name += " " + n.path
		}
	}
	return name, numbered
}

// cutFields removes fields and elements, lines of events, header fields, notes and reasons.
func (r *reducer) cutFields() (changed bool) {
	for depth := 0; r.err == nil; depth++ {
		var groups [][]any
		deeper := false
		for _, e := range r.events {
			if r.gone[e] {
				continue
			}
			for n := range e.eachNode {
				level := strings.Count(n.path, ".")
				deeper = deeper || level > depth
				if level == depth && n != e.payload && n != e.url && (n.up == nil || n.up.kind != packedJSON) && r.isKept(n) && (r.Bare || !isNeeded(n)) {
					groups = append(groups, []any{n})
				}
			}
		}
		if changed = r.cutUnits(groups) || changed; !deeper {
			break
		}
	}
	return changed
}

// joinDeltas joins neighbouring events that differ in only one text.
func (r *reducer) joinDeltas() (changed bool) {
	of := map[capture.Stream][]*event{}
	var streams []capture.Stream
	for _, e := range r.events {
		if !r.gone[e] && e.data != nil {
			s := e.record.Stream()
			if of[s] == nil {
				streams = append(streams, s)
			}
			of[s] = append(of[s], e)
		}
	}
	for _, s := range streams {
		list := of[s]
		for len(list) > 1 {
			run := r.deltaRun(list)
			if len(run) > 1 {
				changed = r.joinRun(run) || changed
			}
			list = list[max(1, len(run)):]
		}
	}
	return changed
}

// deltaRun returns the text nodes of the longest run of events at the start of a list that differ only in this text,
// apart from sequence numbers and padding.
func (r *reducer) deltaRun(list []*event) (run []*node) {
	first := r.scalarsOf(list[0])
	at := -1
	for _, e := range list[1:] {
		here := r.scalarsOf(e)
		if len(here) != len(first) {
			break
		}
		differs := -1
		for i, n := range here {
			m := first[i]
			switch {
			case n.path != m.path || n.kind != m.kind:
				return run
			case r.textOf(n) == r.textOf(m), n.key == "sequence_number", n.key == "obfuscation":
			case n.kind != '"' || differs >= 0 || isIDKey(n.key):
				return run
			default:
				differs = i
			}
		}
		if differs < 0 && at < 0 || at >= 0 && differs >= 0 && differs != at {
			break
		}
		if at < 0 {
			at, run = differs, []*node{first[differs]}
		}
		run = append(run, here[at])
	}
	return run
}

// scalarsOf returns the scalars of an event that are in the draft, and the event's lines.
func (r *reducer) scalarsOf(e *event) (list []*node) {
	for n := range e.eachNode {
		if n.kids == nil && r.isKept(n) {
			list = append(list, n)
		}
	}
	return list
}

// joinRun joins the texts of a run of events into the first event, or into one event for each part of the run. It
// reports whether it joined any.
func (r *reducer) joinRun(run []*node) bool {
	if len(run) < 2 || r.err != nil {
		return false
	}
	text := ""
	var rest []any
	for i, n := range run {
		lit := r.textOf(n)
		if text += lit[1 : len(lit)-1]; i > 0 {
			rest = append(rest, n.in)
		}
	}
	r.setGone(rest, true)
	if r.setTexts(map[*node]string{run[0]: `"` + text + `"`}) {
		return true
	}
	r.setGone(rest, false)
	first := r.joinRun(run[:len(run)/2])
	return r.joinRun(run[len(run)/2:]) || first
}

func isIDKey(key string) bool {
	return key == "id" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id")
}

func isNumberKey(key string) bool {
	return key == "sequence_number" || strings.HasSuffix(key, "index") || strings.HasSuffix(key, "Index")
}

// contentPath matches the paths of values that no protocol defines.
var contentPath = lazyregexp.New(`\.(input|args|arguments|parameters|properties|metadata|schema|input_schema|response)\.`)

func isContent(path string) bool { return contentPath().MatchString(path) }

// isNeeded reports whether programs that read a protocol need a node.
func isNeeded(n *node) bool {
	switch {
	case n.kind == eventLine:
		return strings.HasPrefix(n.lit, "event:")
	case n.path == ".header":
		return n.key == "Content-Type"
	case n.kind == attribute:
		return n.path != ".note" && n.path != ".reason"
	case isContent(n.path):
		return false
	}
	return n.key == "type" || n.key == "role" || n.key == "id" || n.kind == '1' && isNumberKey(n.key) && n.key != "sequence_number"
}
