package formats

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// namelessLine is a chunk of a stream whose chunks do not name it, at some time after the start.
type namelessLine struct {
	at    time.Duration
	chunk string
}

var namelessStart = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

// ollamaLines are n chunks of an answer, and the one that ends it, one each 50 ms.
func ollamaLines(model, word string, asked time.Duration, n int) (all []namelessLine) {
	for i := range n + 1 {
		at := asked + time.Duration(i+1)*50*time.Millisecond
		rest := `"done":false`
		if i == n {
			rest = fmt.Sprintf(`"done":true,"total_duration":%d`, at-asked)
		}
		stamp := namelessStart.Add(at).Format(time.RFC3339Nano)
		all = append(all, namelessLine{at, fmt.Sprintf(`{"model":%q,"created_at":%q,"message":{"role":"assistant","content":%q},%s}`, model, stamp, word, rest)})
	}
	return all
}

// geminiLines are n chunks of an answer to a prompt of some size, one each 50 ms.
func geminiLines(prompt int, word string, asked time.Duration, n int) (all []namelessLine) {
	for i := range n {
		end := ""
		if i == n-1 {
			end = `,"finishReason":"STOP"`
		}
		chunk := fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%q}]}%s}],"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d},"modelVersion":"m"}`, word, end, prompt, i+1)
		all = append(all, namelessLine{asked + time.Duration(i+1)*50*time.Millisecond, chunk})
	}
	return all
}

// namelessLog is a log of streams, each line at its time.
func namelessLog(streams ...[]namelessLine) []byte {
	var b strings.Builder
	for {
		next := -1
		for i, s := range streams {
			if len(s) > 0 && (next < 0 || s[0].at < streams[next][0].at) {
				next = i
			}
		}
		if next < 0 {
			return []byte(b.String())
		}
		l := streams[next][0]
		streams[next] = streams[next][1:]
		fmt.Fprintf(&b, "%s chunk %s\n", namelessStart.Add(l.at).Format("2006-01-02T15:04:05.000Z"), l.chunk)
	}
}

// TestLogLinesNameless: streams whose chunks do not name them are kept apart by what the chunks say
// otherwise, and where that cannot be it is said; nothing is said of those that come one by one.
func TestLogLinesNameless(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		log     []byte
		streams int
		mixed   bool
	}{
		{"one after the other, Ollama", namelessLog(ollamaLines("m", "a", 0, 10), ollamaLines("m", "b", 560*ms, 10)), 2, false},
		{"at once, two models", namelessLog(ollamaLines("m", "a", 0, 10), ollamaLines("n", "b", 220*ms, 10)), 2, false},
		{"at once, one model", namelessLog(ollamaLines("m", "a", 0, 10), ollamaLines("m", "b", 220*ms, 10)), 2, true},
		{"one inside the other", namelessLog(ollamaLines("m", "a", 0, 20), ollamaLines("m", "b", 220*ms, 4)), 2, true},
		{"one after the other, Gemini", namelessLog(geminiLines(9, "a", 0, 10), geminiLines(9, "b", 510*ms, 10)), 2, false},
		{"at once, two prompts", namelessLog(geminiLines(9, "a", 0, 10), geminiLines(12, "b", 220*ms, 10)), 2, false},
		{"at once, prompts of one size", namelessLog(geminiLines(9, "a", 0, 10), geminiLines(9, "b", 220*ms, 10)), 2, true},
	} {
		streams := map[int]string{}
		mixed := false
		for _, r := range readLog(t, c.log, len(c.log)) {
			streams[r.Exchange] += string(r.Data)
			if r.Head != nil {
				for _, lack := range r.Head.Lacks {
					mixed = mixed || lack == capture.Mixed && strings.Contains(r.Note, "since line 1 ")
				}
			}
		}
		if len(streams) != c.streams || mixed != c.mixed {
			t.Errorf("%s: %d streams, said to be mixed: %v", c.name, len(streams), mixed)
		}
		for n, text := range streams {
			if both := strings.Contains(text, `"a"`) && strings.Contains(text, `"b"`); both && !c.mixed {
				t.Errorf("%s: stream %d is of two:\n%s", c.name, n, text)
			}
		}
	}
}

// TestLogLinesNamesUntold: where a log has only the data of events, it cannot tell their names.
func TestLogLinesNamesUntold(t *testing.T) {
	lacks := func(log string) (untold bool) {
		for _, r := range readLog(t, []byte(log), len(log)) {
			if r.Head != nil && strings.Contains(fmt.Sprint(r.Head.Lacks), string(capture.NoNames)) {
				untold = true
			}
		}
		return untold
	}
	const at = "2025-01-02T03:04:05Z "
	if !lacks(at+"data: "+startA+"\n"+at+"data: "+over+"\n") || lacks(at+"event: message_start\n"+at+"data: "+startA+"\n") {
		t.Error("what is told of names is wrong")
	}
	if chat := `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}`; lacks(at + "data: " + chat + "\n") {
		t.Error("a protocol without names is said to lack them")
	}
}

// TestLogLinesNamesOfOthers: the name of an event whose data did not come is not given to another's
// data, however long a stream is held of which it is open whether it is the one that was broken off.
func TestLogLinesNamesOfOthers(t *testing.T) {
	var b strings.Builder
	line := func(text string) { b.WriteString("2025-01-02T03:04:05Z " + text + "\n") }
	event := func(name, data string) {
		line("event: " + name)
		line("data: " + data)
		line("")
	}
	event("message_start", startA)
	event("content_block_start", block)
	line("event: content_block_stop") // and no more of it
	event("message_start", startB)
	event("content_block_start", block)
	for i := range 200 {
		event("content_block_delta", fmt.Sprintf(delta, fmt.Sprint(i)))
	}
	event("content_block_stop", stop)
	event("message_delta", finish)
	event("message_stop", over)
	all, _ := streamsOf(readLog(t, []byte(b.String()), 1000))
	if len(all) != 2 {
		t.Fatalf("%d streams", len(all))
	}
	for n, l := range strings.Split(all[1], "\n\n") {
		name, data, _ := strings.Cut(l, "\n")
		if i := strings.LastIndex(name, "event: "); i >= 0 && !strings.Contains(data, `"type":"`+name[i+len("event: "):]+`"`) {
			t.Fatalf("event %d of the second stream: %q", n, l)
		}
	}
	if strings.Count(all[1], "event: ") != 205 || strings.Contains(all[0], "_stop") {
		t.Errorf("%d names in the second, the first is %q", strings.Count(all[1], "event: "), all[0])
	}
}
