package schema

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Limits keep compiling and validating under 250 ms each, even on a slow machine. TestLimits measures
// the worst input that they allow.
//
// The library compiles, and can't be stopped. Its work grows with the number of schemas, with their
// nesting, and with references to places where no schema is expected, so those are counted first.
// Validating can take exponential time (alternatives of alternatives). So each evaluation of a schema is
// charged to a budget, together with the inner evaluations that fail at once, and so is each match of a
// regular expression. When the budget is spent, a panic unwinds the validation.
const (
	maxBytes          = 256 << 10 // of a schema
	maxSchemas        = 2_000     // objects in a schema
	maxNesting        = 64        // of objects and arrays in a schema
	maxRefs           = 100       // references to places where no schema is expected
	maxSchemasAtValue = 48        // nested schemas that apply to one value
	maxProgram        = 2_000     // instructions of a regular expression
	maxDepth          = 200       // of arguments
	maxNumber         = 400       // bytes of a number, and its exponent
	maxSteps          = 2_000_000 // sum of the depths of all tokens of arguments
	maxArgs           = 8 << 20   // bytes of arguments

	maxWork        = 4_000_000 // units of work of one validation, about 10 ns each
	evaluationCost = 30        // units of an evaluation, whatever its result
	longNumberCost = 1_000     // units of a calculation with a long number
)

// jsonCost holds the counts of a JSON text that decide how long it takes.
type jsonCost struct {
	objects, depth int
	steps          int  // sum of the depths of all tokens
	long           int  // numbers that are slow to calculate with
	number         bool // it has a number too large for that
}

// measureCost counts the tokens of a JSON text.
func measureCost(text []byte, toks stream.TokenList) (m jsonCost) {
	depth, start := 0, uint32(0)
	for _, t := range toks.All() {
		m.steps += depth + 1
		switch t.Kind {
		case stream.ObjectOpen, stream.ArrayOpen:
			depth++
			m.depth = max(m.depth, depth)
			if t.Kind == stream.ObjectOpen {
				m.objects++
			}
		case stream.ObjectClose, stream.ArrayClose:
			depth--
		case stream.Number:
			number := text[start:t.End]
			m.number = m.number || isHugeNumber(number)
			if isLong(number) {
				m.long++
			}
		}
		start = t.End
	}
	return m
}

// isHugeNumber reports whether a number is too large to calculate with.
func isHugeNumber(number []byte) bool {
	if len(number) > maxNumber {
		return true
	}
	i := strings.IndexAny(string(number), "eE")
	if i < 0 {
		return false
	}
	n, err := strconv.Atoi(string(number[i+1:]))
	return err != nil || n > maxNumber || n < -maxNumber
}

// isLong reports whether a number is slow to calculate with.
func isLong[text ~string | ~[]byte](number text) bool {
	return len(number) > 20 || strings.ContainsAny(string(number), "eE")
}

// refusalReason returns the reason why a schema is not compiled at all, or "".
func refusalReason(text protocol.Raw) string {
	if len(text) > maxBytes {
		return "it is larger than 256 KiB"
	}
	var lex stream.Lexer
	lex.Write(text)
	lex.Close()
	switch m := measureCost(text, lex.Tokens()); {
	case m.objects > maxSchemas:
		return "it has more than 2,000 objects"
	case m.depth > maxNesting:
		return "it is nested more than 64 levels deep"
	case m.number:
		return "it has a number too large to calculate with"
	case oddRefs(text, lex.Tokens()) > maxRefs:
		return "it refers to more than 100 places outside $defs and definitions"
	}
	return ""
}

// oddRefs counts the strings that may be references to places where no schema is expected. For each of
// them the library copies everything that it knows.
func oddRefs(text []byte, toks stream.TokenList) (n int) {
	start := uint32(0)
	for _, t := range toks.All() {
		if t.Kind == stream.String && t.End-start > 3 && text[start+1] == '#' {
			parts := strings.Split(string(text[start+1:t.End-1]), "/")
			if len(parts) != 3 || parts[1] != "$defs" && parts[1] != "definitions" {
				n++
			}
		}
		start = t.End
	}
	return n
}

// workBudget is the budget of the current validation.
type workBudget struct{ left int }

// budgetExceeded is the panic that unwinds a validation.
type budgetExceeded struct{}

// spend charges units, and panics if the budget is exceeded.
func (m *workBudget) spend(units int) {
	if m.left -= units; m.left < 0 {
		panic(budgetExceeded{})
	}
}

// costedSchema charges each evaluation of a schema, for itself and for the schemas that it starts. It
// replaces the schema's format, which the library checks first once the type is right.
type costedSchema struct {
	meter  *workBudget
	format *jsonschema.Format // the schema's own, or nil
	once   int                // units for any value
	each   int                // units for each key or element
	unique bool               // elements are compared with each other
}

// chargeValue charges the evaluation of a value, then checks the schema's own format.
func (t *costedSchema) chargeValue(v any) error {
	units := t.once
	switch v := v.(type) {
	case map[string]any:
		units += len(v) * t.each
	case []any:
		units += len(v) * t.each
		if t.unique {
			units += 20 * compareCost(v) // the library compares 20 at once, or by a hash
		}
	case string:
		units += len(v) / 16
	case json.Number:
		if isLong(v) {
			units += longNumberCost
		}
	}
	t.meter.spend(units)
	if t.format == nil {
		return nil
	}
	return t.format.Validate(v)
}

// compareCost returns the units of a comparison with a value.
func compareCost(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += 1 + compareCost(e)
		}
	case []any:
		for _, e := range v {
			n += compareCost(e)
		}
	case string:
		n += len(v) / 64
	case bool, nil:
	default:
		n = evaluationCost // numbers are compared as fractions of big integers
	}
	return n
}

// costedPattern is a regular expression whose matches are charged. Go's expressions take linear time, but
// can't look ahead or back. A pattern that does so, or that is too large, counts as matching everything.
type costedPattern struct {
	text    string
	re      *regexp.Regexp // nil if it can't be matched
	program int            // instructions
	meter   *workBudget
}

// newPattern compiles a pattern if it can.
func newPattern(text string, m *workBudget) *costedPattern {
	p := &costedPattern{text: text, meter: m}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p
	}
	if p.program = countInstructions(tree); p.program > maxProgram {
		return p
	}
	p.re, _ = regexp.Compile(text)
	return p
}

// countInstructions returns the approximate size of a compiled regular expression.
func countInstructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += countInstructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, 1<<30)
}

func (p *costedPattern) String() string { return p.text }

func (p *costedPattern) matchCost(s string) int { return (len(s) + 16) * (p.program + 4) / 4 }

// MatchString charges a match and makes it.
func (p *costedPattern) MatchString(s string) bool {
	p.meter.spend(p.matchCost(s))
	return p.re == nil || p.re.MatchString(s)
}
