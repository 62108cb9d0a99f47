//go:build linux && !nohub

package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/redact"
	"toolscope/providers"
)

// TestStateWords checks that each problem is an alarm that occurs once and names its subject. Other facts must be
// notes.
func TestStateWords(t *testing.T) {
	for _, c := range []struct {
		state fleet.State
		want  string
	}{
		{fleet.State{Hosts: 97, Rate: 99_800, Lag: 100 * time.Millisecond}, "97 machines · 99.8k/s · lag 0.1 s · lost 0 B"},
		{fleet.State{Hosts: 1, Lost: 20_000, Missed: 2, Silent: 1, First: "web1"}, "!GAP 20 kB, !1 machine SILENT: web1, 1 machine · 0/s · lag 0.0 s"},
		{fleet.State{Hosts: 3, Missed: 2, Silent: 3, First: "web1"}, "!GAP 2 messages, !3 machines SILENT: web1, …, 3 machines · 0/s · lag 0.0 s"},
		{fleet.State{Hosts: 3, MaybeMissed: 2}, "!GAP of at most 2 messages, 3 machines · 0/s · lag 0.0 s"},
		{fleet.State{Invalid: 1, Newer: 2, Trouble: "no permission"}, "!HUB: no permission, !NOT DECODED: 1 message, 0 machines · 0/s · lag 0.0 s · lost 0 B, 2 messages from another version"},
		{fleet.State{Unreachable: true, Trouble: "EOF", Skewed: fleet.Host{Name: "web1", Skew: time.Hour}}, "!HUB UNREACHABLE, 0 machines · 0/s · lag 0.0 s · lost 0 B, the clock of web1 is 1h0m0s ahead of the hub's"},
	} {
		var got []string
		for _, w := range hubNotes(c.state) {
			got = append(got, ifElse(w.Alarm, "!", "")+w.Text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s\nwanted %s", text, c.want)
		}
	}
	s := fleet.State{Invalid: 1}
	if got := missingWords(&s); got != "1 message could not be decoded" {
		t.Error(got)
	}
	if s = (fleet.State{MaybeMissed: 3}); s.Complete() || missingWords(&s) != "toolscope missed at most 3 messages that the hub dropped" {
		t.Error(missingWords(&s))
	}
	if s = (fleet.State{Lost: 10, Gaps: 2, Missed: 1}); missingWords(&s) != "the captures lack 10 bytes, in 2 gaps; toolscope missed 1 message that the hub dropped" {
		t.Error(missingWords(&s))
	}
}

// TestTwoHubs checks that with several hubs each note names its hub. A machine that publishes to both hubs must have
// only one row.
func TestTwoHubs(t *testing.T) {
	a := (&app{}).linkParts()
	keep := redact.KeepAll()
	for i := range 2 {
		url, _ := aHub(t, "127.0.0.1:0")
		for _, host := range []string{"both", fmt.Sprint("own", i)} {
			p, _, err := fleet.Publish(time.Now(), fleet.PublishOptions{Server: url, Host: host, Agent: "x", Spool: t.TempDir(), Limit: 1 << 30, Linger: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range keep.Take(capture.Record{Exchange: 1, Data: []byte(anthropicAnswer), End: capture.EndEOF}) {
				p.Put(c)
			}
			ctx, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			if err := p.Close(ctx); err != nil {
				t.Fatal(err)
			}
		}
		src, err := a.openHubSource(context.Background(), url+"?until=now")
		if err != nil {
			t.Fatal(err)
		}
		for range src {
		}
	}
	var names []string
	for _, h := range a.machineStates()() {
		names = append(names, h.Name)
	}
	if text := strings.Join(names, " "); text != "both own0 own1" {
		t.Error(text)
	}
	words := a.hubStatusNotes()
	for i, v := range a.views {
		_, at, _ := strings.Cut(v.Server(), "://")
		if len(words) != 2 || !strings.HasPrefix(words[i].Text, at+": 2 machines") {
			t.Errorf("%+v", words)
		}
	}
}

// TestFollowedNone checks the note about a followed source without data. If there is only one source, the note must
// name it. A period without data, or an index without matching calls, must not be a failure.
func TestFollowedNone(t *testing.T) {
	for _, c := range []struct {
		paths []string
		code  int
		want  string
	}{
		{[]string{"nats://hub:4222"}, 1, "toolscope: nats://hub:4222: nothing to show: no bytes arrived\n"},
		{[]string{"nats://hub:4222?since=1m"}, 0, "toolscope: nats://hub:4222?since=1m: no data in this period\n"},
		{[]string{"nats://hub:4222?status=malformed"}, 0, ""},
		{[]string{"nats://hub:4222", "nats://other:4222"}, 1, "toolscope: nothing to show: no bytes arrived\n"},
	} {
		a, so := appOf(t)
		err := a.printSource(func(func(capture.Record, error) bool) {}, followedName(c.paths), new(providers.Inspector), a.printerOf(a.stdout.withBuffer(), "text", nil))
		if got := so(); err != nil || got.code != c.code || got.stderr != c.want {
			t.Errorf("%v: %+v, %v", c.paths, got, err)
		}
	}
}
