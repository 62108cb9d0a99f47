package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// watchFor holds a response at each event that contains a word.
type watchFor struct {
	word string
	seen []capture.Record
}

func (w *watchFor) See(r capture.Record) { w.seen = append(w.seen, r) }

func (w *watchFor) Look(event []byte) string {
	if strings.Contains(string(event), w.word) {
		return fmt.Sprintf("an event says %q", w.word)
	}
	return ""
}

// holding starts a proxy that holds responses at events that contain a given word. Its upstream sends the events.
func holding(t *testing.T, word string, limit time.Duration, events ...string) (*desk, *watchFor) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			io.WriteString(w, e)
		}
	})
	watch := &watchFor{word: word}
	return stand(t, up, func(o *Options) {
		o.Watch, o.HoldTime = func() Watch { return watch }, limit
	}), watch
}

// post sends a request and returns the body of the response.
func (d *desk) post(t *testing.T) io.ReadCloser {
	t.Helper()
	resp, err := d.client.Post("http://"+d.addr+"/v1/messages", "application/json", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp.Body
}

// gets checks that the next bytes of a body are exactly want.
func gets(t *testing.T, body io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(body, got); err != nil || string(got) != want {
		t.Fatalf("the client has %q, %v; want %q", got, err, want)
	}
}

// held waits until one response is held and has the given number of waiting bytes.
func (d *desk) held(t *testing.T, waiting int64) Hold {
	t.Helper()
	for range 1000 {
		if all := d.proxy.Holds(); len(all) == 1 && all[0].Waiting == waiting {
			return all[0]
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("held: %+v", d.proxy.Holds())
	return Hold{}
}

// heldNotes returns the notes about holds in records.
func heldNotes(recs []capture.Record) (all []string) {
	for _, r := range recs {
		if strings.HasPrefix(r.Note, capture.HeldNote) {
			all = append(all, r.Note)
		}
	}
	return all
}

// TestHeld checks that the client doesn't get the held event before the hold is resumed, and that everything is
// recorded as it arrived.
func TestHeld(t *testing.T) {
	d, watch := holding(t, `\"a\"`, 0, opened, started, more)
	body := d.post(t)
	gets(t, body, opened)
	hold := d.held(t, int64(len(started+more)))
	if hold.Delivered != int64(len(opened)) || string(hold.Next) != started || hold.Why != `an event says "\\\"a\\\""` {
		t.Errorf("held: %+v", hold)
	}
	if got := heldNotes(d.records(1)); len(got) != 1 || !strings.HasSuffix(got[0], "of this response, and waits") {
		t.Errorf("recorded while it is held: %q", got)
	}
	if len(watch.seen) < 3 || watch.seen[0].Head.Method != "POST" || string(watch.seen[1].Data) != `{"model":"m"}` || watch.seen[2].Head.Status != 200 {
		t.Errorf("the watch has seen %+v", watch.seen)
	}
	if d.proxy.ResumeHeld(hold.Exchange+1, GoOn) || !d.proxy.ResumeHeld(hold.Exchange, Step) {
		t.Error("what is not held was let go, or what is was not")
	}
	gets(t, body, started)
	d.held(t, int64(len(more)))
	d.proxy.ResumeHeld(hold.Exchange, GoOn)
	gets(t, body, more)
	if rest, err := io.ReadAll(body); len(rest) > 0 || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	recs := d.endsWith(1, capture.EndEOF, capture.Provider, "")
	if got := strings.Join(pieces(recs, capture.Response), ""); got != opened+started+more {
		t.Errorf("recorded %q", got)
	}
	if got := heldNotes(recs); len(got) == 0 || !strings.Contains(got[len(got)-1], "then the response resumed") {
		t.Errorf("notes %q", got)
	}
	if len(d.proxy.Holds()) != 0 || d.proxy.ResumeHeld(hold.Exchange, GoOn) {
		t.Error("something is still held")
	}
}

// TestHeldLimit checks that a hold ends automatically after its time limit.
func TestHeldLimit(t *testing.T) {
	d, _ := holding(t, "partial", 20*time.Millisecond, opened, started, more)
	if rest, err := io.ReadAll(d.post(t)); string(rest) != opened+started+more || err != nil {
		t.Errorf("the client has %q, %v", rest, err)
	}
	recs := d.endsWith(1, capture.EndEOF, capture.Provider, "")
	if got := heldNotes(recs); len(got) == 0 || !strings.Contains(got[len(got)-1], "after 20ms, which is the limit") {
		t.Errorf("notes %q", got)
	}
}

// TestHeldCut checks that a response that is cut off doesn't seem complete to the client, and that a note reports the
// cut.
func TestHeldCut(t *testing.T) {
	d, _ := holding(t, `\"a\"`, 0, opened, started, more)
	body := d.post(t)
	gets(t, body, opened)
	hold := d.held(t, int64(len(started+more)))
	d.proxy.ResumeHeld(hold.Exchange, CutOff)
	if rest, err := io.ReadAll(body); len(rest) > 0 || err == nil {
		t.Errorf("then %q, %v", rest, err)
	}
	recs := d.ended(1)
	last := recs[len(recs)-1]
	if got := heldNotes(recs); len(got) == 0 || !strings.Contains(got[len(got)-1], "was cut off") || last.End == "" {
		t.Errorf("notes %q, end %+v", got, last)
	}
}

// TestHeldClientLeaves checks that the proxy doesn't hang if the client leaves during a hold.
func TestHeldClientLeaves(t *testing.T) {
	d, _ := holding(t, "partial", 0, opened, started, more)
	body := d.post(t)
	d.held(t, int64(len(opened+started+more)))
	body.Close()
	recs := d.ended(1)
	if got := heldNotes(recs); len(got) == 0 || !strings.Contains(got[len(got)-1], "was not sent completely") {
		t.Errorf("notes %q", got)
	}
}

// TestHeldAlive checks that a client of an event stream gets keep-alives in a form that it ignores.
func TestHeldAlive(t *testing.T) {
	d, _ := holding(t, `\"a\"`, 0, opened, started)
	d.proxy.options.alive = 5 * time.Millisecond
	body := d.post(t)
	gets(t, body, opened)
	hold := d.held(t, int64(len(started)))
	gets(t, body, aliveWords)
	d.proxy.ResumeHeld(hold.Exchange, GoOn)
	rest, err := io.ReadAll(body)
	if got := strings.ReplaceAll(string(rest), aliveWords, ""); got != started || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	if got := heldNotes(d.ended(1)); len(got) == 0 || !strings.Contains(strings.Join(got, " "), "bytes of comments from toolscope") {
		t.Errorf("notes %q", got)
	}
}
