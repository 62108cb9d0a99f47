package providers

import (
	"strings"
	"testing"

	"toolscope/providers/replay"
)

// TestWhoEncodedTwice checks which author is found for arguments that are a string in a history: the model, if it
// wrote the string, or a client that encoded the arguments.
func TestWhoEncodedTwice(t *testing.T) {
	const object, twice = `{"n":1}`, `\"{\\\"n\\\":1}\"`
	history := func(id, args string) string {
		return asks + `,` + first + `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"` + args + `"}}]},` + tool(id, "ok")
	}
	wrote := func(args string) string {
		return strings.Replace(says("a", "f", ""), `"arguments":""`, `"arguments":"`+args+`"`, 1)
	}
	plain := strings.ReplaceAll(object, `"`, `\"`)
	for _, test := range []struct{ what, wrote, sent, kept, undone, again string }{
		{"the model did", twice, twice, "the model encoded the arguments twice", "the model wrote a string", "the model encoded the arguments twice, and this client"},
		{"a client did", plain, twice, "an earlier client, not the model, encoded", "an earlier client, not the model,", "an earlier client, not the model, encoded"},
		{"unknown", "", twice, "the model or an earlier client encoded", "the model or an earlier client", "the model or an earlier client encoded"},
		{"nobody did", plain, plain, "", "", "the client encodes the text again"},
	} {
		all := [][2]string{{asks, wrote(test.wrote)}, {history("a", test.sent), says("b", "f", `{}`)}}
		if test.wrote == "" {
			all = all[1:] // the response was not seen
		}
		in := talk(all...)
		messages, from := in.Exchange(len(all)).History()
		preview := func(to, policy string) (p replay.Preview, losses string) {
			target, err := FindTarget(to)
			if err != nil {
				t.Fatal(err)
			}
			how, err := replay.FindPolicy(policy)
			if err != nil {
				t.Fatal(err)
			}
			p = replay.SourceOfHistory(messages, from).Preview(target, how)
			for _, l := range p.Losses {
				losses += l.Message + "\n"
			}
			return p, losses
		}
		if p, _ := preview("openai-chat", "preserve"); !strings.HasPrefix(p.Calls[0].Encoded, test.kept) || (p.Calls[0].Encoded == "") != (test.kept == "") {
			t.Errorf("%s: kept, it says %q", test.what, p.Calls[0].Encoded)
		}
		if p, losses := preview("anthropic", "preserve"); !strings.HasPrefix(losses, test.undone) || (losses == "") != (test.undone == "") || p.Calls[0].Encoded != "" {
			t.Errorf("%s: undone, it says %q", test.what, losses)
		}
		if p, losses := preview("openai-chat", "double-encode"); !strings.HasPrefix(losses, test.again) || p.Calls[0].Encoded != "" {
			t.Errorf("%s: encoded again, it says %q", test.what, losses)
		}
	}
}

// TestWhoEncodedAsObserved checks that the report about a sent-back call names the same author as the history.
func TestWhoEncodedAsObserved(t *testing.T) {
	for _, test := range []struct{ wrote, sent, as, says string }{
		{`{\"n\":1}`, `\"{\\\"n\\\":1}\"`, "double-encoded", "the client encoded the arguments again"},
		{`\"{\\\"n\\\":1}\"`, `\"{\\\"n\\\":1}\"`, "intact", ""},
		{`\"{\\\"n\\\":1}\"`, `\"\\\"{\\\\\\\"n\\\\\\\":1}\\\"\"`, "double-encoded", "the model encoded the arguments twice, and the client"},
	} {
		call := func(args string) string {
			return `{"id":"a","type":"function","function":{"name":"f","arguments":"` + args + `"}}`
		}
		response := strings.Replace(says("a", "f", ""), made("a", "f", ""), call(test.wrote), 1)
		in := talk([2]string{asks, response}, [2]string{asks + `,` + first + call(test.sent) + `]},` + tool("a", "ok"), says("b", "f", `{}`)})
		c := in.Session().Turns[0].Calls[0]
		said := ""
		for _, f := range c.Findings {
			if f.Code == replay.DoubleEncoded.Code {
				said = f.Message
			}
		}
		if len(c.SentBack) != 1 || c.SentBack[0].Outcome != test.as || !strings.Contains(said, test.says) || (said == "") != (test.says == "") {
			t.Errorf("%s sent as %s: %+v, %q", test.wrote, test.sent, c.SentBack, said)
		}
	}
}
