package ui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// demo reads an embedded demo, which is a capture.
func demo(t testing.TB, name string) (records []stream.Record) {
	data, err := os.ReadFile(filepath.Join("cli", "demo", name+".tsc"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			T    float64
			X    int
			Side string
			Head *struct {
				Method, URL string
				Status      int
				Header      map[string][]string
			}
			D   string
			B   []byte
			End string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.X == 0 {
			continue // the first line is about the file
		}
		record := stream.Record{
			Exchange: r.X, Request: r.Side == "request", At: time.Duration(r.T * float64(time.Millisecond)),
			Data: append([]byte(r.D), r.B...), End: r.End != "",
		}
		if r.Head != nil {
			record.Head = &stream.Head{Method: r.Head.Method, URL: r.Head.URL, Status: r.Head.Status, Header: r.Head.Header}
		}
		records = append(records, record)
	}
	return records
}

// An anthropic writes a Messages stream, record by record, ten milliseconds apart.
type anthropic struct {
	exchange int
	records  []stream.Record
	blocks   int
}

func (a *anthropic) say(format string, args ...any) *anthropic {
	body := fmt.Sprintf(format, args...)
	var kind struct{ Type string }
	if err := json.Unmarshal([]byte(body), &kind); err != nil {
		panic(fmt.Sprintf("%v: %s", err, body))
	}
	return a.bytes(fmt.Sprintf("event: %s\ndata: %s\n\n", kind.Type, body))
}

func (a *anthropic) bytes(s string) *anthropic {
	at := time.Duration(len(a.records)) * 10 * time.Millisecond
	a.records = append(a.records, stream.Record{Exchange: a.exchange, At: at, Data: []byte(s)})
	return a
}

// open begins the response.
func (a *anthropic) open(id string) *anthropic {
	return a.say(`{"type":"message_start","message":{"id":%s,"type":"message","role":"assistant",`+
		`"model":"claude-sonnet-4-5","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}`, quote(id))
}

// call begins a call and adds its arguments in the given deltas.
func (a *anthropic) call(id, name string, deltas ...string) *anthropic {
	a.say(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}}`,
		a.blocks, quote(id), quote(name))
	return a.args(a.blocks, deltas...)
}

// args adds more arguments to a block.
func (a *anthropic) args(block int, deltas ...string) *anthropic {
	for _, d := range deltas {
		a.say(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, block, quote(d))
	}
	return a
}

// seal ends the block that was opened last.
func (a *anthropic) seal() *anthropic {
	a.say(`{"type":"content_block_stop","index":%d}`, a.blocks)
	a.blocks++
	return a
}

// text writes a text block.
func (a *anthropic) text(deltas ...string) *anthropic {
	a.say(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, a.blocks)
	for _, d := range deltas {
		a.say(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, a.blocks, quote(d))
	}
	return a.seal()
}

// stop ends the response.
func (a *anthropic) stop(reason string) *anthropic {
	a.say(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":89}}`, quote(reason))
	a.say(`{"type":"message_stop"}`)
	a.records[len(a.records)-1].End = true
	return a
}

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// chop cuts text into deltas of n bytes, or slightly more so that no character is split.
func chop(text string, n int) (deltas []string) {
	for len(text) > 0 {
		k := min(n, len(text))
		for k < len(text) && text[k]&0xc0 == 0x80 {
			k++
		}
		deltas, text = append(deltas, text[:k]), text[k:]
	}
	return deltas
}

// fixture is the wire data of one fixture of a protocol.
type fixture struct {
	name string
	wire []byte
}

// fixtures returns the fixtures of all protocols. They have the format of the tests in providers: sections
// with the heading "-- name --".
func fixtures(t testing.TB) (all []fixture) {
	files, err := filepath.Glob(filepath.Join("..", "providers", "*", "testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(data), "\n-- wire")
		if !ok {
			t.Fatalf("%s has no wire", file)
		}
		_, wire, _ := strings.Cut(rest, "--\n")
		wire, _, _ = strings.Cut(wire, "\n-- ")
		all = append(all, fixture{file, []byte(wire + "\n")})
	}
	return all
}
