package formats

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// This file reads one interaction of a cassette: a request and its response, as a library recorded
// them to play them to a test. Libraries differ in how they spell it:
//
//	vcrpy, pytest-recording   request{method, uri, body, headers{k: [v]}}, response{status{code}, body{string}}
//	pydantic-ai               the same, with parsed_body for a body that is JSON
//	vcr (Ruby)                body{encoding, string or base64_string}, recorded_at
//	go-vcr                    request{method, url, body}, response{code, status "200 OK", body}
//	httpmock (Rust)           when{method, path, header[{name, value}], body}, then{status, header, body}

// parseInteraction is what is recorded there; ok is false where nothing is. Of one that may
// be cut the end may be missing.
func parseInteraction(p fileValue, cut bool) (x recordedExchange, ok bool) {
	request, response := p.get("request", "when"), p.get("response", "then")
	if !request.isMapping() && !response.isMapping() {
		return x, false
	}
	x = recordedExchange{layers: []string{"cassette"}}
	x.method = strings.ToUpper(request.get("method").asText())
	x.url = requestURL(request)
	x.requestHeader = partHeader(request.get("headers", "header"))
	x.request = partBody(&x, request, !response.isMapping() && (cut || x.url == ""))
	x.began = recordedAt(p)
	x.status = partStatus(response)
	x.responseHeader = partHeader(response.get("headers", "header"))
	x.responseHeader.Del("Transfer-Encoding")
	x.response = partBody(&x, response, cut || x.status == 0)
	switch {
	case len(x.response) > 0:
		x.addLack(capture.NoTimes)
	case !response.isMapping() || x.status == 0:
		x.cut = true
	}
	return x, true
}

func requestURL(request fileValue) string {
	url := request.get("uri", "url").asText()
	if url != "" {
		return url
	}
	path := request.get("path").asText()
	if host := request.get("host").asText(); host != "" {
		return cmp.Or(request.get("scheme").asText(), "https") + "://" + host + path
	}
	return path
}

func partStatus(response fileValue) int {
	status := response.get("status")
	if code := response.get("code"); code.isPresent() {
		status = code
	}
	if status.isMapping() {
		status = status.get("code")
	}
	word, _, _ := strings.Cut(status.asText(), " ")
	code, _ := strconv.Atoi(word)
	return code
}

// partHeader reads a mapping of names to a value or several, or a list of names with values.
func partHeader(p fileValue) http.Header {
	h := http.Header{}
	p.eachChild(func(name string, value fileValue) {
		switch {
		case name == "" && value.isMapping():
			h.Add(value.get("name").asText(), value.get("value").asText())
		case value.isSequence():
			value.eachChild(func(_ string, v fileValue) { h.Add(name, v.asText()) })
		default:
			h.Add(name, value.asText())
		}
	})
	return h
}

// partBody is the body of a request or a response. Of one that may be cut it is only what is known
// to be text.
func partBody(x *recordedExchange, side fileValue, cut bool) []byte {
	parsed, body := side.get("parsed_body"), side.get("body")
	if body.isMapping() && body.get("string", "base64_string").isPresent() {
		if text := body.get("string"); text.isPresent() {
			return text.asBytes()
		}
		return decodeBase64Text(body.get("base64_string").asText())
	}
	if coded := side.get("body_base64", "base64_body"); coded.isPresent() {
		return decodeBase64Text(coded.asText())
	}
	switch {
	case cut && side.endsWith("body", "parsed_body") && !body.isQuoted(), body.get("encoding").isPresent():
		return nil
	case parsed.isPresent() && !parsed.isNull():
		body = parsed
	}
	if !body.isMapping() && !body.isSequence() && !parsed.isPresent() {
		return body.asBytes()
	}
	if body.node != nil && (body.isMapping() || body.isSequence()) {
		x.addLack(capture.Reencoded)
	}
	return body.asJSON()
}

// recordedAt is when the response was recorded, as Ruby's library says it.
func recordedAt(p fileValue) time.Time {
	text := p.get("recorded_at").asText()
	if t, err := time.Parse(time.RFC1123, text); err == nil {
		return t
	}
	return parseISOTime(text)
}

// jsonCassette reads cassettes that are JSON.
var jsonCassette = capture.Format{
	Name:  "json cassette",
	Title: "VCR cassettes in JSON: vcrpy, vcr, rvcr",
	Sniff: sniffJSONCassette,
	New: func(in *capture.Input) capture.Reader {
		return newEntries(in, "interaction", readInteraction, []string{"interactions", "*"}, []string{"http_interactions", "*"})
	},
}

func sniffJSONCassette(first []byte, whole bool) capture.SniffResult {
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch key {
		case "version", "recorded_with", "recorded_at", "name":
			return sniffMaybe(false)
		case "interactions", "http_interactions":
			for x := range json.Elements(value) {
				if request := json.Find(x, "request"); len(request) > 0 && request[0] == '{' {
					return capture.SniffResult{Is: capture.Yes, Why: `it has "` + key + `", a list of requests`}
				}
			}
			return sniffMaybe(false)
		}
		return capture.SniffResult{}
	})
}

func readInteraction(r *valuesReader, object []byte, cut bool) {
	x, ok := parseInteraction(fileValue{raw: object}, cut)
	x.cut = x.cut || cut
	if !ok {
		r.noteUnexpected("neither a request nor a response")
		return
	}
	r.writeExchange(&x)
}
