package providers

import (
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/providers/schema"
	"toolscope/stream"
)

var update = flag.Bool("update", false, "rewrite what the fixtures expect; read the difference before you keep it")

// A fixture is one scenario of one wire protocol, in <protocol>/testdata. Its sections:
//
//	request the body of the request, if the exchange has one
//	wire    the body as received. The lines of "wire crlf" end with CRLF, those
//	        of "wire cr" with CR; "wire cut" lacks the last line end. "wire aws"
//	        is a binary event stream, with one message per line: message type,
//	        event type, payload. A payload after "base64 " is in the envelope
//	        of InvokeModel. In a message after "corrupt ", one bit is changed.
//	events  the protocol's events, one per line
//	turns   number, protocol, phase, finish reason; then findings, indented
//	calls   number, id, name, kind, phase, syntax, state, raw arguments; then,
//	        indented, facts that only some calls have, and findings: code,
//	        severity, byte offset (-1 for none)
type fixture struct {
	name    string
	file    string
	dialect *protocol.Protocol
	archive archive
	wire    []byte
	sets    []*schema.Set // schemas of the fixture's tools, once compiled
}

// fixtures returns all fixtures of all protocols.
func fixtures(t testing.TB) (all []fixture) {
	for i := range All {
		d := &All[i]
		folder := strings.ReplaceAll(d.Name, "-", "")
		files, err := filepath.Glob(filepath.Join(folder, "testdata", "*.txtar"))
		if len(files) == 0 { // several protocols in the same package
			files, err = filepath.Glob(filepath.Join("*", "testdata", folder, "*.txtar"))
		}
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no fixtures in %s/testdata (%v)", d.Name, folder, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := parseArchive(data)
			name := folder + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
			all = append(all, fixture{name: name, file: file, dialect: d, archive: a, wire: wireOf(t, name, a)})
		}
	}
	return all
}

func wireOf(t testing.TB, name string, a archive) []byte {
	for _, s := range a.sections {
		switch s.name {
		case "wire":
			return []byte(s.text)
		case "wire crlf":
			return []byte(strings.ReplaceAll(s.text, "\n", "\r\n"))
		case "wire cr":
			return []byte(strings.ReplaceAll(s.text, "\n", "\r"))
		case "wire cut":
			return []byte(strings.TrimSuffix(s.text, "\n"))
		case "wire aws":
			return eventStream(s.text)
		}
	}
	t.Fatalf("%s has no wire", name)
	return nil
}

// eventStream encodes the messages in the lines of a text.
func eventStream(text string) (wire []byte) {
	for line := range strings.Lines(text) {
		line, corrupt := strings.CutPrefix(line, "corrupt ")
		kind, line, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, payload, _ := strings.Cut(line, " ")
		if inner, ok := strings.CutPrefix(payload, "base64 "); ok {
			payload = fmt.Sprintf(`{"bytes":%q,"p":"abc"}`, base64.StdEncoding.EncodeToString([]byte(inner)))
		}
		header := func(name, value string) []byte {
			const text = 7
			h := append([]byte{byte(len(name))}, name...)
			return append(append(h, text, byte(len(value)>>8), byte(len(value))), value...)
		}
		nameHeader := map[string]string{"event": ":event-type", "exception": ":exception-type", "error": ":error-code"}[kind]
		headers := append(header(":message-type", kind), header(nameHeader, name)...)
		if kind == "error" {
			headers, payload = append(headers, header(":error-message", payload)...), ""
		}
		m := awsMessage(headers, []byte(payload))
		if corrupt {
			m[len(m)-5] ^= 1
		}
		wire = append(wire, m...)
	}
	return wire
}

func awsMessage(headers, payload []byte) []byte {
	m := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

// changePayload changes the text of one frame. For a complete binary message, it changes the payload.
func changePayload(frame []byte, change func(string) string) []byte {
	if _, is := stream.IsEventStream(frame); !is {
		return []byte(change(string(frame)))
	}
	whole := false
	new(stream.EventStream).Write(frame, func(stream.Frame) { whole = true })
	if !whole {
		return frame
	}
	payload := 12 + binary.BigEndian.Uint32(frame[4:])
	return awsMessage(frame[12:payload], []byte(change(string(frame[payload:len(frame)-4]))))
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			in := f.inspect(f.wire)
			got := f.archive
			got.sections = slices.Clone(got.sections)
			got.set("events", eventLines(in))
			got.set("turns", turnLines(in.Session()))
			got.set("calls", callLines(in.Session()))
			checkFindings(t, in.Session())
			if *update {
				if err := os.WriteFile(f.file, got.format(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(f.archive.format()), string(got.format())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// inspect reads one exchange whose body arrives in the given chunks.
func inspect(chunks ...[]byte) *Inspector { return fixture{}.inspect(chunks...) }

// inspect reads the chunks after the fixture's request.
func (f fixture) inspect(chunks ...[]byte) *Inspector {
	in := f.asked()
	for _, c := range chunks {
		in.Write(stream.Record{Data: c})
	}
	in.Close()
	return in
}

// asked returns an inspector that has read the fixture's request.
func (f fixture) asked() *Inspector {
	in := &Inspector{sets: slices.Clip(f.sets)}
	if r := f.archive.section("request"); r != "" {
		in.Write(stream.Record{Request: true, Data: []byte(r)})
	}
	return in
}

func eventLines(in *Inspector) string {
	var s strings.Builder
	for n := range in.Timeline.Len() {
		fmt.Fprintln(&s, in.View().Event(n))
	}
	return s.String()
}

func turnLines(session *stream.Session) string {
	var s strings.Builder
	for _, t := range session.Turns {
		fmt.Fprintln(&s, t.Number, word(t.Protocol), t.Phase(), word(t.Finish))
		findingLines(&s, t.Findings)
	}
	if len(session.Findings) > 0 {
		fmt.Fprintln(&s, "outside of any turn")
		findingLines(&s, session.Findings)
	}
	return s.String()
}

func callLines(session *stream.Session) string {
	var s strings.Builder
	for _, t := range session.Turns {
		for _, c := range t.Calls {
			fmt.Fprintf(&s, "%d %s %s %s %s %s %s %q\n", c.Number, word(c.ID), word(c.Name), word(c.Kind),
				c.Phase(), c.Syntax(), word(c.Status().String()), c.Args())
			factLines(&s, c)
			findingLines(&s, c.Findings)
		}
	}
	return s.String()
}

// factLines writes facts that only some calls have.
func factLines(s *strings.Builder, c *stream.Call) {
	if c.RunByProvider {
		fmt.Fprintln(s, "    run by the provider", [...]string{"unanswered", "answered", "failed"}[c.ResultCode])
	}
	if c.MCPServer != "" {
		fmt.Fprintln(s, "    host", c.MCPServer)
	}
	if c.Parent != "" {
		fmt.Fprintln(s, "    parent", c.Parent)
	}
	if c.Choice != 0 {
		fmt.Fprintln(s, "    choice", c.Choice)
	}
}

func findingLines(s *strings.Builder, findings []stream.Finding) {
	for _, f := range findings {
		fmt.Fprintln(s, "   ", f.Code, f.Severity, f.Offset)
	}
}

// word returns s as one word of a line, quoted if necessary.
func word(s string) string {
	if s == "" {
		return "-"
	}
	if q := fmt.Sprintf("%q", s); strings.Contains(s, " ") || q != `"`+s+`"` {
		return q
	}
	return s
}
