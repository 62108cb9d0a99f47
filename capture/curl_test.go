package capture

import (
	"bytes"
	"slices"
	"testing"
)

const events = "event: ping\ndata: {\"type\":\"ping\"}\n\n"

func TestCurlDumps(t *testing.T) {
	tests := []struct {
		name    string
		content string
		status  int
		header  string // value of X-Kind in the response
		want    string
	}{
		{
			"CRLF", "HTTP/2 200 \r\ncontent-type: text/event-stream\r\nx-kind: a\r\n\r\n" + events,
			200, "a", "1 " + quoted(events) + " eof",
		},
		{"LF", "HTTP/1.1 429 Too Many Requests\nX-Kind: b\n\n{\"error\":{}}", 429, "b", `1 "{\"error\":{}}" eof`},
		{"no body", "HTTP/1.1 204 No Content\r\nX-Kind: a\r\n\r\n", 204, "a", `1 "" eof`},
		{
			"last head counts",
			"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" +
				"HTTP/1.1 307 Temporary Redirect\r\nX-Kind: old\r\nLocation: /x\r\n\r\nHTTP/2 200\r\nX-Kind: a\r\n\r\n" + events,
			200, "a", "1 " + quoted(events) + " eof",
		},
		{"stray header first", "X-Kind: a\r\nHTTP/2 200 \r\nserver: s\r\n\r\n" + events, 200, "a", "1 " + quoted(events) + " eof"},
		{"blank lines first", "\r\n\nHTTP/2 200 \r\nX-Kind: a\r\n\r\n" + events, 200, "a", "1 " + quoted(events) + " eof"},
		{"no empty line", "HTTP/2 200 \r\nX-Kind: a\r\n" + events, 200, "a", "1 " + quoted(events) + " eof"},
		{"body begins with id", "HTTP/2 200\r\nX-Kind: a\r\n\r\nid: 1\ndata: x\n\n", 200, "a", `1 "id: 1\ndata: x\n\n" eof`},
		{"body looks like a header", "HTTP/2 200\n\nX-Kind: body\n", 200, "", `1 "X-Kind: body\n" eof`},
		{"body begins with HTTP", "HTTP/2 200\n\nHTTP/ is a protocol", 200, "", `1 "HTTP/ is a protocol" eof`},
		{"body begins with empty line", "HTTP/2 200\n\n\ndata: x\n", 200, "", `1 "\ndata: x\n" eof`},
		{
			"cut in its head", "HTTP/2 200\r\nX-Kind: a\r\nserv",
			200, "a", `1 "" note:the dump ends inside the headers: "serv" eof`,
		},
		{
			"verbose",
			"*   Trying 127.0.0.1:80...\n* Connected to h\n> POST /v1/x HTTP/1.1\n> Host: h\n> \n} [12 bytes data]\n" +
				"< HTTP/1.1 200 OK\n< X-Kind: v\n< \n{ [5 bytes data]\n{\"a\":1}* Connection #0 to host h left intact\n",
			200, "v", "1 request \"\"\n" + `1 "{\"a\":1}" note:curl: Connection #0 to host h left intact eof`,
		},
		{
			"verbose with heads doubled",
			"> GET / HTTP/2\n>\n< HTTP/2 200\nHTTP/2 200\r\n< x-kind: v\nx-kind: v\r\n<\n\r\n" + events,
			200, "v", "1 request \"\"\n1 " + quoted(events) + " eof",
		},
		{
			"verbose with times and progress, between the pieces of the body", timedDump,
			200, "v", "1 request \"\"\n1 \"data: {\\\"a\\\":[1, {}]}\\n\\n\" note:curl: Connection #0 to host h left intact eof",
		},
		{
			"verbose, redirected",
			"> GET /a HTTP/2\n>\n< HTTP/2 302\n< x-kind: old\n<\n* Issue another request\n> GET /b HTTP/2\n>\n" +
				"< HTTP/2 200\n< x-kind: v\n<\n" + events,
			200, "v", "1 request \"\"\n1 " + quoted(events) + " eof",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recs := openAll(t, tt.content)
			expect(t, outline(recs), tt.want)
			head := lastHead(recs)
			if head.Status != tt.status || head.Header.Get("X-Kind") != tt.header {
				t.Errorf("status %d, X-Kind %q", head.Status, head.Header.Get("X-Kind"))
			}
			if n := len(head.Header["X-Kind"]); n > 1 {
				t.Errorf("X-Kind %d times", n)
			}
		})
	}
}

const timedDump = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n" +
	"                                 Dload  Upload   Total   Spent    Left  Speed\n" +
	"\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0" +
	"00:45:01.507821 *   Trying 127.0.0.1:80...\n00:45:01.524074 > POST /v1/x HTTP/1.1\n00:45:01.524074 > \n" +
	"00:45:01.524232 } [250 bytes data]\n00:45:01.524310 < HTTP/1.1 200 OK\n00:45:01.524333 < X-Kind: v\n00:45:01.524411 < \n" +
	"00:45:01.524430 { [5 bytes data]\ndata:00:45:01.524431 { [9 bytes data]\n {\"a\":[1, {}]}\n\n" +
	"\r100  1296    0  1046  100   250   5790   1383 --:--:-- --:--:-- --:--:--  7200\n" +
	"00:45:01.688286 * Connection #0 to host h left intact\n"

// TestCurlDumpInPieces checks that the body of a dump with remarks between its chunks is the same, however the dump
// is split.
func TestCurlDumpInPieces(t *testing.T) {
	for size := 1; size < 200; size += 3 {
		in := newInputReader("in", &exchangeNumbers{})
		body := ""
		var recs []Record
		for part := range slices.Chunk([]byte(timedDump), size) {
			some, err := in.write(bytes.Clone(part), NoTime)
			if recs = append(recs, some...); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range append(recs, in.close(EndEOF, "", NoTime)...) {
			body += string(r.Data)
		}
		if body != "data: {\"a\":[1, {}]}\n\n" {
			t.Fatalf("in pieces of %d: %q", size, body)
		}
	}
}

// TestCurlFailure checks that curl's last line about a failure is the reason for the end, and not part of the body. Other
// text remains in the body.
func TestCurlFailure(t *testing.T) {
	const head, begin, cut = "HTTP/2 200\nX-Kind: a\n\n", "event: ping\ndata: {\"type\":", "curl: (18) transfer closed with outstanding read data remaining"
	long := "curl: (18) " + string(bytes.Repeat([]byte("x"), maxFailureLine))
	for _, test := range []struct {
		name, text, body string
		end              End
		why              string
		by               Party
	}{
		{"after a head", head + begin + "\n" + cut + "\n", begin + "\n", EndCut, cut[:6] + cut[11:], Network},
		{"without a head", events + begin + "\n" + cut + "\n", events + begin + "\n", EndCut, cut[:6] + cut[11:], Network},
		{"in the middle of a line", head + begin + cut + "\r\n", begin, EndCut, cut[:6] + cut[11:], Network},
		{"the client's time limit", head + events + "curl: (28) Operation timed out", events, EndCut, "curl: Operation timed out", Client},
		{"no body", head + "curl: (56) Recv failure", "", EndCut, "curl: Recv failure", Network},
		{"-v", "> GET / HTTP/2\n>\n< HTTP/2 200\n< \n" + events + "* Closing connection\n" + cut + "\n", events, EndCut, cut[:6] + cut[11:], Network},

		{"not the last line", head + cut + "\n" + events, cut + "\n" + events, EndEOF, "", ""},
		{"a code that doesn't cut off a response", head + events + "curl: (6) Could not resolve host: h", events + "curl: (6) Could not resolve host: h", EndEOF, "", ""},
		{"part of such a line", head + events + "curl: (", events + "curl: (", EndEOF, "", ""},
		{"a longer line", head + events + long, events + long, EndEOF, "", ""},
	} {
		for size := 1; size < 100; size += 7 {
			in := newInputReader("in", &exchangeNumbers{})
			var recs []Record
			for part := range slices.Chunk([]byte(test.text), size) {
				some, err := in.write(bytes.Clone(part), NoTime)
				if recs = append(recs, some...); err != nil {
					t.Fatal(err)
				}
			}
			recs = append(recs, in.close(EndEOF, "", NoTime)...)
			body := ""
			for _, r := range recs {
				body += string(r.Data)
			}
			if last := recs[len(recs)-1]; body != test.body || last.End != test.end || last.Why != test.why || last.By != test.by {
				t.Fatalf("%s, in pieces of %d: %q, %s %q %q", test.name, size, body, last.End, last.Why, last.By)
			}
		}
	}
}

func quoted(s string) string { return outline([]Record{{Exchange: 1, Data: []byte(s)}})[2:] }

func TestCurlRequest(t *testing.T) {
	recs := openAll(t, "> POST /v1/messages HTTP/2\n> Host: api.example\n> Accept: */*\n>\n< HTTP/2 200\n<\ndata: x\n\n")
	head := recs[0].Head
	if recs[0].Side != Request || head.Method != "POST" || head.URL != "/v1/messages" || head.Header.Get("host") != "api.example" {
		t.Errorf("request %+v", head)
	}
}

// TestCurlDumpCutAnywhere checks that, wherever a dump is cut off, no part of its body is lost, and no part of its
// head is in the body.
func TestCurlDumpCutAnywhere(t *testing.T) {
	head := "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n"
	dump := head + events
	for n := len("HTTP/1.1 100 Continue\r\n"); n <= len(dump); n++ {
		body := ""
		for _, r := range openAll(t, dump[:n]) {
			body += string(r.Data)
		}
		want := dump[min(n, len(head)):n]
		// After an empty line, an incomplete status line may also be a body.
		if second := len("HTTP/1.1 100 Continue\r\n\r\n"); n > second && n < second+len("HTTP/2 200 \r\n") {
			want = dump[second:n]
		}
		if body != want {
			t.Fatalf("cut at %d: body %q, want %q", n, body, want)
		}
	}
}
