package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/stream/json"
)

// Side is one turn of a comparison. Its turn might not have opened yet.
type Side struct {
	Name  string
	Turn  *stream.Turn  // nil until the turn opens
	Over  bool          // no more data will arrive
	Fails string        // reason why there is no usable response, e.g. "HTTP 429"
	Took  time.Duration // duration from the request to the end, or NoTime
}

// CallSet is a set of matching calls with their compared fields. It contains one call per side, which is nil if the
// side has no such call.
type CallSet struct {
	Calls []*stream.Call
	Rows  []Row
	Sums  []uint64
}

// Name returns the name of the calls' tool, or "" if no call has arrived.
func (s *CallSet) Name() string {
	for _, c := range s.Calls {
		if c != nil {
			return c.Name
		}
	}
	return ""
}

// Comparison is a comparison of turns, as far as they have arrived.
type Comparison struct {
	Sides []Side
	Base  int
	Sets  []CallSet
}

// Counts contains the number of differences of each kind.
type Counts struct {
	Calls   int // sets in which a side whose turn has ended lacks the call
	States  int // sets whose calls ended in different states
	Types   int // fields with a different type
	Absent  int // fields that at least one call lacks
	Values  int // fields with the same type but a different value
	Breaks  int // fields that break the schema, whether equal or not
	Pending bool
}

// DifferingFields returns the number of fields that differ.
func (c *Counts) DifferingFields() int { return c.Types + c.Absent + c.Values }

// Equal reports whether nothing differs so far.
func (c *Counts) Equal() bool { return c.Calls+c.States+c.DifferingFields() == 0 }

// Count counts the differences.
func (p *Comparison) Count() (n Counts) {
	for i := range p.Sides {
		n.Pending = n.Pending || !p.Sides[i].Over
	}
	for s := range p.Sets {
		set := &p.Sets[s]
		missing, other := false, false
		for i, c := range set.Calls {
			missing = missing || c == nil && p.Sides[i].Over
			other = other || p.otherState(set, i)
		}
		if missing {
			n.Calls++
		}
		if other {
			n.States++
		}
		for r := range set.Rows {
			n.countRow(set, &set.Rows[r], p.Base)
		}
	}
	return n
}

// countRow counts one field. It does not count the fields of a missing call as missing.
func (n *Counts) countRow(set *CallSet, r *Row, base int) {
	if r.Split {
		return
	}
	var kind change
	for i := range r.Cells {
		kind = max(kind, changeOf(set, r, i, base))
	}
	switch kind {
	case otherType:
		n.Types++
	case leftOut, added:
		n.Absent++
	case otherValue:
		n.Values++
	}
	for i, c := range set.Calls {
		if c != nil && slices.ContainsFunc(CellFindings(c, &r.Cells[i]), BreaksSchema) {
			n.Breaks++
			break
		}
	}
}

// otherState reports whether the calls of side i and the base ended in different states.
func (p *Comparison) otherState(set *CallSet, i int) bool {
	c, b := set.Calls[i], set.Calls[p.Base]
	return c != nil && b != nil && !c.MayGrow() && !b.MayGrow() && c.Status() != b.Status()
}

// change says how a cell differs from the base's cell. The values are in order of severity, the most serious last.
type change uint8

const (
	noChange change = iota
	otherValue
	added
	leftOut
	otherType
)

func changeOf(set *CallSet, r *Row, i, base int) change {
	c, b := &r.Cells[i], &r.Cells[base]
	switch {
	case set.Calls[i] == nil || set.Calls[base] == nil || c.Agrees():
		return noChange
	case c.Relation == Absent:
		return leftOut
	case !b.Has():
		return added
	case typeOf(c.Kind) != typeOf(b.Kind):
		return otherType
	}
	return otherValue
}

// typeOf returns the JSON Schema name for a kind of value, with an article.
func typeOf(k json.TokenKind) string {
	switch k {
	case json.ObjectOpen:
		return "an object"
	case json.ArrayOpen:
		return "an array"
	case json.String:
		return "a string"
	case json.Number:
		return "a number"
	case json.True, json.False:
		return "a boolean"
	case json.Null:
		return "null"
	}
	return "free text"
}

// agreement says whether two sides agree.
type agreement uint8

const (
	undecided agreement = iota
	yes
	no
)

// agreementOf says whether two sides made the same calls.
func (p *Comparison) agreementOf(i, j int) agreement {
	a, b := &p.Sides[i], &p.Sides[j]
	all := yes
	if !a.Over || !b.Over {
		all = undecided
	}
	if (a.Fails != "") != (b.Fails != "") {
		return no
	}
	for s := range p.Sets {
		set := &p.Sets[s]
		c, d := set.Calls[i], set.Calls[j]
		switch {
		case c == nil && d == nil:
		case c == nil && a.Over, d == nil && b.Over:
			return no
		case c == nil || d == nil:
			all = undecided
		case set.hasDifference(i, j, p.Base), !c.MayGrow() && !d.MayGrow() && c.Status() != d.Status():
			return no
		case set.argsHash(i) == 0 || set.argsHash(j) == 0:
			all = undecided
		case set.argsHash(i) != set.argsHash(j):
			return no
		}
	}
	return all
}

func (s *CallSet) argsHash(i int) uint64 {
	if i >= len(s.Sums) {
		return 0
	}
	return s.Sums[i]
}

// hasDifference reports whether a row differs between two calls. One of them must be the base's call.
func (s *CallSet) hasDifference(i, j, base int) bool {
	if j == base {
		i, j = j, i
	}
	return i == base && slices.ContainsFunc(s.Rows, func(r Row) bool { return !r.Cells[j].Agrees() })
}

// agreeingSides returns the largest group of sides that agree with one another, or nil if no two agree. If several
// groups have the same size, the base's group wins. The result decided is false while any pair of sides may still
// agree or differ.
func (p *Comparison) agreeingSides() (group []int, decided bool) {
	decided = true
	for i := range p.Sides {
		one := []int{i}
		for j := range p.Sides {
			if i == j {
				continue
			}
			switch p.agreementOf(i, j) {
			case yes:
				one = append(one, j)
			case undecided:
				decided = false
			}
		}
		if len(one) > max(1, len(group)) || len(one) == len(group) && i == p.Base {
			group = one
		}
	}
	slices.Sort(group)
	return group, decided
}

// Agreement returns a sentence about the sides that agree, e.g. "No two agree." or "A and B agree." If there are no
// calls, the sentence says so. It returns "" if there are only two sides and they differ, or if some sides differ and
// others are undecided.
func (p *Comparison) Agreement(name func(int) string) string {
	group, decided := p.agreeingSides()
	n := p.Count()
	switch {
	case len(p.Sets) == 0 && n.Pending:
		return "No calls yet."
	case len(p.Sets) == 0 && !slices.ContainsFunc(p.Sides, func(s Side) bool { return s.Fails != "" }):
		return "No turn calls a tool."
	case len(group) == len(p.Sides) && len(group) == 2:
		return "Both agree."
	case len(group) == len(p.Sides):
		return fmt.Sprintf("All %d agree.", len(group))
	case len(group) > 3:
		return fmt.Sprintf("%d of %d agree.", len(group), len(p.Sides))
	case len(group) > 1:
		who := make([]string, len(group))
		for i, g := range group {
			who[i] = name(g)
		}
		return joinNames(who) + " agree."
	case decided && len(p.Sides) > 2:
		return "No two agree."
	case !decided && n.Equal():
		return "So far all agree."
	}
	return ""
}

// timeSentence names the slowest and the fastest side. It returns "" if the slowest side took less than 1.2 times as
// long as the fastest, or if fewer than two times are known.
func (p *Comparison) timeSentence(name func(int) string, say func(time.Duration) string) string {
	var timed []int
	for i := range p.Sides {
		if p.Sides[i].Took > 0 {
			timed = append(timed, i)
		}
	}
	if len(timed) < 2 {
		return ""
	}
	slices.SortStableFunc(timed, func(i, j int) int { return cmp.Compare(p.Sides[j].Took, p.Sides[i].Took) })
	slow, fast := timed[0], timed[len(timed)-1]
	if p.Sides[slow].Took < p.Sides[fast].Took*6/5 {
		return ""
	}
	return fmt.Sprintf("%s took %s, %s %s.", name(slow), say(p.Sides[slow].Took), name(fast), say(p.Sides[fast].Took))
}

// Sentence returns versions of the same text, the longest first. The caller shows the first version that fits. A
// version says which sides agree, and names the most serious difference of every other side. The order of severity
// is: a call, a state, a type, a value. If no side differs, the text compares the times.
func (p *Comparison) Sentence(say func(time.Duration) string) (forms []string) {
	count := p.Count()
	members := count.fieldsText()
	for _, name := range []func(int) string{func(i int) string { return p.Sides[i].Name }, p.shortNames()} {
		agree, graver := p.Agreement(name), p.worstDifferences(name)
		switch {
		case len(graver) == 0:
			forms = append(forms, joinNonEmpty(agree, p.timeSentence(name, say)), agree)
		case len(p.Sides) == 2 && count.Calls+count.States == 0 && members != "" && !slices.ContainsFunc(p.Sides, func(s Side) bool { return s.Fails != "" }):
			forms = append(forms, members+": "+strings.Join(graver, "; ")+".", members+".")
		default:
			forms = append(forms, joinNonEmpty(agree, firstPhrases(graver, maxPhrases), withFullStop(members)))
			for n := min(len(graver), maxPhrases); n > 0; n-- {
				forms = append(forms, joinNonEmpty(agree, firstPhrases(graver, n)))
			}
			forms = append(forms, joinNonEmpty(agree, withFullStop(members)), agree, graver[0]+".", withFullStop(members))
		}
	}
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a)) })
	return slices.DeleteFunc(slices.Compact(forms), func(s string) bool { return s == "" })
}

// maxPhrases is the maximum number of differences in a sentence, because longer sentences are hard to read.
const maxPhrases = 3

// firstPhrases joins the first n phrases and adds the number of further phrases.
func firstPhrases(phrases []string, n int) string {
	n = min(n, len(phrases))
	text := strings.Join(phrases[:n], "; ")
	if left := len(phrases) - n; left > 0 {
		text += fmt.Sprintf("; %d more", left)
	}
	return text + "."
}

func joinNonEmpty(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func withFullStop(s string) string {
	if s == "" {
		return ""
	}
	return s + "."
}

// fieldsText says how many fields differ, and how many break the schema. It returns "" if both numbers are 0.
func (c *Counts) fieldsText() string {
	var parts []string
	switch n := c.DifferingFields(); {
	case n == 1:
		parts = append(parts, "1 field differs")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d fields differ", n))
	}
	switch {
	case c.Breaks == 1:
		parts = append(parts, "1 breaks the schema")
	case c.Breaks > 1:
		parts = append(parts, fmt.Sprintf("%d break the schema", c.Breaks))
	}
	return strings.Join(parts, ", ")
}

// shortNames returns names without trailing parts that begin with a hyphen and have no digit. For example,
// mistral-large becomes mistral. A name stays long if the short name is not unique.
func (p *Comparison) shortNames() func(int) string {
	short, count := make([]string, len(p.Sides)), map[string]int{}
	for i := range p.Sides {
		name := p.Sides[i].Name
		for {
			at := strings.LastIndexByte(name, '-')
			if at <= 0 || strings.ContainsFunc(name[at:], unicode.IsDigit) {
				break
			}
			name = name[:at]
		}
		short[i] = name
		count[name]++
	}
	return func(i int) string {
		if count[short[i]] > 1 {
			return p.Sides[i].Name
		}
		return short[i]
	}
}

// difference is one difference of a side from the base. The field grave is lower for more serious differences, and 0
// for the most serious.
type difference struct {
	grave int
	who   []string
	does  string // verb phrase that follows the names
}

// worstDifferences returns the most serious difference of each side from the base, sorted by severity. Sides with the
// same difference share one phrase.
func (p *Comparison) worstDifferences(name func(int) string) (all []string) {
	var list []difference
	for i := range p.Sides {
		if i == p.Base {
			continue
		}
		f := p.worstDifference(i, name)
		same := slices.IndexFunc(list, func(o difference) bool { return o.does == f.does && o.grave == f.grave && len(o.who) > 0 })
		switch {
		case f.does == "":
		case same >= 0 && len(f.who) > 0:
			list[same].who = append(list[same].who, f.who...)
		default:
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b difference) int { return cmp.Compare(a.grave, b.grave) })
	for _, f := range list {
		all = append(all, joinNonEmpty(joinNames(f.who), f.does))
	}
	return all
}

// joinNames joins names with commas and "and".
func joinNames(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// worstDifference returns a side's most serious difference from the base. If nothing differs, the verb phrase of the
// result is empty.
func (p *Comparison) worstDifference(i int, name func(int) string) difference {
	s, b := &p.Sides[i], &p.Sides[p.Base]
	who := []string{name(i)}
	switch {
	case s.Fails != "" && b.Fails == "":
		return difference{0, who, "failed: " + s.Fails}
	case s.Fails == "" && b.Fails != "":
		return difference{0, nil, name(p.Base) + " failed: " + b.Fails}
	}
	if text := p.callPhrase(i); text != "" {
		return difference{1, who, text}
	}
	for n := range p.Sets {
		set := &p.Sets[n]
		if p.otherState(set, i) {
			return difference{2, nil, fmt.Sprintf("%s's %s is %s, %s's %s", name(i), set.Name(), set.Calls[i].Status(), name(p.Base), set.Calls[p.Base].Status())}
		}
	}
	worst, text := noChange, ""
	for n := range p.Sets {
		set := &p.Sets[n]
		for r := range set.Rows {
			row := &set.Rows[r]
			if change := changeOf(set, row, i, p.Base); change > worst && !row.Split {
				worst, text = change, fieldPhrase(set, row, i, change)
			}
		}
	}
	return difference{3 + int(otherType) - int(worst), who, text}
}

// callPhrase describes missing and additional calls of a side. It returns "" if the side made the base's calls and no
// others, or if either side may still make the calls that it lacks.
func (p *Comparison) callPhrase(i int) string {
	var own, base, missing, more int
	var lacks, adds string
	for n := range p.Sets {
		set := &p.Sets[n]
		c, b := set.Calls[i], set.Calls[p.Base]
		if c != nil {
			own++
		}
		if b != nil {
			base++
		}
		switch {
		case c == nil && b != nil && p.Sides[i].Over:
			missing++
			lacks = b.Name
		case c != nil && b == nil && p.Sides[p.Base].Over:
			more++
			adds = c.Name
		}
	}
	switch {
	case missing == 0 && more == 0:
		return ""
	case own == 0:
		return "made no call"
	case more == 0:
		return fmt.Sprintf("made %s of %s", callsText(own), numberWord(base))
	case missing == 0 && more == 1:
		return "also called " + adds
	case missing == 0:
		return fmt.Sprintf("made %s more", callsText(more))
	case missing == 1 && more == 1 && lacks != adds:
		return fmt.Sprintf("called %s, not %s", adds, lacks)
	}
	return fmt.Sprintf("made %s, not %s", callsText(own), numberWord(base))
}

func callsText(n int) string {
	if n == 1 {
		return "one call"
	}
	return numberWord(n) + " calls"
}

// numberWord spells a number up to ten as a word.
func numberWord(n int) string {
	if words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}; n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// fieldPhrase describes how a call's field differs.
func fieldPhrase(set *CallSet, r *Row, i int, how change) string {
	name, c := strings.ReplaceAll(strings.TrimPrefix(r.Path, "/"), "/", "."), &r.Cells[i]
	if name = "." + name; r.Path == "" {
		name = "the arguments"
	}
	switch {
	case how == leftOut:
		return "left " + name + " out"
	case how == added:
		return "added " + name
	case how == otherType:
		return "wrote " + name + " as " + typeOf(c.Kind)
	case c.List != nil && c.List.Lacks != "" && c.List.Adds == "":
		return "wrote " + name + " without " + c.List.Lacks
	case c.Growing:
		return "began " + name + " differently"
	}
	text := set.Calls[i].Args()
	if int(c.End) > len(text) || c.End-c.Start > maxQuoted || c.Kind == json.ObjectOpen || c.Kind == json.ArrayOpen {
		return "wrote " + name + " differently"
	}
	return fmt.Sprintf("wrote %s as %s", name, text[c.Start:c.End])
}

// maxQuoted is the maximum size, in bytes, of a value that a sentence quotes.
const maxQuoted = 24
