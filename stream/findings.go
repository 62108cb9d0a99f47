package stream

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/stream/count"
	"toolscope/stream/json"
)

// Findings lists all diagnoses that the fold itself makes, without knowledge of the protocol.
var Findings = []*Diagnosis{
	ProtocolViolation, FrameFault, NoTerminator, ClientGone, ConnectionLost, StoppedHere, NoAnswer, RecordGap,
	ProviderError, RequestRefused, FinishContradicts, Interleaved, EarlyWrong,
	ArgsCut, ArgsBroken, ArgsTrailing, ArgsMarkup, HTMLEscaped, ArgsConcat, ArgsPlaceholder, ArgsMissingBrace, ArgsFinalDup, ArgsCumulative,
	ArgsDouble, ArgsNotObject, ArgsBadUTF8, CharacterCut, EscapeBroken, EmptyKey, DupKeys,
	NameMissing, NameMarkup, HiddenCharacters, ParallelWrapper, IDDup, CallRepeated, IDDupAcrossTurns,
}

// Diagnoses of the stream.
var (
	ProtocolViolation = &Diagnosis{
		Code: "PROTOCOL_VIOLATION", Severity: Error, OtherSeverities: []Severity{Warn, Info}, By: Gateway,
		Verdict:      "bad protocol",
		SeverityNote: "warn if clients are known to continue, e.g. when the beginning of the stream is missing; info if a log begins in the middle of a stream",
		Meaning:      "Events arrived in an order that the protocol doesn't allow. Strict clients stop at such an event. Other clients try to continue.",
		Advice:       "Check the events before and after this event: a gateway may have built the stream incorrectly, or the beginning of the stream may be missing.",
	}
	FrameFault = &Diagnosis{
		Code: "FRAME_UNDECODABLE", Severity: Error, By: Provider,
		Verdict: "bad frame",
		Meaning: "A frame doesn't follow the protocol. toolscope shows the frame, but can't read any data from it.",
		Advice:  "Check the frame's bytes in the wire pane. Such a frame is often an error page, or two merged frames.",
	}
	NoTerminator = &Diagnosis{
		Code: "NO_TERMINATOR", Severity: Error, OtherSeverities: []Severity{Info, Warn}, By: Provider,
		ExplainsState: true,
		Verdict:       "no end",
		SeverityNote:  "info if a finish reason or the end of the message arrived; warn if the output lines of Claude Code ended between two messages",
		Meaning:       "The bytes end without the protocol's terminator, so the response may be incomplete.",
		Advice:        "Retry the request. Don't run calls from this response whose arguments were not final.",
	}
	ProviderError = &Diagnosis{
		Code: "PROVIDER_ERROR", Severity: Error, OtherSeverities: []Severity{Warn}, By: Provider,
		ExplainsState: true,
		Verdict:       "error",
		SeverityNote:  "warn if the client repeated the request and got a complete response",
		Meaning:       "The provider reports an error, refuses the request, or stops the response with a filter.",
		Advice:        "Read the provider's error in the finding's message. Don't run calls whose arguments were not final before the error.",
	}
	RequestRefused = &Diagnosis{
		Code: "REQUEST_REFUSED", Severity: Error, OtherSeverities: []Severity{Info}, By: Client,
		ExplainsState: true,
		Verdict:       "refused",
		SeverityNote:  "info if another finding names the cause",
		Meaning:       "The provider refuses the request because it contains a mistake. Retrying the same request doesn't help.",
		Advice:        "Change the request at the place named in the message. If that place is in the history, the session stays broken until you repair the history.",
	}
	FinishContradicts = &Diagnosis{
		Code: "FIN_CONTRADICTED", Severity: Error, By: Provider,
		ExplainsState: true,
		Verdict:       "stops early",
		Short:         "stops, but reported done",
		Meaning:       "The provider reports a complete response, but the arguments of a call are incomplete. Either an unreported limit cut the arguments, or the server's parser dropped their end.",
		Advice:        "Don't run the call. Retry the request without streaming: if the arguments are then complete, the parser is at fault. If not, raise the token limit.",
	}
	Interleaved = &Diagnosis{
		Code: "INTERLEAVED", Severity: Info, By: Provider,
		Meaning: "Deltas of several calls alternate on the wire. Only the index or id shows which call a delta belongs to.",
		Advice:  "Nothing, if your client tells calls apart by index or id. A client that appends each delta to the latest call mixes up the calls.",
	}
	EarlyWrong = &Diagnosis{
		Code: "EARLY_WRONG", Severity: Warn, By: Client,
		Verdict: "parsed early",
		Short:   "parsed too early",
		Meaning: "The arguments parsed as an object before they were complete. A client that runs a call as soon as the arguments parse runs a different call from the one that the model wrote.",
		Advice:  "Run a call when the protocol signals that the arguments are final, not when the arguments first parse.",
	}
)

// Diagnoses of a call's arguments.
var (
	ArgsCut = &Diagnosis{
		Code: "ARGS_CUT", Severity: Error, OtherSeverities: []Severity{Info, Warn}, By: Provider,
		ExplainsState: true,
		Verdict:       "cut short",
		SeverityNote:  "info if the client disconnected; warn if toolscope saw no more of the response",
		Short:         "cut",
		Meaning:       "The arguments stop before they are complete: a limit, an error or a lost connection cut the response short.",
		Advice:        "Don't run the call and don't guess the missing brackets. Raise the limit or retry the request.",
	}
	ArgsBroken = &Diagnosis{
		Code: "ARGS_BROKEN", Severity: Error, By: Model,
		ExplainsState: true,
		Verdict:       "not JSON",
		Short:         "not JSON",
		Meaning:       "The arguments stop being JSON at the marked byte. No later byte can make them valid.",
		Advice:        "Report the error to the model in a tool result. A client that sends {} back instead hides the error from the model.",
	}
	ArgsTrailing = &Diagnosis{
		Code: "ARGS_TRAILING", Severity: Error, By: Model,
		ExplainsState: true,
		Verdict:       "text after it",
		Short:         "text after the object",
		Meaning:       "A complete object is followed by text that is not JSON.",
		Advice:        "Don't run the call with only this object. The extra text shows that the model, or the parser of the model's output, made an error.",
	}
	ArgsMarkup = &Diagnosis{
		Code: "ARGS_MARKUP", Severity: Error, OtherSeverities: []Severity{Info}, By: Provider,
		SeverityNote: "info if only a value ends with markup, because the value may be about markup",
		Verdict:      "markup",
		Short:        "model markup",
		Meaning:      "Model markup precedes or follows the arguments, or ends a value in them. The server's parser should have removed this markup.",
		Advice:       "Choose the tool-call parser that fits the model, or update the software that serves the model. Don't run the call.",
	}
	HTMLEscaped = &Diagnosis{
		Code: "HTML_ESCAPED", Severity: Info, By: Provider,
		Verdict: "HTML entities",
		Meaning: "A command in the arguments has HTML entities instead of characters, e.g. &amp;&amp; instead of &&. Grok is known to write such arguments. A shell can't run the command.",
		Advice:  "Decode the entities once before you run the command, as OpenClaw does for xAI.",
	}
	ArgsConcat = &Diagnosis{
		Code: "ARGS_CONCAT", Severity: Error, By: Gateway,
		ExplainsState: true,
		Verdict:       "merged calls",
		Short:         "another object begins",
		Meaning:       "One call contains several complete objects: parallel calls were merged before they arrived.",
		Advice:        "Find the gateway that uses one index for several calls, or turn parallel calls off. Don't run the first object and ignore the others.",
	}
	ArgsPlaceholder = &Diagnosis{
		Code: "ARGS_PLACEHOLDER_PREFIX", Severity: Warn, By: Gateway,
		Verdict: "{} before it",
		Short:   "the real object begins",
		Meaning: "An empty object comes before the real arguments: a placeholder was not replaced when the stream was translated.",
		Advice:  "Use the second object, and report the problem to the operator of the gateway that translates the stream.",
	}
	ArgsMissingBrace = &Diagnosis{
		Code: "ARGS_MISSING_BRACE", Severity: Error, By: Gateway,
		ExplainsState: true,
		Verdict:       "merged calls",
		Short:         "another object begins",
		Meaning:       "A second object begins inside the first: two calls were merged, and the end of the first was lost.",
		Advice:        "Run neither call. Retry the request, with parallel calls turned off if needed.",
	}
	ArgsFinalDup = &Diagnosis{
		Code: "ARGS_FINAL_DUP", Severity: Warn, By: Gateway,
		Verdict: "sent twice",
		Short:   "sent a second time",
		Meaning: "After the deltas, the complete arguments arrived again as another delta.",
		Advice:  "Use the arguments only once, and update the software that serves the model.",
	}
	ArgsCumulative = &Diagnosis{
		Code: "ARGS_CUMULATIVE", Severity: Warn, By: Gateway,
		Verdict: "repeated args",
		Meaning: "Each delta repeats all the arguments so far instead of only adding to them.",
		Advice:  "Make your client replace the arguments with each delta instead of appending it, or update the software that serves the model.",
	}
	ArgsDouble = &Diagnosis{
		Code: "ARGS_DOUBLE", Severity: Warn, By: Model,
		ExplainsState: true,
		Verdict:       "encoded twice",
		Short:         "double-encoded JSON",
		Meaning:       "The arguments are a JSON string that contains the real JSON: they were double-encoded before they arrived.",
		Advice:        "Decode the arguments twice before you run the call. In the history, send the decoded object back.",
	}
	ArgsNotObject = &Diagnosis{
		Code: "ARGS_NOTOBJECT", Severity: Warn, By: Model,
		ExplainsState: true,
		Verdict:       "not an object",
		Short:         "not an object",
		Meaning:       "The arguments are valid JSON but not an object. Anthropic and Google refuse such arguments in a history.",
		Advice:        "Refuse the call in a tool result. The replay preview shows which providers would accept these arguments.",
	}
	ArgsBadUTF8 = &Diagnosis{
		Code: "ARGS_BAD_UTF8", Severity: Warn, By: Provider,
		Verdict: "not UTF-8",
		Short:   "not UTF-8",
		Meaning: "The arguments contain bytes that are not UTF-8: a character was split. Clients replace the bytes in different ways.",
		Advice:  "Check the bytes before you write them to a file. Report the problem to the provider.",
	}
	CharacterCut = &Diagnosis{
		Code: "CHARACTER_CUT", Severity: Warn, By: Provider,
		Verdict: "cut character",
		Short:   "a character was cut in two",
		Meaning: "A delta ends with U+FFFD, and the next delta begins with U+FFFD. A character was cut in two before the deltas were sent, and its bytes are lost.",
		Advice:  "Don't write the arguments to a file. Retry the request without streaming. Report the problem to the provider.",
	}
	EscapeBroken = &Diagnosis{
		Code: "ESCAPE_BROKEN", Severity: Info, By: Model,
		Short:   "a broken escape",
		Meaning: "The arguments contain \\u0000 followed by two hex digits. The model probably meant one character, such as \\u00e9, but wrote two zeros too many.",
		Advice:  "Check the string before you use it: many programs stop reading at a NUL character.",
	}
	EmptyKey = &Diagnosis{
		Code: "EMPTY_KEY", Severity: Warn, By: Model,
		Verdict: "empty key",
		Short:   "an empty key",
		Meaning: "A key in the arguments is empty. Some models write a call without arguments this way.",
		Advice:  "Run the call with {}. Remove the key before you send the call back: Bedrock refuses an empty key in a history.",
	}
	DupKeys = &Diagnosis{
		Code: "DUP_KEYS", Severity: Warn, By: Model,
		Verdict: "duplicate key",
		Short:   "duplicate key",
		Meaning: "An object has the same key twice. Most parsers keep the last value, and some keep the first. The client sends back only one of the values.",
		Advice:  "Don't check a call with one parser and run the call with another. Report the duplicate key to the model in a tool result.",
	}
)

// Diagnoses of a call's name and id.
var (
	NameMissing = &Diagnosis{
		Code: "NAME_MISSING", Severity: Error, By: Gateway,
		Verdict: "no name",
		Meaning: "A call ended without a name, so its tool is unknown.",
		Advice:  "Don't run the call. Check in the wire pane where the name was lost.",
	}
	NameMarkup = &Diagnosis{
		Code: "NAME_MARKUP", Severity: Warn, By: Provider,
		Verdict: "name: markup",
		Meaning: "The name of a call contains model markup, or a number that the model added. The server's parser failed to remove this text, so no tool has this name.",
		Advice:  "Choose the tool-call parser that fits the model, or update the software that serves the model.",
	}
	HiddenCharacters = &Diagnosis{
		Code: "HIDDEN_CHARACTERS", Severity: Warn, By: Model,
		Verdict: "hidden chars",
		Meaning: "A name or an id contains characters that a terminal hides or treats as commands.",
		Advice:  "Compare names byte by byte, and escape a name before you print it.",
	}
	ParallelWrapper = &Diagnosis{
		Code: "PARALLEL_WRAPPER", Severity: Warn, By: Model,
		Verdict: "wrapped calls",
		Meaning: "The model called a tool that was not declared. The arguments of this call are a list of several calls.",
		Advice:  "Run the calls in this list one by one, or report to the model that the tool doesn't exist.",
	}
	IDDup = &Diagnosis{
		Code: "ID_DUP", Severity: Warn, By: Gateway,
		Verdict: "same id twice",
		Meaning: "Two calls in one response have the same id, so it is unclear which call a result belongs to.",
		Advice:  "Give one of the calls a new id before you send the history back.",
	}
	CallRepeated = &Diagnosis{
		Code: "CALL_REPEATED", Severity: Warn, By: Gateway,
		Verdict: "call repeated",
		Meaning: "A call repeats an earlier call in the same response, with the same id, name and argument bytes. A client that runs each call runs the tool several times.",
		Advice:  "Run only the first of these calls, and report the problem to the provider.",
	}
	IDDupAcrossTurns = &Diagnosis{
		Code: "ID_DUP_ACROSS_TURNS", Severity: Info, By: Gateway,
		Meaning: "An earlier response used the same id, because the provider reuses its ids in each response.",
		Advice:  "Make your client look up calls by response and id. Make the ids unique before you send the history to Anthropic, which refuses duplicates.",
	}
)

func (c *Call) reportFinding(d *Diagnosis, event, offset int, format string, args ...any) {
	c.addFinding(d.Finding(format, args...).withEvidence(event, offset))
}

func (c *Call) reportOnce(d *Diagnosis, event int, format string, args ...any) {
	if !c.hasFinding(d) {
		c.reportFinding(d, event, NoOffset, format, args...)
	}
}

// hasFinding reports whether the call already has a finding with the diagnosis d, of any severity.
func (c *Call) hasFinding(d *Diagnosis) bool {
	if c.callContent.shared {
		return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Base() == d.Base() })
	}
	return slices.Contains(c.diagnoses, d.Base())
}

// noteFinding records the diagnosis of a finding, and whether the finding is above Info.
func (w *callContent) noteFinding(f *Finding) {
	w.hasProblem = w.hasProblem || f.Severity > Info
	if !slices.Contains(w.diagnoses, f.Base()) {
		w.diagnoses = append(w.diagnoses, f.Diagnosis)
	}
}

// addFinding adds a finding. Its diagnosis is recorded once, so that hasFinding stays cheap.
func (c *Call) addFinding(f Finding) {
	c.Findings = append(c.Findings, f)
	if !c.callContent.shared {
		c.noteFinding(&f)
	}
}

// HasOnlyInfos reports whether no finding of the call is above Info. The time that it takes doesn't depend on
// the number of findings. For a call of a past session or of an evicted turn, it may return false even if no
// finding is above Info.
func (c *Call) HasOnlyInfos() bool {
	return len(c.Findings) == 0 || c.callContent != nil && !c.callContent.shared && !c.hasProblem
}

func (t *Turn) reportFinding(d *Diagnosis, event int, format string, args ...any) {
	t.Findings = append(t.Findings, d.Finding(format, args...).withEvidence(event, NoOffset))
}

func faultFinding(e Event, n int) Finding {
	d := FrameFault
	if by := PayloadOf[Ending](e).By; by != 0 {
		d = d.WithCause(by)
	}
	return d.Finding("can't decode a frame: %s", e.Text).withEvidence(n, NoOffset)
}

// checkCumulative reports deltas that repeat all earlier arguments. It must be called only when the arguments can no
// longer be an object: before that, the delta may be a nested object that begins like the outer one.
func (c *Call) checkCumulative() {
	if c.repeated > 0 {
		c.reportOnce(ArgsCumulative, int(c.repeated), "each delta repeats all the arguments so far: only the last delta is valid, and a client that appends deltas gets wrong arguments")
	}
}

// checkBroken reports the first byte that can't be JSON as soon as it arrives.
func (c *Call) checkBroken(event int) {
	err := c.lex.Err()
	if err == nil || c.broken || c.settled {
		return
	}
	c.broken = true
	c.checkCumulative()
	switch {
	case c.hasFinding(ArgsCumulative): // this explains the broken arguments
	case c.lex.Docs() > 0 && c.lex.First() == json.ObjectOpen:
		c.reportFinding(ArgsTrailing, event, err.Offset,
			"the object is complete at byte %d, but %s follows: a client that runs a call as soon as the arguments parse runs only part of this call", err.Offset, err.Found())
	case err.Got == '{' && err.Expected == "a comma or }":
		c.reportFinding(ArgsMissingBrace, event, err.Offset,
			"a second object begins inside the first at byte %d: two calls were merged", err.Offset)
	default:
		broken := ArgsBroken.Finding("not JSON from byte %d on: expected %s, got %s", err.Offset, Own(err.Expected), err.Found())
		c.addFinding(broken.withHint(err.InShort()).withEvidence(event, err.Offset))
	}
}

// checkSeal reports a call whose arguments are final but unfinished. The message begins with the text in said.
func (c *Call) checkSeal(said Message, event int) {
	if c.phase == PhaseSealed && c.Syntax() == json.SyntaxPrefix {
		c.reportOnce(FinishContradicts, event,
			"%s, but the arguments stop after %s, without %s: an unreported limit cut them, or the server's parser dropped the end; retry the request without streaming to find the cause",
			said, Own(count.Of(len(c.args.s), "byte")), Own(c.missingEnd()))
	}
}

// maxMissing is the maximum number of missing quotes and brackets that a message shows.
const maxMissing = 12

// missingEnd returns the closing quote and brackets that are certainly missing from the arguments, at most
// maxMissing of them, or "their end" if there are none.
func (c *Call) missingEnd() string {
	var end []byte
	if last := c.lex.Last(); c.lex.Open() && (last == json.String || last == json.Key) {
		end = append(end, '"')
	}
	for depth := c.lex.Depth(); depth > 0 && len(end) < maxMissing; depth-- {
		end = append(end, c.lex.Closer(depth))
	}
	if len(end) == 0 {
		return "their end"
	}
	return string(end)
}

// checkFinalArgs makes the findings that need all argument bytes. A second call has no effect, unless the seal was
// withdrawn.
func (c *Call) checkFinalArgs(event int) {
	text := len(c.args.s) // without half a character that is waiting for its other half
	if c.half != "" {
		c.saveArgsState()
		c.appendText(c.half)
		c.deltas = c.deltas.Clone()
		c.deltas.Ptr(c.deltas.Len() - 1).End = uint32(len(c.args.s))
		c.half = ""
	}
	c.lex.Close()
	if c.phase != PhaseAborted && c.phase != PhaseTruncated {
		text = len(c.args.s)
	}
	if c.settled || c.freeform {
		return
	}
	c.checkBroken(event)
	c.checkMarkup(event)
	c.settled = true
	if c.Syntax() != json.SyntaxObject {
		c.checkCumulative()
	}
	if !utf8.Valid(c.args.s[:text]) {
		c.reportFinding(ArgsBadUTF8, event, firstBadByte(c.args.s), "the arguments are not UTF-8: clients replace the bytes in different ways")
	}
	c.checkEscapes(event)
	switch c.Syntax() {
	case json.SyntaxConcat:
		end := json.FirstEnd(c.lex.Tokens())
		first, second := c.args.s[:end], c.args.s[end:]
		switch {
		case bytes.Equal(bytes.TrimSpace(first), []byte("{}")):
			c.reportFinding(ArgsPlaceholder, event, len(first), "an empty object precedes the real arguments: a placeholder was not replaced")
		case bytes.Equal(first, bytes.TrimSpace(second)):
			c.reportFinding(ArgsFinalDup, event, len(first), "the complete arguments were sent again at the end")
		default:
			c.reportFinding(ArgsConcat, event, len(first), "%d objects in one call: parallel calls were merged", c.lex.Docs()+min(1, c.lex.Depth()))
		}
	case json.SyntaxDouble:
		c.reportFinding(ArgsDouble, event, 0, "the arguments are double-encoded: a JSON string that contains JSON")
	case json.SyntaxOther:
		c.reportFinding(ArgsNotObject, event, 0, "the arguments are JSON but not an object: Anthropic and Google refuse such arguments in a history")
	case json.SyntaxObject:
		c.checkObject(event)
	}
	// Report arguments that parsed as an object before they were complete, unless a Rewrite has replaced them: those
	// can't be shown any more.
	if r := c.RuleRun(ParsableObject); !r.Replaced && (r.Outcome == RunWrong || r.Outcome == RunTwice) {
		c.reportFinding(EarlyWrong, event, r.Bytes,
			"a client that runs a call as soon as its arguments parse as an object runs this call at delta %d with %s, while %s still missing",
			c.DeltaAt(r.Bytes-1)+1, Clip(c.args.s[:r.Bytes], 0, 64), Own(count.WasWere(len(c.args.s)-r.Bytes, "byte")))
	}
}

// replacement is U+FFFD. Decoders write it for bytes that are not UTF-8.
const replacement = "\uFFFD"

// checkBorder reports a character that was cut in two between the arguments so far and a delta.
func (c *Call) checkBorder(text string, event int) {
	if strings.HasPrefix(text, replacement) && bytes.HasSuffix(c.args.s, []byte(replacement)) && !c.hasFinding(CharacterCut) {
		c.reportFinding(CharacterCut, event, len(c.args.s)-len(replacement),
			"a delta ends with U+FFFD, and the next delta begins with U+FFFD (byte %d): a character was cut in two before the deltas were sent", len(c.args.s)-len(replacement))
	}
}

// markupStarts and markupEnds are the first characters of model markup before and after arguments: tokens of models,
// and tags of their templates.
var (
	markupStarts = []string{"[ARGS]", "[TOOL_CALLS]", "<|", "<｜", "<tool_call", "<function", "<arguments", "<parameter"}
	markupEnds   = []string{"</", "<|", "<｜", "[/", "<end", "<tool_call", "<arg_", "<eos"}
)

// checkMarkup replaces the finding about wrong JSON if model markup precedes or follows the arguments. In that case,
// the server's parser is at fault, not the model.
func (c *Call) checkMarkup(event int) {
	err := c.lex.Err()
	if err == nil || c.hasFinding(ArgsMarkup) {
		return
	}
	at, where, text := 0, "before", bytes.TrimLeft(c.args.s, " \t\r\n")
	marks := markupStarts
	if c.lex.Docs() > 0 {
		at, where, marks = err.Offset, "after", markupEnds
		text = c.args.s[at:]
	}
	isMarkup := func(mark string) bool { return bytes.HasPrefix(text, []byte(mark)) }
	if !slices.ContainsFunc(marks, isMarkup) {
		return
	}
	c.keepBase()
	c.Findings = slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool {
		return f.Base() == ArgsBroken || f.Base() == ArgsTrailing
	})
	c.reportFinding(ArgsMarkup, event, at, "model markup (%q) %s the arguments, at byte %d: the server's parser should have removed it",
		Clip(text, 0, 16), OwnFact(where), at)
}

// valueMarkups are pairs of tags of models' templates that end a value if the server's parser doesn't find its end. Each
// pair is the beginning of the opening tag and of the closing tag. JSON may escape the bars.
var valueMarkups = [][2]string{
	{"<arg_value>", "</arg_value>"}, {"<arg_key>", "</arg_key>"},
	{"<｜DSML｜parameter", "</｜DSML｜parameter"}, {`<\uff5cDSML\uff5cparameter`, `</\uff5cDSML\uff5cparameter`},
}

// checkValueMarkup reports the first value that ends with the closing tag of a parameter, and has no opening tag.
func (c *Call) checkValueMarkup(event int) {
	for _, tags := range valueMarkups {
		open, closing := []byte(tags[0]), []byte(tags[1])
		if !bytes.Contains(c.args.s, closing) {
			continue
		}
		start := uint32(0)
		for _, t := range c.lex.Tokens().All() {
			value := c.args.s[start:t.End]
			start = t.End
			at := bytes.LastIndex(value, closing)
			if t.Kind != json.String || at < 0 || bytes.Contains(value, open) || len(bytes.TrimRight(value[at+len(closing):], ">\"")) > 0 {
				continue
			}
			c.addFinding(ArgsMarkup.WithSeverity(Info).Finding("a value ends with model markup (%q): the server's parser should have removed it", closing).
				withEvidence(event, int(t.End)-len(value)+at))
			return
		}
	}
}

// checkEntities reports the first command with HTML entities. Other values may be HTML.
func (c *Call) checkEntities(event int) {
	if !bytes.Contains(c.args.s, []byte("&amp;&amp;")) && !bytes.Contains(c.args.s, []byte("&quot;")) {
		return
	}
	start, isCommand := uint32(0), false
	for _, t := range c.lex.Tokens().All() {
		value := bytes.Trim(c.args.s[start:t.End], " \t\r\n,:{[")
		start = t.End
		if t.Kind == json.Key {
			isCommand = string(value) == `"command"` || string(value) == `"cmd"`
		} else if t.Kind == json.String && isCommand && isEscapedCommand(value[1:len(value)-1]) {
			c.reportFinding(HTMLEscaped, event, int(t.End)-len(value), "the command has HTML entities instead of characters: %s", Clip(value, 0, 64))
			return
		}
	}
}

// isEscapedCommand reports whether a command joins commands with &amp;&amp; and not with &&, or has &quot; and no quotes.
func isEscapedCommand(text []byte) bool {
	if bytes.Contains(text, []byte("&amp;&amp;")) {
		return !bytes.Contains(text, []byte("&&"))
	}
	n := bytes.Count(text, []byte("&quot;"))
	return n > 0 && n%2 == 0 && !bytes.ContainsAny(text, `"'`)
}

// checkEscapes reports the first escape of NUL that is followed by two hex digits.
func (c *Call) checkEscapes(event int) {
	const nul = `\u0000`
	for from := 0; ; {
		i := bytes.Index(c.args.s[from:], []byte(nul))
		if i < 0 {
			return
		}
		at := from + i
		from = at + len(nul)
		if rest := c.args.s[from:]; len(rest) >= 2 && json.HexValue(rest[0]) >= 0 && json.HexValue(rest[1]) >= 0 &&
			json.TrailingBackslashes(c.args.s[:at])%2 == 0 {
			c.reportFinding(EscapeBroken, event, at, "the escape \\u0000%s at byte %d means NUL and two digits: the model probably meant one character, but wrote two zeros too many", rest[:2], at)
			return
		}
	}
}

func (c *Call) checkObject(event int) {
	c.checkKeys(event)
	c.checkValueMarkup(event)
	c.checkEntities(event)
	start := uint32(0)
	for _, t := range c.lex.Tokens().All() {
		if t.Kind == json.Key && t.End-start == 2 {
			c.reportFinding(EmptyKey, event, int(start), "a key is empty: some models write calls without arguments this way, and Bedrock refuses such calls in a history")
			break
		}
		start = t.End
	}
	if c.Name == "parallel" || c.Name == "multi_tool_use.parallel" {
		if n := bytes.Count(c.args.s, []byte(`"recipient_name"`)); n > 0 {
			c.reportFinding(ParallelWrapper, event, NoOffset, "the arguments of one call contain other calls (%d): the model called a tool that was not declared", n)
		}
	}
}

func firstBadByte(p []byte) int {
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return NoOffset
}
