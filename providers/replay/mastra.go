package replay

import (
	"regexp"

	"toolscope/providers/js"
)

// mastraRule is the rule of Mastra, which uses the providers of AI SDK 6.
func mastraRule(r receivedCall, to string) clientCall {
	text, ok := r.inputText()
	if !ok {
		return noPrototypes
	}
	v, ok := js.Parse(text)
	if !ok {
		v = mastraRepaired(text)
	}
	switch {
	case v.Kind == js.Null && to == messages:
		return clientCall{shape: `{"type":"tool_use","id":ID,"name":NAME}`}
	case v.Kind <= js.Null:
		v = js.EmptyObject()
	}
	return callWith(aiSDK{six: true}.writeInput(v, to))
}

// mastraRepairs lists the changes that Mastra makes to arguments that don't parse, in this order.
var mastraRepairs = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`([{,]` + blanks + `)([a-zA-Z_$][a-zA-Z0-9_$]*)"`), `$1"$2"`},
	{regexp.MustCompile(`([{,]` + blanks + `)([a-zA-Z_$][a-zA-Z0-9_$]*)` + blanks + `:`), `$1"$2":`},
	{regexp.MustCompile(`'`), `"`},
	{regexp.MustCompile(`,(` + blanks + `[}\]])`), `$1`},
	{regexp.MustCompile(`:` + blanks + `([0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]+)?)` + blanks + `([,}])`), `: "$1"$2`},
}

// blanks is JavaScript's \s*.
const blanks = `[\s\v\p{Z}\x{feff}]*`

// markers matches the special tokens of models, which Mastra removes.
var markers = regexp.MustCompile(`<\|[^|]*\|>` + blanks)

// mastraRepaired returns the value that Mastra reads from a text that doesn't parse, Undefined if it gives up.
func mastraRepaired(text string) (v js.Value) {
	text = js.Trim(markers.ReplaceAllString(text, ""))
	if v, ok := js.Parse(text); ok {
		return v
	}
	for _, r := range mastraRepairs {
		text = r.find.ReplaceAllString(text, r.put)
	}
	if v, ok := js.Parse(text); ok && v.Truthy() {
		return v
	}
	return v
}
