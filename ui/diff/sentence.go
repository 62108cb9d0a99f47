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

// Sentence returns forms of one text, the longest first, for the caller to show the first that fits. A
// form says which sides agree, then the most serious difference of each other side. From most to least
// serious these are: a call, a state, a type, a value. If no side differs, it compares the times.
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

// maxPhrases is the maximum number of differences in a sentence. Longer sentences are hard to read.
const maxPhrases = 3

// firstPhrases joins the first n phrases and counts the others.
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

// fieldsText returns the number of differing fields and of those that break the schema, "" for none.
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

func (p *Comparison) sideName(i int) string { return p.Sides[i].Name }

// shortNames returns names without trailing parts that begin with a hyphen and have no digit:
// mistral-large becomes mistral. A name stays long if it would otherwise not be unique.
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

// difference is one difference of a side from the base. The most serious has grave 0.
type difference struct {
	grave int
	who   []string
	does  string // follows the names
}

// worstDifferences returns the most serious difference of each side, the most serious side first. Sides
// with the same difference share one phrase.
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

// worstDifference returns a side's most serious difference from the base.
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

// callPhrase describes missing and additional calls of a side. It is "" if the side made the base's calls,
// or still may.
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
	if int(c.End) > len(text) || c.End-c.Start > maxQuoted || c.Kind == stream.ObjectOpen || c.Kind == stream.ArrayOpen {
		return "wrote " + name + " differently"
	}
	return fmt.Sprintf("wrote %s as %s", name, text[c.Start:c.End])
}

// maxQuoted is the maximum size, in bytes, of a value that a sentence quotes.
const maxQuoted = 24
