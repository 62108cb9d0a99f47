package formats

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
)

// This file reads one interaction of a cassette: a request and its response, as a library recorded
// them to play them to a test. Libraries differ in how they spell it:
//
//	vcrpy, pytest-recording   request{method, uri, body, headers{k: [v]}}, response{status{code}, body{string}}
//	pydantic-ai               the same, with parsed_body for a body that is JSON
//	vcr (Ruby)                body{encoding, string or base64_string}, recorded_at
//	go-vcr                    request{method, url, body}, response{code, status "200 OK", body}
//	httpmock (Rust)           when{method, path, header[{name, value}], body}, then{status, header, body}

// interaction is what is recorded there; ok is false where nothing is. Of one that may
// be cut the end may be missing.
func interaction(p part, cut bool) (x exchange, ok bool) {
	request, response := p.get("request", "when"), p.get("response", "then")
	if !request.isMapping() && !response.isMapping() {
		return x, false
	}
	x = exchange{layers: []string{"cassette"}}
	x.method = strings.ToUpper(request.get("method").text())
	x.url = requestURL(request)
	x.asked = partHeader(request.get("headers", "header"))
	x.request = partBody(&x, request, !response.isMapping() && (cut || x.url == ""))
	x.began = recordedAt(p)
	x.status = partStatus(response)
	x.answered = partHeader(response.get("headers", "header"))
	x.answered.Del("Transfer-Encoding")
	x.response = partBody(&x, response, cut || x.status == 0)
	switch {
	case len(x.response) > 0:
		x.lack(capture.NoTimes)
	case !response.isMapping() || x.status == 0:
		x.cut = true
	}
	return x, true
}

func requestURL(request part) string {
	url := request.get("uri", "url").text()
	if url != "" {
		return url
	}
	path := request.get("path").text()
	if host := request.get("host").text(); host != "" {
		return cmp.Or(request.get("scheme").text(), "https") + "://" + host + path
	}
	return path
}

func partStatus(response part) int {
	status := response.get("status")
	if code := response.get("code"); code.is() {
		status = code
	}
	if status.isMapping() {
		status = status.get("code")
	}
	word, _, _ := strings.Cut(status.text(), " ")
	code, _ := strconv.Atoi(word)
	return code
}

// partHeader reads a mapping of names to a value or several, or a list of names with values.
func partHeader(p part) http.Header {
	h := http.Header{}
	p.each(func(name string, value part) {
		switch {
		case name == "" && value.isMapping():
			h.Add(value.get("name").text(), value.get("value").text())
		case value.isSequence():
			value.each(func(_ string, v part) { h.Add(name, v.text()) })
		default:
			h.Add(name, value.text())
		}
	})
	return h
}

// partBody is the body of a request or a response. Of one that may be cut it is only what is known
// to be text.
func partBody(x *exchange, side part, cut bool) []byte {
	parsed, body := side.get("parsed_body"), side.get("body")
	if body.isMapping() && body.get("string", "base64_string").is() {
		if text := body.get("string"); text.is() {
			return text.bytes()
		}
		return unbase64(body.get("base64_string").text())
	}
	if coded := side.get("body_base64", "base64_body"); coded.is() {
		return unbase64(coded.text())
	}
	switch {
	case cut && side.endsWith("body", "parsed_body") && !body.isQuoted(), body.get("encoding").is():
		return nil
	case parsed.is() && !parsed.isNull():
		body = parsed
	}
	if !body.isMapping() && !body.isSequence() && !parsed.is() {
		return body.bytes()
	}
	if body.node != nil && (body.isMapping() || body.isSequence()) {
		x.lack(capture.Reencoded)
	}
	return body.json()
}

// recordedAt is when the response was recorded, as Ruby's library says it.
func recordedAt(p part) time.Time {
	text := p.get("recorded_at").text()
	if t, err := time.Parse(time.RFC1123, text); err == nil {
		return t
	}
	return stamp(text)
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
			return maybe(false)
		case "interactions", "http_interactions":
			for x := range Elements(value) {
				if request := Member(x, "request"); len(request) > 0 && request[0] == '{' {
					return capture.SniffResult{Is: capture.Yes, Why: `it has "` + key + `", a list of requests`}
				}
			}
			return maybe(false)
		}
		return capture.SniffResult{}
	})
}

func readInteraction(r *valuesReader, object []byte, cut bool) {
	x, ok := interaction(part{raw: object}, cut)
	x.cut = x.cut || cut
	if !ok {
		r.lacking("neither a request nor a response")
		return
	}
	r.exchange(&x)
}
