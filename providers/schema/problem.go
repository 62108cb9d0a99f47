package schema

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream/count"
)

// problemText says what is wrong with a value.
func problemText(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("a value of type %s, the schema wants %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.FalseSchema:
		return "no value is allowed here"
	case *kind.Enum:
		return fmt.Sprintf("%s is not listed, only %s", literalText(k.Got), listOf(k.Want))
	case *kind.Const:
		return fmt.Sprintf("%s is not %s", literalText(k.Got), literalText(k.Want))
	case *kind.Required:
		return "without " + listNames(clipNames(k.Missing), len(k.Missing)) + ", which the schema requires"
	case *kind.DependentRequired:
		return fmt.Sprintf("without %s, which goes with %s", listNames(clipNames(k.Missing), len(k.Missing)), clipText(k.Prop))
	case *kind.Dependency:
		return fmt.Sprintf("without %s, which goes with %s", listNames(clipNames(k.Missing), len(k.Missing)), clipText(k.Prop))
	case *kind.PropertyNames:
		return fmt.Sprintf("the key %q is not allowed", clipText(k.Property))
	case *kind.AnyOf:
		return fmt.Sprintf("none of the %d alternatives fits", len(e.Causes))
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return fmt.Sprintf("alternatives %d and %d both fit, one may", k.Subschemas[0]+1, k.Subschemas[1]+1)
		}
		return fmt.Sprintf("none of the %d alternatives fits", len(e.Causes))
	}
	return measureProblem(e.ErrorKind)
}

// shortProblem is the same in a few words, "" where that is not much shorter.
func shortProblem(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "want " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return notAmong(k.Want)
	case *kind.Const:
		return notAmong([]any{k.Want})
	case *kind.Required:
		return "without " + listNames(clipNames(k.Missing), len(k.Missing))
	case *kind.DependentRequired:
		return "without " + listNames(clipNames(k.Missing), len(k.Missing))
	case *kind.Dependency:
		return "without " + listNames(clipNames(k.Missing), len(k.Missing))
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
	return strings.Replace(measureProblem(e.ErrorKind), ", the schema", ",", 1)
}

// measureProblem says which limit a value misses.
func measureProblem(e jsonschema.ErrorKind) string {
	switch k := e.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("%s, the schema wants at least %d", count.Of(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("%s, the schema allows %d", count.Of(k.Got, "character"), k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("%s, the schema wants at least %d", count.Of(k.Got, "element"), k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("%s, the schema allows %d", count.Of(k.Got, "element"), k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("%s, the schema wants at least %d", count.Of(k.Got, "key"), k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("%s, the schema allows %d", count.Of(k.Got, "key"), k.Want)
	case *kind.AdditionalItems:
		return fmt.Sprintf("%s more than the schema allows", count.Of(k.Count, "element"))
	case *kind.UniqueItems:
		return fmt.Sprintf("elements %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Minimum:
		return fmt.Sprintf("%s, the schema wants at least %s", decimalText(k.Got), decimalText(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("%s, the schema allows at most %s", decimalText(k.Got), decimalText(k.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("%s, the schema wants more than %s", decimalText(k.Got), decimalText(k.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("%s, the schema wants less than %s", decimalText(k.Got), decimalText(k.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf("%s is no multiple of %s", decimalText(k.Got), decimalText(k.Want))
	case *kind.Pattern:
		return fmt.Sprintf("%s does not match %s", literalText(k.Got), clipText(k.Want))
	case *kind.Format:
		return fmt.Sprintf("%s is no %s", literalText(k.Got), clipText(k.Want))
	case *kind.Contains, *kind.MinContains:
		return "too few elements are what the schema wants some to be"
	case *kind.MaxContains:
		return "too many elements are what the schema wants some to be"
	case *kind.Not:
		return "it is what the schema says it must not be"
	}
	return strings.Join(append(e.KeywordPath(), "does not hold"), " ")
}

// decimalText is a number as it was most likely written.
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
