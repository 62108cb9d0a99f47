package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// answers returns the events of one response from a Responses server, with a call that has the given id, or without a
// call.
func answers(response, call, space, args string) string {
	item, events := "", ""
	if call != "" {
		const form = `{"type":"function_call","id":"fc_%s","call_id":%q,"name":"f","namespace":%q,"arguments":%q,"status":%q}`
		item = fmt.Sprintf(form, call, call, space, args, "completed")
		events = `{"type":"response.output_item.added","output_index":0,"item":` + fmt.Sprintf(form, call, call, space, "", "in_progress") + "}\n" +
			fmt.Sprintf(`{"type":"response.function_call_arguments.delta","item_id":"fc_%s","output_index":0,"delta":%q}`, call, args) + "\n" +
			`{"type":"response.output_item.done","output_index":0,"item":` + item + "}\n"
	}
	return `{"type":"response.created","response":{"id":"` + response + `","status":"in_progress","output":[]}}` + "\n" + events +
		`{"type":"response.completed","response":{"id":"` + response + `","object":"response","status":"completed","model":"m","output":[` + item + `]}}`
}

// socket writes a WebSocket to an inspector: messages of the client, and the responses to them.
func socket(exchange int, in *Inspector, messages ...string) {
	in.Write(stream.Record{Exchange: exchange, At: stream.NoTime, Head: &stream.Head{Status: 101, URL: "/v1/responses"}})
	for i, m := range messages {
		for line := range strings.Lines(m) {
			in.Write(stream.Record{Exchange: exchange, At: time.Duration(i) * time.Second, Request: i%2 == 0, Data: []byte(strings.TrimSpace(line))})
		}
	}
	in.Write(stream.Record{Exchange: exchange, At: time.Minute, End: true})
}

// posts writes an exchange over HTTP to an inspector.
func posts(exchange int, in *Inspector, path, request, answer string) {
	in.Write(stream.Record{Exchange: exchange, Request: true, Head: &stream.Head{Method: "POST", URL: path}, Data: []byte(request)})
	in.Write(stream.Record{Exchange: exchange, Head: &stream.Head{Status: 200}, Data: []byte(answer)})
	in.Write(stream.Record{Exchange: exchange, End: true})
}

func body(answer string) string {
	_, last, _ := strings.Cut(answer, "\n")
	_, response, _ := strings.Cut(last, `"response":`)
	return strings.TrimSuffix(response, "}")
}

// told returns the reports about each call, and the findings above info.
func told(in *Inspector) string {
	var all []string
	for _, t := range in.Session().Turns {
		for _, c := range t.Calls {
			s := c.ID + ":"
			for _, r := range c.SentBack {
				s += fmt.Sprintf(" %s kept=%v in %d, %d %q", r.Outcome, r.KeptByProvider, r.Exchange, r.ResultCode, r.Result.Text)
			}
			for _, f := range c.Findings {
				if f.Severity > stream.Info {
					s += " " + f.Code
				}
			}
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

const (
	prewarm = `{"type":"response.create","generate":false,"model":"m","input":[]}`
	begins  = `{"type":"response.create","model":"m","previous_response_id":"resp_0","input":[` +
		`{"type":"additional_tools","tools":[{"type":"namespace","name":"a","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"n":{"type":"number"}}}}]},` +
		`{"type":"namespace","name":"b","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"n":{"type":"string"}}}}]}]},` +
		`{"type":"message","role":"user","content":"go"}]}`
)

func brings(response, call, text string) string {
	return `{"type":"response.create","model":"m","previous_response_id":"` + response + `","input":[{"type":"function_call_output","call_id":"` + call + `","output":"` + text + `"}]}`
}

// TestKeptByTheProvider checks a request that continues a history that the provider keeps. The request contains the
// results of calls, but not the calls. A result proves that the provider's history has the call. There must be no
// report about other calls.
func TestKeptByTheProvider(t *testing.T) {
	for _, test := range []struct {
		name, want string
		sees       func(in *Inspector)
	}{
		{"a WebSocket, as Codex uses it", "call_1: intact kept=true in 1, 1 \"one\"\n0: intact kept=true in 1, 1 \"two\"\ncall_3:", func(in *Inspector) {
			socket(1, in, prewarm, answers("resp_0", "", "", ""), begins, answers("resp_1", "call_1", "a", `{"n":1}`),
				brings("resp_1", "call_1", "one"), answers("resp_2", "0", "a", `{"n":2}`), // an id that is only a number
				brings("resp_2", "0", "two"), answers("resp_3", "call_3", "b", `{"n":"3"}`))
		}},
		{"the same over HTTP", "call_1: intact kept=true in 2, 1 \"one\"", func(in *Inspector) {
			posts(1, in, "/v1/responses", `{"model":"m","input":"go"}`, body(answers("resp_1", "call_1", "", `{}`)))
			posts(2, in, "/v1/responses", brings("resp_1", "call_1", "one"), body(answers("resp_2", "", "", "")))
		}},
		{"another connection", "call_1: intact kept=true in 2, 1 \"one\"", func(in *Inspector) {
			socket(1, in, begins, answers("resp_1", "call_1", "a", `{"n":1}`))
			socket(2, in, brings("resp_1", "call_1", "one"), answers("resp_2", "", "", ""))
		}},
		{"no result, or one of another call", "call_1:", func(in *Inspector) {
			socket(1, in, begins, answers("resp_1", "call_1", "a", `{"n":1}`), brings("resp_1", "call_2", "x"), answers("resp_2", "", "", ""))
		}},
		{"a number, of a response that is not gone on from", "0:", func(in *Inspector) {
			posts(1, in, "/v1/responses", `{"model":"m","input":"go"}`, body(answers("resp_1", "0", "", `{}`)))
			posts(2, in, "/v1/responses", brings("resp_9", "0", "one"), body(answers("resp_2", "", "", "")))
		}},
		{"a conversation", "call_1: intact kept=true in 2, 1 \"one\"", func(in *Inspector) {
			posts(1, in, "/v1/responses", `{"model":"m","conversation":"conv_1","input":"go"}`, body(answers("resp_1", "call_1", "", `{}`)))
			posts(2, in, "/v1/responses", `{"model":"m","conversation":{"id":"conv_1"},"input":[{"type":"function_call_output","call_id":"call_1","output":"one"}]}`, body(answers("resp_2", "", "", "")))
		}},
		{"Gemini's Interactions", "c1: intact kept=true in 2, 2 \"no\"", func(in *Inspector) {
			posts(1, in, "/v1beta/interactions", `{"model":"g","input":"go"}`,
				`{"object":"interaction","id":"v1_a","status":"requires_action","model":"g","steps":[{"type":"function_call","id":"c1","name":"f","arguments":{"n":1}}]}`)
			posts(2, in, "/v1beta/interactions", `{"model":"g","previous_interaction_id":"v1_a","input":[{"type":"function_result","name":"f","call_id":"c1","is_error":true,"result":[{"type":"text","text":"no"}]}]}`,
				`{"object":"interaction","id":"v1_b","status":"completed","model":"g","steps":[]}`)
		}},
		{"the whole history again, after a reconnect", "call_1: intact kept=false in 2, 1 \"one\"", func(in *Inspector) {
			socket(1, in, begins, answers("resp_1", "call_1", "a", `{"n":1}`))
			socket(2, in, `{"type":"response.create","model":"m","input":[{"type":"message","role":"user","content":"go"},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"n\":1}"},`+
				`{"type":"function_call_output","call_id":"call_1","output":"one"}]}`, answers("resp_2", "", "", ""))
		}},
	} {
		in := new(Inspector)
		test.sees(in)
		in.Close()
		if got := told(in); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestToolsOfAThread checks that tools that were declared earlier are still known if the provider keeps the
// history. If other tools are possible, there must be no finding about an unknown tool.
func TestToolsOfAThread(t *testing.T) {
	other := `{"type":"response.create","model":"m","tools":[{"type":"function","name":"g"}],"input":"go"}`
	after := func(m, id string) string {
		return strings.Replace(m, `"input"`, `"previous_response_id":"`+id+`","input"`, 1)
	}
	for _, test := range []struct {
		name, want string
		sees       func(in *Inspector)
	}{
		{"none of them", "call_1: NO_SUCH_TOOL", func(in *Inspector) { socket(1, in, other, answers("resp_1", "call_1", "", `{}`)) }},
		{"none of them, after a prewarm", "call_1: NO_SUCH_TOOL", func(in *Inspector) {
			socket(1, in, prewarm, answers("resp_0", "", "", ""), after(other, "resp_0"), answers("resp_1", "call_1", "", `{}`))
		}},
		{"of the message before", "call_1: intact kept=true in 1, 1 \"one\"\ncall_2:", func(in *Inspector) {
			socket(1, in, prewarm, answers("resp_0", "", "", ""), begins, answers("resp_1", "call_1", "a", `{"n":1}`), brings("resp_1", "call_1", "one"), answers("resp_2", "call_2", "a", `{"n":1}`))
		}},
		{"each namespace has its own schema", "call_1: SCHEMA_WRONG_TYPE", func(in *Inspector) {
			socket(1, in, prewarm, answers("resp_0", "", "", ""), begins, answers("resp_1", "call_1", "b", `{"n":1}`))
		}},
		{"the connection began before", "call_2:", func(in *Inspector) {
			socket(1, in, after(other, "resp_unseen"), answers("resp_2", "call_2", "", `{}`))
		}},
		{"HTTP, gone on from a response that was not seen", "call_2:", func(in *Inspector) {
			posts(1, in, "/v1/responses", after(other, "resp_unseen"), body(answers("resp_2", "call_2", "", `{}`)))
		}},
		{"HTTP, gone on from one that was", "call_1:\ncall_2: SCHEMA_WRONG_TYPE", func(in *Inspector) {
			posts(1, in, "/v1/responses", `{"model":"m","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"n":{"type":"number"}}}}],"input":"go"}`, body(answers("resp_1", "call_1", "", `{"n":1}`)))
			posts(2, in, "/v1/responses", after(other, "resp_1"), body(answers("resp_2", "call_2", "", `{"n":"x"}`)))
		}},
		{"a conversation", "call_2:", func(in *Inspector) {
			posts(1, in, "/v1/responses", strings.Replace(other, `"input"`, `"conversation":"conv_1","input"`, 1), body(answers("resp_2", "call_2", "", `{}`)))
		}},
	} {
		in := new(Inspector)
		test.sees(in)
		in.Close()
		if got := told(in); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}
