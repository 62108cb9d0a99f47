// Package aistudio decodes the responses that Google AI Studio's own web page receives when it calls
// MakerSuiteService/GenerateContent. The package only reads captures of a user's own session. The protocol is
// undocumented and its service is only for that page, so toolscope never connects to it.
//
// The body contains Gemini's protobuf messages as positional arrays: field n of a message is at index n-1. A
// field that is not set is null. Such a null is omitted before a comma, and dropped at the end. One outer
// array contains the list of chunks:
//
//	chunk     [candidates, promptFeedback, usage, …, 7: responseId]
//	candidate [content, finishReason, …, 3: finishMessage]
//	content   [parts, role]
//	part      [, 1: text, …, 10: functionCall, 11: functionResponse, 12: thought, …, 14: signature]
//	call      [name, arguments, id]
//	usage     [prompt, visible output, total, cached, …, 9: reasoning]
//
// A call arrives complete in one part. Its slot is its number in the response, and the chunk with the call
// makes it final. args.go describes the form of arguments. Only the finish reason shows that a response is
// complete.
//
// The facts are from people who read such captures, and from the field numbers of the public
// google.ai.generativelanguage and google.protobuf messages, which agree with these captures.
package aistudio

import (
	"bytes"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol returns the protocol of AI Studio's web page.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "aistudio",
		Title:    "Google AI Studio",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: map[callKey]*call{}} },
		Tools:    readTools,
		Model:    readModel,

		Targets: []protocol.Target{target},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var p parser
	if v, err := p.parse(stripPrefix(e.Data)); err == nil {
		switch shape := shapeOf(v, maxNesting); {
		case shape == aChunk && v.element(0).len() > 0, shape == aCandidate, shape == aList:
			return protocol.SniffScore{Points: protocol.Sure, Why: "positional candidates"}
		case shape == aChunk:
			return protocol.SniffScore{Points: protocol.Likely, Why: "a positional message"}
		case shape == anError:
			return protocol.SniffScore{Points: protocol.Likely, Why: "a positional error"}
		}
	}
	if strings.Contains(e.Path, "MakerSuiteService/GenerateContent") {
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	if v := e.Header["Content-Type"]; len(v) > 0 && strings.HasPrefix(v[0], "application/json+protobuf") {
		return protocol.SniffScore{Points: protocol.Likely, Why: "content type " + v[0]}
	}
	return protocol.SniffScore{}
}

// finishReason describes one value of the enum FinishReason.
type finishReason struct {
	word string // its name in the public enum
	code stream.Code
}

// finishReasons maps the values of Candidate.FinishReason to their meanings. A filter cuts off a response in the same
// way as a limit.
var finishReasons = []finishReason{
	{"FINISH_REASON_UNSPECIFIED", stream.FinishOther}, {"STOP", stream.FinishDone}, {"MAX_TOKENS", stream.FinishCut},
	{"SAFETY", stream.FinishCut}, {"RECITATION", stream.FinishCut}, {"LANGUAGE", stream.FinishCut},
	{"OTHER", stream.FinishCut}, {"BLOCKLIST", stream.FinishCut}, {"PROHIBITED_CONTENT", stream.FinishCut},
	{"SPII", stream.FinishCut}, {"MALFORMED_FUNCTION_CALL", stream.FinishRefused}, {"IMAGE_SAFETY", stream.FinishCut},
	{"UNEXPECTED_TOOL_CALL", stream.FinishRefused}, {"TOO_MANY_TOOL_CALLS", stream.FinishRefused},
	{"IMAGE_PROHIBITED_CONTENT", stream.FinishCut}, {"NO_IMAGE", stream.FinishCut},
	{"IMAGE_RECITATION", stream.FinishCut}, {"IMAGE_OTHER", stream.FinishCut},
}

const malformedCall = 10

func reasonOf(n int64) (r finishReason, known bool) {
	if n < 0 || n >= int64(len(finishReasons)) {
		return finishReason{"not known", stream.FinishOther}, false
	}
	return finishReasons[n], true
}

// nameOf returns the name of the enum value n. If the value is unknown, it returns n in digits.
func nameOf(n int64, words []string) string {
	if n < 0 || n >= int64(len(words)) {
		return strconv.FormatInt(n, 10)
	}
	return words[n]
}

// blockReasons contains the names of the values of PromptFeedback.BlockReason.
var blockReasons = []string{
	"BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY",
}

// errorCodes contains the names of the values of google.rpc.Code.
var errorCodes = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// findings lists the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	argsAbsent, argsNotPositional, badStruct, dupChunks, finishNumber, lengthFirstDivergence, listAmbiguous,
	nonCanonical, numAsFloat, signedPartMissed,
}

var (
	argsAbsent = &stream.Diagnosis{
		Code: "ARGS_ABSENT", Severity: stream.Info, By: stream.Provider,
		Meaning: "For a call without arguments, AI Studio leaves out the arguments field. toolscope uses {} instead.",
		Advice:  "Run the call with {}.",
	}
	argsNotPositional = &stream.Diagnosis{
		Code: "ARGS_NOT_POSITIONAL", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "not an array",
		Meaning: "The arguments are ordinary JSON, although this protocol requires a positional array. Clients that expect the array get no arguments.",
		Advice:  "Accept both forms in your client. The JSON is shown as it arrived.",
	}
	badStruct = &stream.Diagnosis{
		Code: "BAD_STRUCT", Severity: stream.Error, By: stream.Provider,
		Verdict: "bad array",
		Meaning: "toolscope can't read the positional array of the arguments as an object. It shows the array as it arrived.",
		Advice:  "Check the call in the wire pane: the array is damaged, or its form is new.",
	}
	dupChunks = &stream.Diagnosis{
		Code: "DUP_CHUNKS", Severity: stream.Info, By: stream.Provider,
		Meaning: "Two chunks contain the same call: either one call was sent twice, or there are two identical calls.",
		Advice:  "Compare the ids if there are any. Clients that count parts run the call twice; clients that compare arguments lose a real second call.",
	}
	finishNumber = &stream.Diagnosis{
		Code: "FIN_NUMBER", Severity: stream.Info, By: stream.Provider,
		Meaning: "The finish reason is a number. The finding's message shows its name.",
		Advice:  "Nothing: this protocol sends finish reasons as numbers.",
	}
	lengthFirstDivergence = &stream.Diagnosis{
		Code: "LENGTH_FIRST_DIVERGENCE", Severity: stream.Warn, By: stream.Client,
		Verdict: "array length",
		Meaning: "In this protocol, an array's length shows the type of a value, but a list of pairs can have the same length. A client that checks the length first reads different arguments from these bytes.",
		Advice:  "Make your client check the content of each array before its length.",
	}
	listAmbiguous = &stream.Diagnosis{
		Code: "LIST_AMBIGUOUS", Severity: stream.Info, By: stream.Provider,
		Meaning: "A list with one element may instead be an array that wraps a single value. toolscope reads it as a list.",
		Advice:  "Check the tool's schema, which shows whether the argument is a list or a single value.",
	}
	nonCanonical = &stream.Diagnosis{
		Code: "NON_CANONICAL_VALUE", Severity: stream.Warn, By: stream.Provider,
		Verdict: "odd value",
		Meaning: "A value doesn't have the form that protobuf uses, so clients disagree on its meaning.",
		Advice:  "Compare your client's value with the value that toolscope shows.",
	}
	numAsFloat = &stream.Diagnosis{
		Code: "NUM_AS_FLOAT", Severity: stream.Warn, By: stream.Provider,
		Verdict: "inexact",
		Meaning: "A number is not exact, because every number in this protocol is a double.",
		Advice:  "Declare ids and other long numbers as strings in the tool's schema.",
	}
	signedPartMissed = &stream.Diagnosis{
		Code: "SIGNED_PART_MISSED", Severity: stream.Info, By: stream.Client,
		Meaning: "The part that contains the call has more fields than usual, because it also contains a signature. Clients that expect 11 fields never see the call.",
		Advice:  "Make your client recognise a call by its field, not by the number of fields in the part.",
	}
)

// remarks contains the messages for oddities. Each message says why the oddity matters.
var remarks = map[*stream.Diagnosis]string{
	nonCanonical:  "%s doesn't have the form that protobuf uses: clients disagree on its meaning; toolscope uses the length and the last element",
	listAmbiguous: "%s is either a list with one element or an array that wraps a single value: toolscope reads it as a list",
	numAsFloat:    "%s is not exact: every number in this protocol is a double",
}

// checkReading reports oddities in the arguments. It also reports a difference between these arguments and those that
// a decoder would read if it checked lengths first.
func (d *decoder) checkReading(c *protocol.Call, args jsonNodes) {
	for _, n := range d.args.notes {
		c.FindAt(n.offset, n.of, remarks[n.of], n.value)
	}
	if d.lengthFirst = lengthFirst(d.lengthFirst[:0], args); !bytes.Equal(d.lengthFirst, d.args.text) {
		from := diffOffset(d.lengthFirst, d.args.text)
		c.Find(lengthFirstDivergence,
			"a client that checks an array's length before its content reads %s instead of %s", clipFrom(d.lengthFirst, from), clipFrom(d.args.text, from))
	}
}

// diffOffset returns the offset 40 bytes before the first difference between a and b, or 0 if they differ
// within the first 120 bytes.
func diffOffset(a, b []byte) int {
	const near, before = 120, 40
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if n < near {
		return 0
	}
	return n - before
}

// clipFrom returns at most 200 bytes of p, beginning with the given byte, for a quote in a message.
func clipFrom(p []byte, from int) string { return stream.Clip(p, from, 200) }

// A request is an array: [model, contents, …, 6: tools, …]. The element at index 4 is a secret.

func readModel(_ string, request []byte) string {
	var p parser
	v, err := p.parse(request)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(v.element(0).raw().Text(), "models/")
}

// builtins contains the tools that the provider runs, by their index in a Tool.
var builtins = map[int]string{0: codeTool, 3: "google_search", 7: "url_context"}

const declarations = 1 // index of the function declarations in a Tool: [name, description, SCHEMA]

func readTools(request []byte) (list []protocol.Tool) {
	var p parser
	v, err := p.parse(request)
	if err != nil {
		return nil
	}
	for tool := range v.element(6).elements() {
		i := 0
		for field := range tool.elements() {
			if name := builtins[i]; name != "" && field.isArray() {
				list = append(list, protocol.Tool{Name: name, Kind: "server"})
			}
			i++
		}
		for f := range tool.element(declarations).elements() {
			t := protocol.Tool{Name: f.element(0).raw().Text(), Kind: "function", Description: f.element(1).raw().Text()}
			if schema := f.element(2); schema.isArray() {
				t.Schema = appendSchema(nil, schema)
			}
			list = append(list, t)
		}
	}
	return list
}

// schemaTypes contains the values of google.ai.generativelanguage.Type.
var schemaTypes = []string{"", "string", "number", "integer", "boolean", "array", "object", "null"}

// appendSchema appends the JSON Schema that a positional Schema represents.
func appendSchema(dst []byte, v jsonNodes) []byte {
	start := len(dst)
	dst = append(dst, '{')
	member := func(name string) {
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	nullable := v.element(3).isTrue()
	if n, _ := v.element(0).asInt(); n > 0 && n < int64(len(schemaTypes)) {
		member("type")
		name := `"` + schemaTypes[n] + `"`
		if nullable {
			name = `[` + name + `,"null"]`
		}
		dst = append(dst, name...)
	}
	for _, f := range [...]struct {
		index int
		name  string
	}{{1, "format"}, {2, "description"}} {
		if s := v.element(f.index); s.isString() {
			member(f.name)
			dst = append(dst, s.raw()...)
		}
	}
	for _, f := range [...]struct {
		index int
		name  string
	}{{4, "enum"}, {7, "required"}} {
		if l := v.element(f.index); l.len() > 0 {
			member(f.name)
			dst = appendList(dst, l, true, appendLeaf)
			if f.name == "enum" && nullable {
				dst = append(dst[:len(dst)-1], ",null]"...)
			}
		}
	}
	if items := v.element(5); items.isArray() {
		member("items")
		dst = appendSchema(dst, items)
	}
	if properties := v.element(6); isMembers(properties) {
		member("properties")
		dst = appendMembers(dst, properties, appendSchema)
	}
	return append(dst, '}')
}
