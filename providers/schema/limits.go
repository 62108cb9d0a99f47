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

// What is compiled and validated is bounded, so that neither takes 250 ms even where this is slow
// (TestLimits measures the worst that is let through).
//
// Compiling is the library's work and cannot be stopped. It grows with the number of schemas, with
// how deep they nest, and with references to places where no schema is expected, so those are
// counted first. Validating can take exponential time (alternatives of alternatives). So each
// evaluationCost of a schema is charged to a budget, together with those it starts that fail at once,
// and so is each match of a regular expression. When the budget is spent, a panic unwinds the
// validation.
const (
	maxBytes          = 256 << 10 // of a schema
	maxSchemas        = 2_000     // objects in a schema
	maxNesting        = 64        // of objects and arrays in a schema
	maxRefs           = 100       // references to places where no schema is expected
	maxSchemasAtValue = 48        // schemas inside each other that hold for one value
	maxProgram        = 2_000     // instructions of a regular expression
	maxDepth          = 200       // of arguments
	maxNumber         = 400       // bytes of a number, and its exponent
	maxSteps          = 2_000_000 // from the top to each token of arguments, together
	maxArgs           = 8 << 20   // bytes of arguments

	maxWork        = 4_000_000 // units of work of one validation, about 10 ns each
	evaluationCost = 30        // units an evaluation takes, whatever it finds
	longNumberCost = 1_000     // units a calculation with a number takes that is not short
)

// jsonCost is what a JSON text would cost.
type jsonCost struct {
	objects, depth int
	steps          int  // from the top to each token, together
	long           int  // numbers that take long to calculate with
	number         bool // it has one too large for that
}

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

// isHugeNumber reports whether a number takes long to calculate with.
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

// isLong reports whether a number takes some time to calculate with.
func isLong[text ~string | ~[]byte](number text) bool {
	return len(number) > 20 || strings.ContainsAny(string(number), "eE")
}

// refusalReason says why a schema is not even compiled, or "".
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
		return "it is nested more than 64 deep"
	case m.number:
		return "it has a number too large to calculate with"
	case oddRefs(text, lex.Tokens()) > maxRefs:
		return "it refers to more than 100 places outside $defs and definitions"
	}
	return ""
}

// oddRefs counts the strings that may be references to places where a schema is not expected: each
// costs the library a copy of all it knows.
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

// workBudget is the budget of the validation that is going on.
type workBudget struct{ left int }

// budgetExceeded is the panic that unwinds a validation.
type budgetExceeded struct{}

func (m *workBudget) spend(units int) {
	if m.left -= units; m.left < 0 {
		panic(budgetExceeded{})
	}
}

// costedSchema charges a schema each time it is evaluated, for itself and for the schemas it starts. It
// poses as the schema's format, because the library asks for that first once the type is right.
type costedSchema struct {
	meter  *workBudget
	format *jsonschema.Format // the schema's own, or nil
	once   int                // for any value
	each   int                // for each key or element
	unique bool               // elements are compared with each other
}

func (t *costedSchema) chargeValue(v any) error {
	units := t.once
	switch v := v.(type) {
	case map[string]any:
		units += len(v) * t.each
	case []any:
		units += len(v) * t.each
		if t.unique {
			units += 20 * compareCost(v) // so many at once, or by a hash
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

// compareCost is what it costs to compare with a value.
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

// costedPattern is a regular expression whose matches are charged. Go's take linear time, but cannot look
// ahead or back. One that does, or that is too large, counts as matching everything.
type costedPattern struct {
	text    string
	re      *regexp.Regexp // nil when it cannot be told
	program int            // instructions
	meter   *workBudget
}

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

// countInstructions is about how many a regular expression compiles to.
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

func (p *costedPattern) MatchString(s string) bool {
	p.meter.spend(p.matchCost(s))
	return p.re == nil || p.re.MatchString(s)
}
