package providers

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// gateways lists programs and services that respond in place of a provider that they can't reach. A gateway is
// recognised by a header, or by lower-case words in its page.
var gateways = []struct{ name, header, value, words string }{
	{"Cloudflare", "Cf-Ray", "", "cloudflare"},
	{"Cloudflare", "Server", "cloudflare", "error code: 52"},
	{"openresty", "Server", "openresty", "openresty"},
	{"nginx", "Server", "nginx", "nginx"},
	{"envoy", "Server", "envoy", "upstream connect error or disconnect/reset before headers"},
	{"AWS ELB", "Server", "awselb", ""},
	{"Caddy", "Server", "caddy", ""},
	{"Traefik", "Server", "traefik", ""},
	{"Vercel", "X-Vercel-Error", "", ""},
	{"Azure Application Gateway", "Server", "microsoft-azure-application-gateway", "microsoft-azure-application-gateway"},
}

// gatewayName returns the gateway that sent the response, or "" if nothing identifies it.
func gatewayName(head *stream.Head, response *stream.Wire) string {
	body := bytes.ToLower(response.Bytes(0, min(response.Size(), maxErrorBody)))
	for _, g := range gateways {
		if g.words != "" && bytes.Contains(body, []byte(g.words)) {
			return g.name
		}
	}
	for _, g := range gateways {
		for _, value := range head.Header[g.header] {
			if strings.HasPrefix(strings.ToLower(value), g.value) {
				return g.name
			}
		}
	}
	return ""
}

// isFromGateway reports whether a gateway sent the response. Such a response is an HTML page, or an error
// without JSON whose status means that the provider was not reached.
func isFromGateway(head *stream.Head, response *stream.Wire) bool {
	if isErrorPage(head, response) {
		return true
	}
	status := head.Status
	body := json.Value(response.Bytes(0, min(response.Size(), maxPageStart)))
	isUnreached := status == 502 || status == 504 || status >= 520 && status <= 527 || status == 503 && upstreamError().Match(body)
	return isUnreached && body.Kind() != '{' && body.Kind() != '[' && gatewayName(head, response) != ""
}

var upstreamError = lazyregexp.New(`(?i)^\s*upstream connect error`)

// refusalReasons lists reasons for the refusal of a request. The status, the code or words in the error show
// the reason.
var refusalReasons = []struct {
	words  string
	status []int
	codes  []string
}{
	{"no credit", []int{402}, []string{"insufficient_quota", "credit balance is too low"}},
	{"the key or its permissions", []int{401, 403}, nil},
	{"the provider doesn't keep this item", nil, []string{"previous_response_not_found", "Item with id '", "Previous response with id '"}},
	{"no endpoint for the model fits the request", nil, []string{"No endpoints found that ", "No endpoints found matching ", "No allowed providers are available"}},
	{"no such model or path", []int{404}, []string{"model_not_found"}},
}

// reasonOf returns the reason for a refusal, or "" if only the error itself explains it.
func reasonOf(status int, code, words string) string {
	for _, r := range refusalReasons {
		if slices.ContainsFunc(r.codes, func(s string) bool { return code == s || strings.Contains(words, s) }) {
			return r.words
		}
	}
	for _, r := range refusalReasons {
		if slices.Contains(r.status, status) {
			return r.words
		}
	}
	return ""
}

// lostConnection matches agents' messages about a broken connection. Such messages never come from a
// provider.
var lostConnection = lazyregexp.New(`(?i)^(?:terminated|fetch failed|network error)\b|\bconnection (?:closed|error|reset|lost|refused|timed out)\b|` +
	`\bsocket hang up\b|\bstream disconnected\b|\bE(?:CONNRESET|CONNREFUSED|TIMEDOUT|NOTFOUND|PIPE)\b|\bunable to connect\b`)

// causeOfFailure adds the party at fault to the error of a turn. With a status from 400 to 499, the request is at
// fault, unless the provider only refuses it for now, or refuses the model's output. HTML never comes from a provider.
func (x *Exchange) causeOfFailure(said stream.FailureInfo, words string, turn int32) *stream.FailureInfo {
	if said.By == 0 && x.Head.Status == 0 && sessionOf(x.Head) != nil && lostConnection().MatchString(words) {
		said.By, said.Code = stream.Network, ""
	}
	said.Refusal = x.refusalOf(&said, words, turn)
	repeats := stream.Party(0) // the party that used a refused id for two calls
	if said.Refusal != nil {
		repeats = x.in.causeOfRepeatedID(words)
	}
	switch status := x.Head.Status; {
	case said.By != 0 || said.Cause != 0 || x.AnsweredHere:
	case isFromGateway(x.Head, &x.Response):
		said.Cause, said.Gateway = stream.Gateway, gatewayName(x.Head, &x.Response)
	case repeats != 0:
		said.Cause = repeats
	case x.discardsOutput():
	case status >= 400 && status < 500 && !slices.Contains(refusedForNow, status), said.Code == "insufficient_quota":
		said.Cause = stream.Client
	}
	return &said
}
