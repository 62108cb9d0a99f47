package formats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// mouldLogs lists forms of logs in which every line can become a template. Each function returns line n: a payload
// with the text around it.
var mouldLogs = map[string]func(n int, at time.Time, payload string) string{
	"times": func(_ int, at time.Time, p string) string { return at.Format(time.RFC3339Nano) + " INFO [req_1] " + p },
	"no prefix, JSON": func(n int, _ time.Time, p string) string {
		return fmt.Sprintf(`{"n":%d,"line":%q}`, n, p)
	},
	"docker": func(_ int, at time.Time, p string) string {
		return fmt.Sprintf(`{"log":%q,"stream":"stdout","time":"%s"}`, p+"\n", at.Format(time.RFC3339Nano))
	},
	"docker, two containers": func(n int, at time.Time, p string) string {
		return fmt.Sprintf(`{"log":%q,"stream":"stdout","attrs":{"container":"c%d"},"time":"%s"}`, p+"\n", n%2, at.Format(time.RFC3339Nano))
	},
	"journald": func(n int, at time.Time, p string) string {
		return fmt.Sprintf(`{"__CURSOR":"s=%x","__REALTIME_TIMESTAMP":"%d","_PID":"7","MESSAGE":%q}`, n*7919, at.UnixMicro(), p)
	},
	"kubernetes": func(_ int, at time.Time, p string) string {
		return at.Format(time.RFC3339Nano) + " stdout F req_1 " + p
	},
	"text in text in text": func(_ int, at time.Time, p string) string {
		inner := fmt.Sprintf(`{"level":30,"time":%d,"pid":1,"hostname":"h","req":{"id":"r"},"msg":%q}`, at.UnixMilli(), "got "+p)
		return fmt.Sprintf(`{"log":%q,"stream":"stderr","time":"%s"}`, inner+"\n", at.Format(time.RFC3339Nano))
	},
	"CRLF": func(_ int, at time.Time, p string) string { return at.Format("15:04:05.000") + " < " + p + "\r" },
}

// mouldPayloads returns lines of a stream, mixed with other lines. If cut is set, some of them are cut off.
func mouldPayloads(cut bool) (all []string) {
	all = append(all, "event: message_start", "data: "+startA, "", "event: content_block_start", "data: "+block, "")
	for i := range 300 {
		text := fmt.Sprintf(delta, fmt.Sprintf(`word %d \"quoted\" \n é \ud83d\ude00`, i))
		switch {
		case i%50 == 30:
			all = append(all, ": a comment", "")
		case i%50 == 31:
			all = append(all, "GET /healthz 200", "panic: data: x")
		case i%50 == 32 && cut:
			all = append(all, "data: "+text[:len(text)/2], text[len(text)/2:], "panic: data: {")
		case i%50 == 33:
			all = append(all, "data: {\"type\":\"ping\"}", "")
		case i%50 == 34:
			all = append(all, "event: ping", "data: {\"type\": \"ping\"}", "")
		}
		all = append(all, "event: content_block_delta", "data: "+text, "")
	}
	return append(all, "event: content_block_stop", "data: "+stop, "", "data: "+finish, "", "event: message_stop", "data: "+over, "", "data: [DONE]")
}

// TestTemplates checks that reading a line with a template has the same result as unwrapping it completely. It also
// checks that most lines match.
func TestTemplates(t *testing.T) {
	for name, around := range mouldLogs {
		t.Run(name, func(t *testing.T) {
			payloads := mouldPayloads(name == "times" || name == "kubernetes")
			var log strings.Builder
			at := time.Date(2025, 1, 2, 3, 4, 58, 0, time.UTC)
			for i, p := range payloads {
				at = at.Add(time.Duration(i%7) * 999_999_999 / 7)
				log.WriteString(around(i, at, p) + "\n")
			}
			text := []byte(log.String())
			anew := readWithout(t, text)
			for _, size := range []int{len(text), 1000, 1} {
				got, served := readCounted(t, text, size)
				if diff := recordsDiffer(anew, got); diff != "" {
					t.Errorf("in pieces of %d: %s", size, diff)
				}
				if name != "no prefix, JSON" && served < len(payloads)*2/3 {
					t.Errorf("%d of %d lines were peeled by moulds", served, len(payloads))
				}
			}
		})
	}
}

// readWithout reads a log without using templates.
func readWithout(t testing.TB, log []byte) []capture.Record {
	r := newLineReader(capture.NewInput("log", nil)).(*lineReader)
	r.unwrapper.templates.made = 1 << 40
	recs, err := r.Write(nil, bytes.Clone(log), capture.NoTime)
	if err != nil || r.unwrapper.templates.served > 0 {
		t.Fatal(err)
	}
	return r.Close(recs, capture.EndEOF, "", capture.NoTime)
}

func readCounted(t testing.TB, log []byte, size int) (recs []capture.Record, served int) {
	r := newLineReader(capture.NewInput("log", nil)).(*lineReader)
	for piece := range slices.Chunk(log, size) {
		var err error
		if recs, err = r.Write(recs, bytes.Clone(piece), capture.NoTime); err != nil {
			t.Fatal(err)
		}
	}
	return r.Close(recs, capture.EndEOF, "", capture.NoTime), r.unwrapper.templates.served
}

// recordsDiffer describes how two lists of records differ. It ignores differences in how lines without a payload are
// reported.
func recordsDiffer(want, got []capture.Record) string {
	told := func(all []capture.Record) (out []string, others int64) {
		for _, r := range all {
			if others += r.Others; r.OfSource() && r.Note == "" {
				continue
			}
			head := ""
			if r.Head != nil {
				head = fmt.Sprint(*r.Head)
			}
			out = append(out, fmt.Sprintf("%d %s %v %q<%q>%q %s %s %s", r.Exchange, r.Side, r.At, r.Before, r.Data, r.After, r.End, r.Note, head))
		}
		return out, others
	}
	a, n := told(want)
	b, m := told(got)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("record %d is\n%s\nwant\n%s", i, b[i], a[i])
		}
	}
	if len(a) != len(b) || n != m {
		return fmt.Sprintf("%d records and %d others, want %d and %d", len(b), m, len(a), n)
	}
	return ""
}

// FuzzTemplates checks that using a template has the same result as unwrapping the line completely, whatever a similar
// line contains.
func FuzzTemplates(f *testing.F) {
	for _, p := range mouldPayloads(true)[:40] {
		f.Add(p, uint8(0))
		f.Add(p, uint8(4))
	}
	f.Add("data: "+startB, uint8(2))
	f.Add("data:{\"type\":\"error\"}", uint8(5))
	for kind := range uint8(8) {
		f.Add("event:\rm", kind)
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range mouldLogs {
			if !yield(name) {
				return
			}
		}
	})
	f.Fuzz(func(t *testing.T, payload string, kind uint8) {
		if len(payload) > 4096 || strings.Contains(payload, "\n") {
			return
		}
		around := mouldLogs[names[int(kind)%len(names)]]
		var log strings.Builder
		at := time.Date(2025, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
		for i, p := range append(mouldPayloads(true)[:120], payload, "data: "+fmt.Sprintf(delta, "more"), "", payload) {
			at = at.Add(10_000_001)
			log.WriteString(around(i, at, p) + "\n")
		}
		text := []byte(log.String())
		got, _ := readCounted(t, text, len(text))
		if diff := recordsDiffer(readWithout(t, text), got); diff != "" {
			t.Fatalf("%q: %s", payload, diff)
		}
	})
}

// TestTemplateCost checks that reading a line that is similar to earlier ones needs almost no memory.
func TestTemplateCost(t *testing.T) {
	for name, around := range mouldLogs {
		if name == "no prefix, JSON" { // each line is different
			continue
		}
		log := func(n int) []byte {
			var b strings.Builder
			for i, p := range benchmarkPayloads(n) {
				b.WriteString(around(i, time.UnixMicro(1735787045000000+int64(i)*1001).UTC(), "data: "+p) + "\n")
			}
			return []byte(b.String())
		}
		const lines = 10_000
		one, two := log(lines), log(2*lines)
		cost := func(text []byte) float64 { return testing.AllocsPerRun(1, func() { readLog(t, text, 64<<10) }) }
		if each := (cost(two) - cost(one)) / lines; each > 0.1 {
			t.Errorf("%s: %.2f allocations a line", name, each)
		}
	}
}

// TestStringStart checks that a string is read the same whether or not strings with the same beginning came before it.
func TestStringStart(t *testing.T) {
	parts := []string{`\"`, `\\`, `\n`, `\ud83d\ude00`, `\ud83d`, `\uzzzz:`, `"`, `\`, "é:", `{\"type\":\"content_block_delta\",\"index\":0,`, "some words: more of them "}
	random := rand.New(rand.NewPCG(1, 2))
	join := func(n int) (text string) {
		for range random.IntN(n) {
			text += parts[random.IntN(len(parts))]
		}
		return text
	}
	var s stringStart
	start, served := "", 0
	for round := range 20_000 {
		if round%50 == 0 {
			start = join(12)
		}
		p := []byte(`"` + start + join(8) + `",rest"`)
		if len(s.literal) > 0 && bytes.HasPrefix(p, s.literal) {
			served++
		}
		want, wantLen, wantClosed := json.ReadString([]byte("before"), p)
		got, n, closed := s.readString([]byte("before"), p)
		if n != wantLen || closed != wantClosed || !bytes.Equal(got, want) {
			t.Fatalf("%s after the beginning %s: %q, %d, %v; want %q, %d, %v", p, s.literal, got, n, closed, want, wantLen, wantClosed)
		}
	}
	if served < 500 {
		t.Fatalf("%d strings have the common beginning", served)
	}
}

// TestLastStamp checks that a timestamp is parsed as the same time whether or not another timestamp was parsed before
// it.
func TestLastStamp(t *testing.T) {
	var c timestampCache
	random := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		at := time.Unix(1_763_632_800+random.Int64N(200), random.Int64N(1e9)).UTC()
		form := []string{time.RFC3339Nano, time.RFC3339, "2006-01-02 15:04:05,000", "2006-01-02T15:04:05.000-07:00", time.Stamp, "2006-01-02T15:04:5x"}[random.IntN(6)]
		text := at.Format(form)
		switch random.IntN(8) {
		case 0:
			text = fmt.Sprint(at.UnixMilli())
		case 1:
			text = fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000)
		case 2:
			text += "123456789012"
		}
		if random.IntN(2) == 0 {
			text = `"` + text + `"`
		}
		s := timestamp{text: []byte(text)}
		if got, want := c.parse(s), s.parse(); !got.Equal(want) {
			t.Fatalf("%s: %v, want %v", text, got, want)
		}
	}
}
