package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestGateways checks that an error from a gateway names the gateway. An error in JSON is the provider's, even if a
// gateway passed it on.
func TestGateways(t *testing.T) {
	const overloaded = `{"type":"error","error":{"type":"api_error","message":"internal"}}`
	for _, test := range []struct {
		name   string
		status int
		header map[string][]string
		body   string
		by     stream.Party
		words  string
	}{
		{"nginx", 502, nil, "<html><title>502</title><hr><center>nginx/1.27</center></html>", stream.Gateway, "the gateway nginx reports 502"},
		{"openresty", 504, nil, "<html><h1>504 Gateway Time-out</h1><center>openresty</center></html>", stream.Gateway, "the gateway openresty reports"},
		{"Cloudflare", 524, map[string][]string{"Server": {"cloudflare"}, "Cf-Ray": {"8a-OSL"}}, "error code: 524", stream.Gateway, "the gateway Cloudflare reports 524: HTTP status 524: error code: 524"},
		{"a load balancer", 503, map[string][]string{"Server": {"awselb/2.0"}}, "<html><h1>503</h1></html>", stream.Gateway, "the gateway AWS ELB reports"},
		{"envoy", 503, map[string][]string{"Server": {"envoy"}}, "upstream connect error or disconnect/reset before headers", stream.Gateway, "the gateway envoy reports"},
		{"no body", 502, map[string][]string{"Server": {"Caddy"}}, "", stream.Gateway, "the gateway Caddy reports"},
		{"a page with status 200", 200, nil, "<!doctype html><title>Console</title>", stream.Gateway, "a gateway reports 200: HTTP status 200, with a page instead of a response, because the address may be wrong: Console"},
		{"a form of error that no protocol has", 503, nil, `{"detail":"No worker"}`, stream.Provider, "the provider reports 503: No worker"},
		{"an empty body", 200, nil, "", stream.Provider, "the provider reports 200: HTTP status 200, with an empty body"},
		{"only a comment", 200, nil, ": ping\n\n", stream.Provider, "the provider reports 200: HTTP status 200, without a response in the body"},
		{"an empty list", 200, nil, "[]", stream.Provider, "the provider reports 200: HTTP status 200, without a response in the body"},
		{"a code in the body", 200, nil, `{"code":500,"msg":"404 NOT_FOUND","success":false}`, stream.Provider, "the provider reports 500: 404 NOT_FOUND"},
		{"another field for the words", 200, nil, `{"errorType":"Timeout","errorMessage":"Task timed out"}`, stream.Provider, "the provider reports Timeout: Task timed out"},
		{"an unknown gateway", 502, nil, "<html><h1>Bad Gateway</h1></html>", stream.Gateway, "a gateway reports"},

		{"an error behind Cloudflare", 502, map[string][]string{"Server": {"cloudflare"}, "Cf-Ray": {"8a-OSL"}}, overloaded, stream.Provider, "the provider reports"},
		{"an error of 500", 500, map[string][]string{"Server": {"nginx"}}, overloaded, stream.Provider, "the provider reports"},
		{"nothing names one", 502, nil, "", stream.Provider, "the provider reports"},
		{"a word in an error", 500, nil, `{"error":{"message":"nginx is not a tool"}}`, stream.Provider, "the provider reports"},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(portsRequest(portsAsk)), Head: &stream.Head{Method: "POST", URL: otherHost}})
		in.Write(stream.Record{Exchange: 1, Data: []byte(test.body), Head: &stream.Head{Status: test.status, Header: test.header}})
		in.Write(stream.Record{Exchange: 1, End: true})
		found := findingsOf(in, "PROVIDER_ERROR")
		if len(found) != 1 || found[0].By != test.by || !strings.HasPrefix(found[0].Message, test.words) || len(in.Session().Turns[0].Findings) != 1 {
			t.Errorf("%s: %+v, want %s, %s", test.name, in.Session().Turns[0].Findings, test.by, test.words)
		}
	}
}

// TestNoEmptyResponse checks that a response without a body is not an error if the body may be missing for another reason.
func TestNoEmptyResponse(t *testing.T) {
	for _, test := range []struct {
		name string
		head stream.Head
		ask  string
		end  stream.Record
	}{
		{"a file that may lack bodies", stream.Head{Method: "POST", URL: otherHost, Wrappers: "har"}, portsRequest(portsAsk), stream.Record{}},
		{"the client disconnected", stream.Head{Method: "POST", URL: otherHost}, portsRequest(portsAsk), stream.Record{Why: "gone", By: "client"}},
		{"toolscope stopped", stream.Head{Method: "POST", URL: otherHost}, portsRequest(portsAsk), stream.Record{By: "toolscope"}},
		{"not for a model", stream.Head{Method: "POST", URL: "https://llm.example/v1/notify"}, `{"event":"a"}`, stream.Record{}},
		{"another method", stream.Head{Method: "DELETE", URL: "https://llm.example/v1/responses/r"}, "", stream.Record{}},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(test.ask), Head: &test.head})
		in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Status: 200, Wrappers: test.head.Wrappers}})
		test.end.Exchange, test.end.End = 1, true
		in.Write(test.end)
		if found := findingsOf(in, "PROVIDER_ERROR"); len(found) > 0 {
			t.Errorf("%s: %+v", test.name, found)
		}
	}
}

// TestNoModel checks which exchanges are requests without a model. Such an exchange has no finding, while a response in
// an unknown protocol has one.
func TestNoModel(t *testing.T) {
	const answer, events = `{"id":"x","status":"done"}`, "data: {\"id\":\"x\"}\n\ndata: {\"id\":\"y\"}\n\n"
	for _, test := range []struct {
		name, path, request, response string
		status                        int
		plain                         bool
	}{
		{"the path names another service", "/v1/moderations", `{"model":"m","input":"a"}`, answer, 200, true},
		{"progress of a download", "/api/pull", `{"model":"m"}`, "{\"status\":\"pulling manifest\"}\n{\"status\":\"success\"}\n", 200, true},
		{"cached contents have a model", "/v1beta/cachedContents", `{"contents":[]}`, `{"name":"cachedContents/a","model":"models/m","usageMetadata":{"totalTokenCount":9}}`, 200, true},
		{"no field for a model", "/key/generate", `{"team":"t"}`, answer, 200, true},
		{"no field for a model, in several lines", "/key/generate", "{\n\"team\": \"t\"\n}", answer, 200, true},
		{"a question", "/chat", `{"question":"a"}`, answer, 200, false},
		{"a model", "/run", `{"model":"m"}`, answer, 200, false},
		{"a redirection", "/v1/messages", `{"model":"m","messages":[]}`, "<html>moved</html>", 308, true},
		{"a redirection without a body", "/v1/messages", `{"model":"m","messages":[]}`, "", 307, true},
		{"a code for success", "/run", `{"model":"m"}`, `{"code":0,"msg":"ok"}`, 200, false},
		{"not JSON", "/run", "team=t", answer, 200, false},
		{"an incomplete request", "/run", `{"team":"t"`, answer, 200, false},
		{"a stream", "/run", `{"team":"t"}`, events, 200, false},
		{"several lines", "/run", `{"team":"t"}`, answer + "\n" + answer + "\n", 200, false},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(test.request), Head: &stream.Head{Method: "POST", URL: "https://llm.example" + test.path}})
		in.Write(stream.Record{Exchange: 1, Data: []byte(test.response), Head: &stream.Head{Status: test.status}})
		in.Write(stream.Record{Exchange: 1, End: true})
		x, found := in.Exchange(1), in.Session().Turns[0].Findings
		if plain := x.Protocol == &plainHTTP; plain != test.plain || (len(found) == 0) != test.plain {
			t.Errorf("%s: protocol %s, findings %+v", test.name, x.Protocol.Name, found)
		}
	}
}

// TestRefusalReasons checks that common refusals have a reason.
func TestRefusalReasons(t *testing.T) {
	for _, test := range []struct {
		status      int
		body, words string
		by          stream.Party
	}{
		{401, refusedWith("invalid x-api-key"), "refused (HTTP 401): the key or its permissions; the provider reports", stream.Client},
		{403, refusedWith("not allowed"), "refused (HTTP 403): the key or its permissions;", stream.Client},
		{404, `{"error":{"code":"model_not_found","message":"no model m"}}`, "refused (HTTP 404): no such model or path;", stream.Client},
		{402, refusedWith("pay first"), "refused (HTTP 402): no credit;", stream.Client},
		{400, refusedWith("Your credit balance is too low to use the API"), "refused (HTTP 400): no credit;", stream.Client},
		{400, refusedWith("max_tokens is too large"), "refused (HTTP 400); the provider reports", stream.Client},
		{429, `{"error":{"code":"insufficient_quota","message":"no quota left"}}`, "the provider reports insufficient_quota", stream.Client},
		{424, `{"message":"Model produced invalid sequence as part of ToolUse"}`, "the provider reports 424: Model produced", stream.Provider},
		{498, `{"error":{"type":"capacity_exceeded","message":"try again"}}`, "the provider reports capacity_exceeded: try again", stream.Provider},
		{429, `{"error":{"code":"rate_limit_exceeded","message":"slow down"}}`, "the provider reports rate_limit_exceeded", stream.Provider},
	} {
		in, _ := play("https://llm.example/v1/chat/completions", asked{`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, test.body, test.status})
		f := in.Session().Turns[0].Findings
		if len(f) != 1 || !strings.HasPrefix(f[0].Message, test.words) || f[0].By != test.by {
			t.Errorf("%d %s: %+v, want %s", test.status, test.body, f, test.words)
		}
	}
}
