package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

const (
	dumpAsk  = `{"model":"m","messages":` + askedMessages + `}`
	dumpHead = "POST /v1/chat/completions HTTP/1.1\nHost: llm.example\nContent-Type: application/json\n\n"
	dumpOK   = "HTTP/1.1 200 OK\nContent-Type: application/json\n\n"
)

// dumpedExchanges returns the exchanges of a dump: status, request, response.
func dumpedExchanges(t *testing.T, dump string, size int) (all []string, others int64) {
	t.Helper()
	status, request, response := map[int]int{}, map[int]string{}, map[int]string{}
	var parts [][]byte
	for part := range slices.Chunk([]byte(dump), size) {
		parts = append(parts, part)
	}
	last := 0
	for _, r := range readParts(t, httpDump, parts...) {
		last = max(last, r.Exchange)
		others += r.Others
		if r.Head != nil && r.Head.Status != 0 {
			status[r.Exchange] = r.Head.Status
		}
		if r.Side == capture.Request {
			request[r.Exchange] += string(r.Data)
		} else {
			response[r.Exchange] += string(r.Data)
		}
	}
	for n := 1; n <= last; n++ {
		all = append(all, fmt.Sprintf("%d|%s|%s", status[n], request[n], response[n]))
	}
	return all, others
}

// TestHTTPDump checks how a dump is divided into messages.
func TestHTTPDump(t *testing.T) {
	events := "data: " + chatLeg[0] + "\n\ndata: [DONE]\n\n"
	page := "<html>\n<body><h1>502 Bad Gateway</h1></body>\n</html>"
	pretty := "{\n  \"id\": \"cc-4\",\n\n  \"choices\": []\n}"
	for _, c := range []struct {
		name, dump string
		want       []string
		others     int64
	}{
		{"a request and its response", dumpHead + dumpAsk + "\n\n" + dumpOK + chatBody + "\n", []string{"200|" + dumpAsk + "|" + chatBody}, 0},
		{"no line break between them", dumpHead + dumpAsk + dumpOK + chatBody + dumpHead + dumpAsk, []string{"200|" + dumpAsk + "|" + chatBody, "0|" + dumpAsk + "|"}, 0},
		{"a stream", dumpHead + dumpAsk + "\n" + dumpOK + events + dumpHead + dumpAsk + "\n", []string{"200|" + dumpAsk + "|" + events, "0|" + dumpAsk + "|"}, 0},
		{"a page", dumpHead + dumpAsk + "\n\nHTTP/1.1 502 Bad Gateway\nServer: nginx\n\n" + page + "\n", []string{"502|" + dumpAsk + "|" + page}, 0},
		{"an interim response", dumpHead + dumpAsk + "\nHTTP/1.1 100 Continue\n\n" + dumpOK + chatBody, []string{"200|" + dumpAsk + "|" + chatBody}, 0},
		{"JSON over several lines, and marks of a debugger", dumpHead + dumpAsk + "\n---- response ----\n" + dumpOK + pretty + "\n", []string{"200|" + dumpAsk + "|" + pretty}, 1},
		{"no body", "GET /v1/models HTTP/1.1\nHost: a\n\nHTTP/1.1 204 No Content\n\n", []string{"204||"}, 0},
		{"a first line inside JSON", dumpHead + `{"model":"m","prompt":"POST /v1 HTTP/1.1"}` + "\n" + dumpOK + `{"text":"HTTP/1.1 200 OK"}`,
			[]string{`200|{"model":"m","prompt":"POST /v1 HTTP/1.1"}|{"text":"HTTP/1.1 200 OK"}`}, 0},
	} {
		for _, size := range []int{1, 7, len(c.dump) * 2} {
			for _, dump := range []string{c.dump, strings.ReplaceAll(c.dump, "\n", "\r\n")} {
				got, others := dumpedExchanges(t, dump, size)
				for i := range got {
					got[i] = strings.ReplaceAll(got[i], "\r\n", "\n")
				}
				if !slices.Equal(got, c.want) || others != c.others {
					t.Errorf("%s, by %d bytes: %d others, %q\nwant %d, %q", c.name, size, others, got, c.others, c.want)
				}
			}
		}
	}
}

// TestDumpOfRefusal checks that the calls in the history of a refused request are shown.
func TestDumpOfRefusal(t *testing.T) {
	ask := `{"model":"m","messages":[{"role":"user","content":"a"},` + calledMessage + `,{"role":"tool","tool_call_id":"v-1","content":"ok"}]}`
	got, _ := dumpedExchanges(t, dumpHead+ask+"\n\nHTTP/1.1 400 Bad Request\n\n"+`{"error":{"message":"x"}}`, 1<<20)
	if len(got) != 2 || !strings.Contains(got[0], `"message":`+calledMessage) || !strings.HasPrefix(got[1], "400|"+ask) {
		t.Errorf("%q", got)
	}
}

// TestDumpOrNot checks which input counts as a dump.
func TestDumpOrNot(t *testing.T) {
	for text, want := range map[string]capture.SniffVerdict{
		dumpHead + dumpAsk:                 capture.Yes,
		"\r\nGET / HTTP/1.0\r\n\r\n":       capture.Yes,
		"PO":                               capture.Maybe,
		"POST /v1/messages HTT":            capture.Maybe,
		"POST /v1/messages HTTP/1.1\nHo":   capture.Maybe,
		"POST /v1/messages HTTP/1.1 200\n": capture.No,
		"POST /v1/messages HTTP/1.1\nPOST /v1/messages HTTP/1.1\n": capture.No,
		"POST the letter\n":             capture.No,
		"> POST /v1 HTTP/1.1\n> a: b\n": capture.No,
		dumpOK + chatBody:               capture.No,
		"10.0.0.7 - - [12/Mar/2026:10:00:00 +0000] \"POST /v1 HTTP/1.1\" 200 12\n": capture.No,
		chatBody: capture.No,
	} {
		if got := httpDump.Sniff([]byte(text), false); got.Is != want {
			t.Errorf("%d of %.40q, want %d", got.Is, text, want)
		}
	}
}
