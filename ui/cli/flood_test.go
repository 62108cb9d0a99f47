//go:build linux

package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/providers"
)

// longAnswer returns a response with a call of about the given size. The call is unique.
func longAnswer(n, size int) string {
	const delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}\n\n"
	begin, end, _ := strings.Cut(anthropicAnswer, "event: content_block_delta")
	_, end, _ = strings.Cut(end, "\n\n")
	var text strings.Builder
	text.WriteString(strings.NewReplacer("msg_1", fmt.Sprint("msg_", n), "toolu_1", fmt.Sprint("toolu_", n), "get_weather", fmt.Sprint("tool_", n)).Replace(begin))
	fmt.Fprintf(&text, delta, `{\"lines\":[0`)
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, delta, fmt.Sprintf(`,\"line %d of %d\"`, i, n))
	}
	fmt.Fprintf(&text, delta, "]}")
	return text.String() + end
}

// flooded passes the given number of responses through a proxy. During the first half, the proxy's records stay in
// their queue. During the second half, they are passed on, but not shown or written. In each half, all responses
// begin before any of them continues.
func flooded(t *testing.T, exchanges, size int) (a *app, so func() outcome, l *liveInput, disk *gatedDisk) {
	t.Helper()
	var begun [2]sync.WaitGroup
	for i := range begun {
		begun[i].Add(exchanges / 2)
	}
	const beginning = 1000
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		_, _ = fmt.Sscan(r.Header.Get("Number"), &n)
		w.Header().Set("Content-Type", events)
		answer := longAnswer(n, size)
		_, _ = io.WriteString(w, answer[:beginning])
		_ = http.NewResponseController(w).Flush()
		begun[n/(exchanges/2)].Wait()
		_, _ = io.WriteString(w, answer[beginning:])
	}))
	defer upstream.Close()
	all, err := buildRoutes([]string{upstream.URL}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	disk = new(gatedDisk)
	l = recorded(t, disk)
	l.arrived = capture.NewQueue(record.QueueRules(exchanges*size/4, "were not recorded: the queue is full"))
	l.shown = newScreenInbox(record.QueueRules(exchanges*size/4, notShown))
	a, so = appOf(t)
	r := &runningProxy{liveInput: l, app: a, routes: all}
	if err := r.createProxy(proxy.Options{Routes: proxyRoutes(all)}, true); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.proxy.Serve(ctx, listener) }()
	flood := func(from, to int) {
		var clients sync.WaitGroup
		for n := from; n < to; n++ {
			clients.Go(func() {
				req, _ := http.NewRequest("POST", "http://"+listener.Addr().String()+"/v1/messages", strings.NewReader("{}"))
				req.Header.Set("Number", fmt.Sprint(n))
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					begun[n/(exchanges/2)].Done()
					return
				}
				defer resp.Body.Close()
				first := make([]byte, beginning)
				_, err = io.ReadFull(resp.Body, first)
				begun[n/(exchanges/2)].Done()
				rest, failed := io.ReadAll(resp.Body)
				if err != nil || failed != nil || string(first)+string(rest) != longAnswer(n, size) {
					t.Errorf("%d: %d bytes, %v, %v", n, len(rest), err, failed)
				}
			})
		}
		clients.Wait()
	}
	flood(0, exchanges/2)
	l.start(callDirect)
	flood(exchanges/2, exchanges)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	r.close()
	return a, so, l, disk
}

// TestFlood checks that slow readers do not affect the traffic. Each turn must have its line. No call may be reported
// as malformed because toolscope missed bytes.
func TestFlood(t *testing.T) {
	const exchanges, size = 40, 60_000
	for _, format := range []string{"text", "jsonl"} {
		a, so, l, disk := flooded(t, exchanges, size)
		missed := l.arrived.State().Lost
		if shown := l.shown.State(); missed < exchanges*size/8 || shown.Lost < exchanges*size/8 || shown.Dropped+l.arrived.State().Dropped > 0 {
			t.Errorf("%d bytes were missed, and %+v", missed, shown)
		}
		if err := l.printTurns(a, new(providers.Inspector), "proxy", printerOf(t, a, format), func(err error) { t.Error(err) }); err != nil {
			t.Error(err)
		}
		a.endLive(l)
		got := so()
		if got.code != exitGaps || strings.Count(got.stderr, "toolscope: gap: ") < exchanges/2 {
			t.Errorf("exit %d: %s", got.code, got.stderr)
		}
		capture := saved(t, "a.tsc", disk.file.String())
		wantNothingFalse(t, exchanges, format, got.stdout)
		wantNothingFalse(t, exchanges, format, command(t, nil, "print", "--format", format, capture).stdout)
		wantPlaces(t, again(t, disk.file.String()), size)
	}
}

var turnTitle = regexp.MustCompile(`(?m)^\S+  turn \d+`)

// wantNothingFalse checks that the printed output of a flood has no false findings.
func wantNothingFalse(t *testing.T, exchanges int, format, printed string) {
	t.Helper()
	if format == "text" {
		if n := len(turnTitle.FindAllString(printed, -1)); n != exchanges || strings.Contains(printed, "malformed") {
			t.Errorf("%d turns of %d:\n%.5000s", n, exchanges, printed)
		}
		return
	}
	calls, turns := outcome{stdout: printed}.decode(t)
	count := map[string]int{}
	for _, c := range calls {
		count[c.Status]++
	}
	if len(turns) != exchanges || count["unseen"]+count["complete"] != len(calls) || count["unseen"] == 0 {
		t.Errorf("%d turns, calls: %v", len(turns), count)
	}
}

// wantPlaces checks that the recorded bytes of each response are identical to that response's bytes. Missing bytes
// must be marked at the right place.
func wantPlaces(t *testing.T, recs []capture.Record, size int) {
	t.Helper()
	at, answer := map[int]int{}, map[int]string{}
	for _, r := range recs {
		x := r.Exchange
		if r.Side == capture.Request {
			if r.Head != nil {
				n := 0
				_, _ = fmt.Sscan(r.Head.Header.Get("Number"), &n)
				answer[x] = longAnswer(n, size)
			}
			continue
		}
		at[x] += int(r.Lost)
		if whole := answer[x]; !strings.HasPrefix(whole[min(at[x], len(whole)):], string(r.Data)) {
			t.Fatalf("%d: other bytes at %d", x, at[x])
		}
		at[x] += len(r.Data)
		if r.End != "" && at[x] != len(answer[x]) {
			t.Errorf("%d: %d bytes of %d", x, at[x], len(answer[x]))
		}
	}
}
