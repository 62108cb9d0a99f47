package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// bodies returns streams as sent by providers, with their Content-Type and Content-Encoding.
func bodies() map[string][3]string {
	var events, lines, messages, packed bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&events, "event: delta\ndata: {\"i\":%d,\"text\":\"%s \\u00e9é\x1b\"}\r\n\r\n", i, strings.Repeat("x", i%40))
		fmt.Fprintf(&lines, "{\"i\":%d,\"done\":false}\n", i)
		// https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html
		payload := fmt.Appendf(nil, `{"bytes":"%d"}`, i)
		frame := binary.BigEndian.AppendUint32(nil, uint32(16+len(payload)))
		frame = binary.BigEndian.AppendUint32(frame, 0)
		frame = binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(frame))
		frame = append(frame, payload...)
		messages.Write(binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(frame)))
	}
	z := gzip.NewWriter(&packed)
	z.Write(events.Bytes())
	z.Close()
	return map[string][3]string{
		"SSE":        {events.String(), "text/event-stream; charset=utf-8", ""},
		"NDJSON":     {lines.String(), "application/x-ndjson", ""},
		"gzip":       {packed.String(), "text/event-stream", "gzip"},
		"AWS binary": {messages.String(), "application/vnd.amazon.eventstream", ""},
	}
}

func TestBodiesPassAsTheyAre(t *testing.T) {
	for name, body := range bodies() {
		for _, sized := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " sized ", sized), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				random := rand.New(rand.NewPCG(seed, 0))
				passes(t, body, sized, random)
			})
		}
	}
}

func passes(t *testing.T, body [3]string, sized bool, random *rand.Rand) {
	var received []byte
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		received, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", body[1])
		if body[2] != "" {
			w.Header().Set("Content-Encoding", body[2])
		}
		if sized {
			w.Header().Set("Content-Length", fmt.Sprint(len(body[0])))
		}
		for rest := body[0]; rest != ""; {
			n := 1 + random.IntN(min(len(rest), 1+random.IntN(3000)))
			sendNow(w, rest[:n])
			rest = rest[n:]
		}
	})
	d := stand(t, up, nil)
	var upload io.Reader = strings.NewReader(body[0])
	if !sized {
		upload = io.MultiReader(upload) // hides the length
	}
	resp, err := d.client.Post("http://"+d.addr+"/v1/x?y=%20", body[1], upload)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != body[0] || string(received) != body[0] {
		t.Fatalf("%v; the client got %d bytes, the upstream %d, of %d", err, len(got), len(received), len(body[0]))
	}
	if resp.Header.Get("Content-Encoding") != body[2] || sized != (resp.ContentLength > 0) {
		t.Errorf("header %v, length %d", resp.Header, resp.ContentLength)
	}
	recs := d.endsWith(1, capture.EndEOF, capture.Provider, "")
	for _, side := range []capture.Side{capture.Request, capture.Response} {
		if whole := recorded(recs, side); whole != body[0] {
			t.Errorf("recorded of the side %q: %d bytes", side, len(whole))
		}
	}
	request, response := headOf(recs, capture.Request).Head, headOf(recs, capture.Response).Head
	if request.Method != "POST" || request.URL != up+"/v1/x?y=%20" || request.Header.Get("Content-Type") != body[1] || request.Start.IsZero() {
		t.Errorf("request %+v", request)
	}
	if response.Status != 200 || response.Header.Get("Content-Type") != body[1] || response.Start.IsZero() {
		t.Errorf("response %+v", response)
	}
	if recs[0].Head != request || !slices.IsSortedFunc(recs, func(a, b capture.Record) int { return int(a.At - b.At) }) || notes(recs) != "" {
		t.Errorf("order: %s", describe(recs))
	}
}

// TestPiecesPassAtOnce checks that the proxy holds back no bytes in either direction: every chunk arrives before the
// next one is sent.
func TestPiecesPassAtOnce(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for buf := make([]byte, 100); ; {
			n, err := r.Body.Read(buf)
			w.Write(bytes.ToUpper(buf[:n]))
			w.(http.Flusher).Flush()
			if err != nil {
				return
			}
		}
	})
	d := stand(t, up, nil)
	from, to := io.Pipe()
	resp, err := d.client.Post("http://"+d.addr, "text/plain", from)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 100)
	for i := range 50 {
		piece := fmt.Sprintf("piece %d\n", i)
		io.WriteString(to, piece)
		if n, err := resp.Body.Read(buf); err != nil || string(buf[:n]) != strings.ToUpper(piece) {
			t.Fatalf("piece %d: %q, %v", i, buf[:n], err)
		}
	}
	to.Close()
	if n, err := resp.Body.Read(buf); err != io.EOF {
		t.Errorf("%q, %v", buf[:n], err)
	}
	recs := d.endsWith(1, capture.EndEOF, capture.Provider, "")
	for _, side := range []capture.Side{capture.Request, capture.Response} {
		if pieces := pieces(recs, side); len(pieces) != 50 {
			t.Errorf("side %q: %d pieces recorded", side, len(pieces))
		}
	}
}

// TestHeadsPassAsTheyAre checks that heads are forwarded unchanged, except for the host, the fields of one
// connection, and the proxy's mark.
func TestHeadsPassAsTheyAre(t *testing.T) {
	const request = "POST /v1/x%2Fy/{z}?a=1;b=%zz HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\nAuthorization: Bearer k\r\nX-Forwarded-For: 1.2.3.4\r\n" +
		"Forwarded: for=x\r\nAccept-Encoding: br, zstd\r\nX-Two: a\r\nX-Two: b\r\nAnthropic-Version: 2023-06-01\r\nX-Empty:\r\nCookie: a=b\r\n" +
		"Connection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nTE: trailers\r\n\r\nhi"
	for _, response := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\nDate: yesterday\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nX-Empty:\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nEtag: x\r\n\r\n",
		"HTTP/1.0 200 OK\r\nX: y\r\n\r\nuntil the end",
		"HTTP/1.1 529 \r\nContent-Length: 2\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n{}",
	} {
		var got *http.Request
		up := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
			got, _ = http.ReadRequest(r)
			io.Copy(io.Discard, got.Body)
			io.WriteString(c, response)
		})
		d := stand(t, up, nil)
		resp, body := d.ask(strings.Replace(request, "HOST", d.addr, 1))
		want, _ := http.ReadResponse(bufio.NewReader(strings.NewReader(response)), nil)
		wantBody, _ := io.ReadAll(want.Body)
		for _, hop := range []string{"Connection", "X-Hop"} {
			want.Header.Del(hop)
		}
		if resp.StatusCode != want.StatusCode || !reflect.DeepEqual(resp.Header, want.Header) || body != string(wantBody) {
			t.Errorf("%q: got %d %v %q", response, resp.StatusCode, resp.Header, body)
		}
		sent, _ := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
		for _, hop := range []string{"Connection", "X-Hop", "Keep-Alive", "Proxy-Connection"} {
			sent.Header.Del(hop)
		}
		if len(TakeMarks(got.Header)) != 1 {
			t.Errorf("marks in %v", got.Header)
		}
		if !reflect.DeepEqual(got.Header, sent.Header) {
			t.Errorf("sent %v, got %v", sent.Header, got.Header)
		}
		if got.Host != strings.TrimPrefix(up, "http://") || got.RequestURI != "/v1/x%2Fy/{z}?a=1;b=%zz" {
			t.Errorf("%s of %s", got.RequestURI, got.Host)
		}
		d.endsWith(1, capture.EndEOF, capture.Provider, "")
	}
}

func TestHeadHasNoBody(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "1000") })
	d := stand(t, up, nil)
	resp, err := d.client.Head("http://" + d.addr)
	if err != nil || resp.ContentLength != 1000 {
		t.Errorf("%+v, %v", resp, err)
	}
	if whole := recorded(d.endsWith(1, capture.EndEOF, capture.Provider, ""), capture.Response); len(whole) != 0 {
		t.Errorf("%q", whole)
	}
}
