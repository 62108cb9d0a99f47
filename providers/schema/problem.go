package schema

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream"
	"toolscope/stream/count"
)

// problemText returns the error of a value, without its place. Words of ours that tell the errors of one
// value apart are facts.
func problemText(e *jsonschema.ValidationError) stream.Message {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return stream.Messagef("a value of type %s, but the schema wants %s", stream.Own(k.Got), stream.OwnFact(strings.Join(k.Want, " or ")))
	case *kind.FalseSchema:
		return stream.Message{Text: "no value is allowed here"}
	case *kind.Enum:
		return stream.Messagef("%s is not an allowed value; the schema allows %s", literalText(k.Got), listOf(k.Want))
	case *kind.Const:
		return stream.Messagef("%s is not an allowed value; the schema allows %s", literalText(k.Got), literalText(k.Want))
	case *kind.Required:
		return stream.Messagef("missing %s, which the schema requires", missingKeys(k.Missing))
	case *kind.DependentRequired:
		return stream.Messagef("missing %s, which %s requires", missingKeys(k.Missing), stream.Fact(clipText(k.Prop)))
	case *kind.Dependency:
		return stream.Messagef("missing %s, which %s requires", missingKeys(k.Missing), stream.Fact(clipText(k.Prop)))
	case *kind.PropertyNames:
		return stream.Messagef("the key %q is not allowed", stream.Fact(clipText(k.Property)))
	case *kind.AnyOf:
		return stream.Messagef("matches none of the %d %s", len(e.Causes), stream.OwnFact("alternatives"))
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return stream.Messagef("matches alternatives %d and %d; only %s may match", k.Subschemas[0]+1, k.Subschemas[1]+1, stream.OwnFact("one"))
		}
		return stream.Messagef("matches none of the %d %s", len(e.Causes), stream.OwnFact("alternatives"))
	}
	return measureProblem(e.ErrorKind)
}

// missingKeys lists keys that are missing.
func missingKeys(keys []string) stream.Fact {
	return stream.Fact(listNames(clipNames(keys), len(keys)))
}

// shortProblem returns the error in a few words, or "" if the message is hardly longer.
func shortProblem(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "want " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return notAmong(k.Want)
	case *kind.Const:
		return notAmong([]any{k.Want})
	case *kind.Required:
		return "missing " + string(missingKeys(k.Missing))
	case *kind.DependentRequired:
		return "missing " + string(missingKeys(k.Missing))
	case *kind.Dependency:
		return "missing " + string(missingKeys(k.Missing))
	case *kind.AdditionalProperties, *kind.PropertyNames:
		return UnknownKey.Short
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return "two alternatives fit"
		}
		return "no alternative fits"
	case *kind.AnyOf:
		return "no alternative fits"
	case *kind.FalseSchema:
		return "not allowed"
	case *kind.Not:
		return ""
	}
	return strings.Replace(measureProblem(e.ErrorKind).Text, ", but the schema", ",", 1)
}

// measureProblem returns the limit that a value misses.
func measureProblem(e jsonschema.ErrorKind) stream.Message {
	switch k := e.(type) {
	case *kind.MinLength:
		return sizeProblem(k.Got, "character", "wants at least", k.Want)
	case *kind.MaxLength:
		return sizeProblem(k.Got, "character", "allows", k.Want)
	case *kind.MinItems:
		return sizeProblem(k.Got, "element", "wants at least", k.Want)
	case *kind.MaxItems:
		return sizeProblem(k.Got, "element", "allows", k.Want)
	case *kind.MinProperties:
		return sizeProblem(k.Got, "key", "wants at least", k.Want)
	case *kind.MaxProperties:
		return sizeProblem(k.Got, "key", "allows", k.Want)
	case *kind.AdditionalItems:
		return stream.Messagef("%s more than the schema %s", stream.Own(count.Of(k.Count, "element")), stream.OwnFact("allows"))
	case *kind.UniqueItems:
		return stream.Messagef("elements %d and %d are %s", k.Duplicates[0], k.Duplicates[1], stream.OwnFact("equal"))
	case *kind.Minimum:
		return boundProblem(k.Got, "wants at least", k.Want)
	case *kind.Maximum:
		return boundProblem(k.Got, "allows at most", k.Want)
	case *kind.ExclusiveMinimum:
		return boundProblem(k.Got, "wants more than", k.Want)
	case *kind.ExclusiveMaximum:
		return boundProblem(k.Got, "wants less than", k.Want)
	case *kind.MultipleOf:
		return stream.Messagef("%s is not a %s %s", decimalText(k.Got), stream.OwnFact("multiple of"), decimalText(k.Want))
	case *kind.Pattern:
		return stream.Messagef("%s does not match %s", literalText(k.Got), stream.Fact(clipText(k.Want)))
	case *kind.Format:
		return stream.Messagef("%s is not a valid %s", literalText(k.Got), stream.Fact(clipText(k.Want)))
	case *kind.Contains, *kind.MinContains:
		return stream.Messagef(`%s elements match the schema's "contains"`, stream.OwnFact("too few"))
	case *kind.MaxContains:
		return stream.Messagef(`%s elements match the schema's "contains"`, stream.OwnFact("too many"))
	case *kind.Not:
		return stream.Messagef("matches the schema's %q", stream.OwnFact("not"))
	}
	return stream.Messagef("%s does not hold", stream.OwnFact(strings.Join(e.KeywordPath(), " ")))
}

// sizeProblem returns the error of a value with too few or too many units; bound is its rule in words.
func sizeProblem(got int, unit, bound string, want int) stream.Message {
	return stream.Messagef("%s, but the schema %s %d", stream.Own(count.Of(got, unit)), stream.OwnFact(bound), want)
}

// boundProblem returns the error of a number that is too small or too large; bound is its rule in words.
func boundProblem(got *big.Rat, bound string, want *big.Rat) stream.Message {
	return stream.Messagef("%s, but the schema %s %s", decimalText(got), stream.OwnFact(bound), decimalText(want))
}

// decimalText returns a number as it was most likely written.
func decimalText(n *big.Rat) string {
	if n == nil {
		return "a number"
	}
	if n.IsInt() {
		return clipText(n.Num().String())
	}
	f, _ := n.Float64()
	return fmt.Sprint(f)
}
