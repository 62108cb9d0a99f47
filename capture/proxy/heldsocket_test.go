package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

const (
	firstSaid  = `{"type":"response.created"}`
	heldSaid   = `{"type":"response.output_item.done","item":{"name":"run_shell"}}`
	lastSaid   = `{"type":"response.completed"}`
	askedFirst = `{"type":"response.create"}`
	nonsense   = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
)

// holdingSocket starts a proxy that holds messages that contain run_shell, and a client that has sent a request. The
// upstream sends the frames after the request, and then echoes what it receives.
func holdingSocket(t *testing.T, change func(*Options), frames ...string) (*desk, *socket, *watchFor) {
	up := socketServer(t, func(s *socket, _ *http.Request) {
		if _, _, err := s.receive(); err != nil {
			return
		}
		for _, f := range frames {
			s.conn.Write([]byte(f))
		}
		for {
			first, payload, err := s.receive()
			if err != nil {
				return
			}
			if payload == nonsense {
				s.conn.Write([]byte(nonsense))
				continue
			}
			s.send(first, payload)
			if first&0xf == capture.OpClose {
				return
			}
		}
	})
	watch := &watchFor{word: "run_shell"}
	d := stand(t, up, func(o *Options) {
		o.Watch = func() Watch { return watch }
		if change != nil {
			change(o)
		}
	})
	s := d.dialSocket()
	s.send(fin|capture.OpText, askedFirst)
	return d, s, watch
}

func fromServer(first byte, payload string) string { return string(frame(first, payload, false)) }

// heldMessage is a message in two frames, with a Ping between them.
var heldMessage = []string{
	fromServer(capture.OpText, heldSaid[:20]), fromServer(fin|capture.OpPing, "there?"), fromServer(fin|continuation, heldSaid[20:]),
}

// TestHeldSocket checks that a held message, and the messages after it, don't reach the client before the hold is
// resumed, but a Ping does. The messages must be forwarded and recorded unchanged.
func TestHeldSocket(t *testing.T) {
	first, last := fromServer(fin|capture.OpText, firstSaid), fromServer(fin|capture.OpText, lastSaid)
	d, s, watch := holdingSocket(t, nil, append([]string{first}, append(heldMessage, last)...)...)
	s.expect(fin|capture.OpText, firstSaid)
	s.expect(fin|capture.OpPing, "there?")
	hold := d.held(t, int64(len(heldMessage[0]+heldMessage[2]+last)))
	if string(hold.Next) != heldSaid || hold.Delivered < int64(len(first)) || hold.Why != `an event says "run_shell"` {
		t.Errorf("held: %+v", hold)
	}
	s.send(fin|capture.OpPong, "there?")
	s.expect(fin|capture.OpPong, "there?")
	d.proxy.ResumeHeld(hold.Exchange, Step)
	s.expect(capture.OpText, heldSaid[:20])
	s.expect(fin|continuation, heldSaid[20:])
	d.held(t, int64(len(last)))
	s.send(fin|capture.OpClose, closing(1000, ""))
	d.held(t, int64(len(last)+len(fromServer(fin|capture.OpClose, closing(1000, "")))))
	d.proxy.ResumeHeld(hold.Exchange, GoOn)
	s.expect(fin|capture.OpText, lastSaid)
	s.expect(fin|capture.OpClose, closing(1000, ""))
	s.conn.Close()
	recs := d.endsWith(1, capture.EndEOF, capture.Client, "")
	if got := strings.Join(pieces(recs, capture.Response), " "); got != firstSaid+" "+heldSaid+" "+lastSaid {
		t.Errorf("recorded %q", got)
	}
	if got := strings.Join(heldNotes(recs), "; "); !strings.Contains(got, "and waits") || !strings.Contains(got, "then the response resumed") {
		t.Errorf("notes %q", got)
	}
	if n := len(watch.seen); n != 3 || string(watch.seen[n-1].Data) != askedFirst {
		t.Errorf("the watch has seen %d: %+v", n, watch.seen)
	}
}

// TestHeldSocketEnds checks the ways in which a hold on a WebSocket can end. It checks the bytes that the client
// gets, and the notes in the records.
func TestHeldSocketEnds(t *testing.T) {
	for _, c := range []struct {
		what, says string // the text of the note in the records
		change     func(*Options)
		do         func(*desk, *socket, Hold)
		by         capture.Party
	}{
		{"the limit", "resumed after 20ms, which is the limit", func(o *Options) { o.HoldTime = 20 * time.Millisecond }, func(_ *desk, s *socket, _ Hold) {
			s.expect(fin|capture.OpText, heldSaid)
			s.send(fin|capture.OpClose, closing(1000, ""))
			s.expect(fin|capture.OpClose, closing(1000, ""))
		}, capture.Client},
		{"a cut", "then the response was cut off", nil, func(d *desk, s *socket, h Hold) {
			d.proxy.ResumeHeld(h.Exchange, CutOff)
			if _, got, err := s.receive(); err == nil {
				t.Errorf("the client has %q", got)
			}
		}, capture.Toolscope},
		{"no messages any more", "later messages can't be read", nil, func(_ *desk, s *socket, _ Hold) {
			s.send(fin|capture.OpText, nonsense)
			s.expect(fin|capture.OpText, heldSaid)
			got := make([]byte, len(nonsense))
			if _, err := io.ReadFull(s.r, got); err != nil || string(got) != nonsense {
				t.Errorf("the client has %q, %v", got, err)
			}
		}, capture.Client},
		{"a client that vanishes", "was not sent completely", nil, func(*desk, *socket, Hold) {}, capture.Client},
		{"pings", "bytes of pings", func(o *Options) { o.alive = 5 * time.Millisecond }, func(d *desk, s *socket, h Hold) {
			s.expect(fin|capture.OpPing, "toolscope")
			s.expect(fin|capture.OpPing, "toolscope")
			d.proxy.ResumeHeld(h.Exchange, GoOn)
			for {
				if first, got, err := s.receive(); err != nil || first == fin|capture.OpText {
					if got != heldSaid {
						t.Errorf("the client has %q, %v", got, err)
					}
					return
				}
			}
		}, capture.Client},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, s, _ := holdingSocket(t, c.change, fromServer(fin|capture.OpText, heldSaid))
			var hold Hold
			if c.what != "the limit" {
				hold = d.held(t, int64(len(fromServer(fin|capture.OpText, heldSaid))))
			}
			c.do(d, s, hold)
			s.conn.Close()
			recs := d.ended(1)
			if got := heldNotes(recs); !strings.Contains(strings.Join(got, "\n"), c.says) {
				t.Errorf("notes %q", got)
			}
			if last := recs[len(recs)-1]; last.By != c.by {
				t.Errorf("the end is %+v", last)
			}
		})
	}
}
