package providers

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// TestRoundTrip checks that the protocol of a preview reads the call back from its body, with exactly the
// reported losses. The test finds the losses in a different way from the preview, with encoding/json.
func TestRoundTrip(t *testing.T) {
	for _, f := range fixtures(t) {
		in := f.inspect(f.wire)
		t.Run(f.name, func(t *testing.T) { roundTripAll(t, in.Session()) })
	}
}

// TestCorpusRoundTrip does the checks of TestRoundTrip with calls from real providers.
func TestCorpusRoundTrip(t *testing.T) {
	eachCapture(t, func(t *testing.T, wire []byte) { roundTripAll(t, inspect(wire).Session()) })
}

// TestRoundTripHard does the checks of TestRoundTrip with arguments that cause a loss nearly everywhere.
func TestRoundTripHard(t *testing.T) {
	for _, args := range hardArguments {
		for _, from := range append(Targets(), nil) {
			p := protocol.Part{Kind: protocol.CallPart, ID: "call_1", Name: "f", ToolKind: "function", Args: []byte(args)}
			if from != nil {
				p.Form = from.Form
			}
			src := replay.SourceOfHistory([]protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{p}}}, from)
			t.Run(args[:min(len(args), 40)], func(t *testing.T) { roundTrip(t, src, p) })
		}
	}
}

// hardArguments are arguments that few clients send back unchanged.
var hardArguments = []string{
	``, ` `, `null`, `{}`, `{ }`, `[]`, `[1]`, `"x"`, `""`, `7`, `true`, `{"a":1`, `{"a":"b`, `{"a":[1,{"b":`, `{"a":1}{"b":2}`, `{"a":1} {"b":2} {`,
	`{"a":1}x`, `{"a":1}}`, `{a:1}`, `x`, `{"a":1,}`, `{'a':1}`, `"{\"a\":1}"`, `"{\"b\":1.0,\"a\":9007199254740993}"`, `"[1]"`, "\"\\\"{}\\\"\"",
	`{"n":9007199254740993}`, `{"n":-9007199254740993,"m":[9007199254740992]}`, `{"n":1.0,"e":1e3,"z":-0,"f":0.1}`, `{"n":1e21,"m":1E-7,"k":123456789012345678901234567890}`,
	`{"n":0.1000000000000000055}`, `{"n":1e400}`, `{"n":36028797018963968}`, `{"b":1,"a":2}`, `{"a":{"z":1,"y":[{"b":0,"a":0}]}}`, `{"a":1,"a":2}`,
	`{"a":1,"b":{"c":1,"c":{"d":1}},"a":3}`, "{\n  \"a\": [1, 2],\t\"b\" : {}\r\n}", `{"s":"\ud83d\ude00"}`, `{"s":"\ud83d"}`, `{"\udc00":"\ud800x"}`, `{"s":"\u00e9\/\u0041"}`,
	"{\"s\":\"\xff\xfe\"}", "{\"s\":\"\xed\xa0\x80\"}", "\xff", `{"10":1,"9":2,"x":3,"0":4}`, `{"":{"":[]}}`, `{"a":{},"b":[],"c":[[]],"d":[{}],"e":[null],"f":[[null]]}`,
	`{"INVALID_JSON":"x"}`, strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40), `{"a":` + strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60) + `}`,
	`{"a":tru`, `{"a":-`, `{"a":12.`, `{"a":"x\`, `{"a":"\u12`, `{"a":"` + "\xe2\x82", `{"a" `, `{"a":{}`, `{"a":[]`, `{"a":1,"b"`,
}

func roundTripAll(t *testing.T, s *stream.Session) {
	t.Helper()
	for _, turn := range s.Turns {
		from := TargetOf(turn.Protocol)
		for _, c := range turn.Calls {
			src := replay.SourceOfCalls(turn, from, c)
			if len(src.Messages) == 0 || len(src.Messages[0].Parts) != 1 || c.Phase() == stream.PhaseUnseen { // a preview drops a call with unknown arguments
				continue
			}
			roundTrip(t, src, src.Messages[0].Parts[0])
		}
	}
}

// roundTrip sends a call to every target with every policy, and reads it back. Without TOOLSCOPE_LONG=1, it tries one
// pair of target and policy in three; which ones depends on the call.
func roundTrip(t *testing.T, src *replay.Source, call protocol.Part) {
	t.Helper()
	pair := len(call.Args) + len(call.ID)
	for _, to := range Targets() {
		for i := range replay.Policies {
			if !replay.Policies[i].Knows(src.From, to) {
				continue
			}
			if pair++; pair%int(inLong(3, 1)) != 0 {
				continue
			}
			p := src.Preview(to, &replay.Policies[i])
			if err := checkTrip(src, call, p); err != nil {
				t.Errorf("%s under %s: %v\n  arguments %q\n  body %s\n  losses %v", to.Name, p.Policy.Name, err, call.Args, bytes.Join(p.Body, []byte("\n")), codesOf(p.Losses))
			}
		}
	}
}

func codesOf(losses []replay.Loss) (all []string) {
	for _, l := range losses {
		all = append(all, l.Code)
	}
	return all
}

func kindsOf(p replay.Preview) (all []*replay.Kind) {
	for _, l := range p.Losses {
		all = append(all, l.Kind)
	}
	return all
}

func checkTrip(src *replay.Source, call protocol.Part, p replay.Preview) error {
	lost := kindsOf(p)
	has := func(kinds ...*replay.Kind) bool {
		return slices.ContainsFunc(kinds, func(k *replay.Kind) bool { return slices.Contains(lost, k) })
	}
	if p.Outcome == replay.Throws && p.Refused != "" {
		if len(p.Body) > 0 {
			return fmt.Errorf("a refused call has a body")
		}
		return nil
	}
	if has(replay.ArgsUnknown) {
		return nil
	}
	back, err := readBack(p)
	switch {
	case err != nil:
		return err
	case (back == nil) != has(replay.CallDropped, replay.ServerToolDropped, replay.CallAsText):
		return fmt.Errorf("the call is there: %v", back != nil)
	case back == nil:
		return nil
	case (back.Name != call.Name) != has(replay.NameRewritten):
		return fmt.Errorf("the name is %q", back.Name)
	case (back.ID != call.ID) != has(replay.IDRewritten, replay.IDTruncated):
		return fmt.Errorf("the id is %q", back.ID)
	case call.Signature != "" && (back.Signature != call.Signature) != has(replay.SignatureDropped):
		return fmt.Errorf("the signature is %q", back.Signature)
	case call.Item != "" && p.To.Protocol != dialectOf(src) && !has(replay.ItemIDDropped, replay.IDRewritten):
		return fmt.Errorf("the item's id is gone")
	}
	return checkArguments(src, call, back, p, lost)
}

func dialectOf(src *replay.Source) string {
	if src.From == nil {
		return ""
	}
	return src.From.Protocol
}

// argumentLosses are the losses after which the arguments have other bytes.
var argumentLosses = []*replay.Kind{
	replay.ImpliedEmpty, replay.ArgsEmptied, replay.ArgsWrapped, replay.ArgsRepaired, replay.ConcatFirstOnly, replay.DoubleEncoded,
	replay.FreeformToJSON, replay.ArgsAltered, replay.IntPrecision, replay.NumPrecision, replay.NumSpelling, replay.StrSpelling, replay.KeyOrder, replay.DupKeys,
	replay.Whitespace, replay.UnicodeSanitized,
}

func checkArguments(src *replay.Source, call protocol.Part, back *protocol.Part, p replay.Preview, lost []*replay.Kind) error {
	want := call.Args
	if p.To.Form != protocol.TextForm && back.Form == protocol.TextForm && back.ToolKind == "function" {
		back.Args = json.AppendQuoted(nil, back.Args) // a string, although an object is required
	}
	if string(want) == "null" && len(back.Args) == 0 && !slices.Contains(lost, replay.ImpliedEmpty) {
		back.Args = want // null is read as missing arguments
	}
	changed := slices.DeleteFunc(slices.Clone(lost), func(k *replay.Kind) bool { return !slices.Contains(argumentLosses, k) })
	if slices.Contains(lost, replay.NumRange) && !bytes.Equal(want, back.Args) {
		changed = append(changed, replay.NumRange)
	}
	if same := bytes.Equal(want, back.Args); same != (len(changed) == 0) {
		return fmt.Errorf("sent %q: the same is %v, reported %v", back.Args, same, codesOf(p.Losses))
	}
	if (p.Outcome == replay.Verbatim || p.Outcome == replay.Parsed) && len(changed) > 0 {
		return fmt.Errorf("outcome %s, and %v", p.Outcome, codesOf(p.Losses))
	}
	if !stdjson.Valid(want) || len(changed) == 0 || !slices.Contains([]replay.Outcome{replay.Reformatted, replay.Parsed}, p.Outcome) {
		return nil
	}
	for kind, really := range differences(want, back.Args) {
		if really != slices.Contains(lost, kind) {
			return fmt.Errorf("sent %q: %s is %v", back.Args, kind.Code, really)
		}
	}
	return nil
}

// differences returns the losses between two JSON texts.
func differences(a, b []byte) map[*replay.Kind]bool {
	x, y := treeOf(a), treeOf(b)
	d := map[*replay.Kind]bool{
		replay.DupKeys: x.twice, replay.Whitespace: spaced(a) && !spaced(b), replay.KeyOrder: !slices.Equal(x.keys, y.keys) && !x.twice,
		replay.IntPrecision: false, replay.NumSpelling: false,
	}
	if x.twice {
		delete(d, replay.KeyOrder)
		delete(d, replay.IntPrecision) // numbers in values that were removed
		delete(d, replay.NumSpelling)
		return d
	}
	for path, was := range x.numbers {
		now, ok := y.numbers[path]
		r, s := rat(was), rat(now)
		switch {
		case !ok || r == nil || s == nil || was == now:
		case r.Cmp(s) != 0 && r.IsInt():
			d[replay.IntPrecision] = true
		case r.Cmp(s) == 0:
			d[replay.NumSpelling] = true
		}
	}
	return d
}

func rat(s string) *big.Rat {
	if f, err := strconv.ParseFloat(s, 64); err != nil || f > 1e100 {
		return nil
	}
	r, _ := new(big.Rat).SetString(s)
	return r
}

func spaced(text []byte) bool {
	var compact bytes.Buffer
	_ = stdjson.Compact(&compact, text)
	return compact.Len() < len(text)
}

// flat is a flattened JSON value.
type flat struct {
	keys    []string // paths of the fields, in order
	numbers map[string]string
	twice   bool
}

func treeOf(text []byte) flat {
	f := flat{numbers: map[string]string{}}
	d := stdjson.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	f.value(d, "")
	return f
}

func (f *flat) value(d *stdjson.Decoder, path string) {
	tok, err := d.Token()
	if err != nil {
		return
	}
	switch v := tok.(type) {
	case stdjson.Number:
		f.numbers[path] = v.String()
	case stdjson.Delim:
		seen := map[string]bool{}
		for n := 0; d.More(); n++ {
			at := fmt.Sprintf("%s[%d]", path, n)
			if v == '{' {
				key, _ := d.Token()
				name := fmt.Sprint(key)
				at = path + "." + strconv.Quote(name)
				f.twice = f.twice || seen[name]
				seen[name] = true
				f.keys = append(f.keys, at)
			}
			f.value(d, at)
		}
		_, _ = d.Token()
	}
}

// readBack returns the call in a preview's body, as the target's protocol reads it.
func readBack(p replay.Preview) (call *protocol.Part, err error) {
	request := historytest.Request(p.To, p.Body)
	if !stdjson.Valid(request) || !utf8.Valid(request) {
		return nil, fmt.Errorf("the body is no JSON")
	}
	messages, err := p.To.Decode(request)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		for i := range m.Parts {
			if m.Parts[i].Kind != protocol.CallPart {
				continue
			}
			if call != nil || m.Role != protocol.Assistant {
				return nil, fmt.Errorf("a second call, or one of the user's")
			}
			call = &m.Parts[i]
		}
	}
	return call, nil
}
