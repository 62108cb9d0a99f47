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
)

// Sentence says who agrees, and then the gravest difference of each side that does not: in a call,
// a state, a type, a value, or, where nothing else differs, in the time it took. The forms get
// shorter: the first that fits is to be shown.
func (p *Comparison) Sentence(say func(time.Duration) string) (forms []string) {
	count := p.Count()
	members := count.fieldsText()
	for _, name := range []func(int) string{p.sideName, p.shortNames()} {
		agree, graver := p.Agreement(name), p.worstDifferences(name)
		switch {
		case len(graver) == 0:
			forms = append(forms, joinNonEmpty(agree, p.timeSentence(name, say)), agree)
		case len(p.Sides) == 2 && count.Calls+count.States == 0 && members != "" && !p.hasFailure():
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

// maxPhrases is how many sides are told of: more than these nobody reads.
const maxPhrases = 3

// firstPhrases are the first n of phrases, and how many more there are.
func firstPhrases(phrases []string, n int) string {
	n = min(n, len(phrases))
	text := strings.Join(phrases[:n], "; ")
	if left := len(phrases) - n; left > 0 {
		text += fmt.Sprintf("; %d more", left)
	}
	return text + "."
}

func (p *Comparison) hasFailure() bool {
	return slices.ContainsFunc(p.Sides, func(s Side) bool { return s.Fails != "" })
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

// fieldsText are how many members differ, "" for none.
func (c *Counts) fieldsText() string {
	var parts []string
	switch n := c.DifferingFields(); {
	case n == 1:
		parts = append(parts, "1 member differs")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d members differ", n))
	}
	switch {
	case c.Breaks == 1:
		parts = append(parts, "1 breaks the schema")
	case c.Breaks > 1:
		parts = append(parts, fmt.Sprintf("%d break the schema", c.Breaks))
	}
	return strings.Join(parts, ", ")
}

func (p *Comparison) sideName(i int) string { return p.Sides[i].Name }

// shortNames are the names without what follows a hyphen and holds no digit, where that still tells
// them apart: mistral-large is mistral.
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

// difference is what a side does otherwise, and how grave that is: the least is.
type difference struct {
	grave int
	who   []string
	does  string // behind who
}

// worstDifferences is the gravest difference of each side, the gravest side first. Sides that do the same
// are told of together.
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

// joinNames are some names in a row.
func joinNames(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// worstDifference is the gravest that a side does otherwise than the base.
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

// callPhrase says which calls a side did not make, or made besides, "" where it made those of the
// base, or may.
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
		return "called " + adds + " besides"
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

// numberWord is a number in words, if it is small.
func numberWord(n int) string {
	if words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}; n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// fieldPhrase says what a call has of a member.
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
		return "began " + name + " otherwise"
	}
	text := set.Calls[i].Args()
	if int(c.End) > len(text) || c.End-c.Start > maxQuoted || c.Kind == stream.ObjectOpen || c.Kind == stream.ArrayOpen {
		return "wrote " + name + " otherwise"
	}
	return fmt.Sprintf("wrote %s as %s", name, text[c.Start:c.End])
}

// maxQuoted is how many bytes a value may have that is quoted.
const maxQuoted = 24
