package cli

import (
	"encoding/base64"
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// logged is a stream to write to a log, with the other values that its lines contain.
type logged struct {
	body    string
	request string
	pid     int
}

// lines returns the lines of the body, without line ends.
func (l logged) lines() []string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(l.body, "\ufeff"))
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// chunks returns the payloads of the body: the data of events, or lines of JSON.
func (l logged) chunks() (all []string) {
	for _, line := range l.lines() {
		data, isData := strings.CutPrefix(line, "data:")
		if data = strings.TrimSpace(data); (isData || strings.HasPrefix(line, "{")) && json.Valid([]byte(data)) {
			all = append(all, data)
		}
	}
	return all
}

// logShape is a form in which programs log a stream that they receive. It writes a stream as lines of a log, with
// line ends. Lines of another stream may come between any two lines.
type logShape struct {
	name  string
	keyed bool // the lines name their request
	write func(l logged, now func() time.Time) []string
}

// holds reports whether the shape can represent a stream. Shapes with one chunk per line need every chunk to be one
// line. Shapes with parts of chunks need this too, because a part would look like a line of an event with several
// lines.
func (s logShape) holds(body string) bool {
	l := logged{body: body}
	if strings.Contains(body, "data: {\n") {
		return !strings.Contains(s.name, "chunk") && !strings.Contains(s.name, "deep") && !strings.Contains(s.name, "pieces")
	}
	return !strings.Contains(s.name, "chunk") && !strings.Contains(s.name, "deep") || len(l.chunks()) > 0
}

// perLine returns a shape in which each line of the stream is a line of the log.
func perLine(name string, keyed bool, line func(text string, l logged, t time.Time) string) logShape {
	return logShape{name, keyed, func(l logged, now func() time.Time) (out []string) {
		for _, text := range l.lines() {
			out = append(out, line(text, l, now())+"\n")
		}
		return out
	}}
}

// perChunk returns a shape in which each payload of the stream is a line of the log.
func perChunk(name string, keyed bool, line func(chunk string, l logged, t time.Time) string) logShape {
	return logShape{name, keyed, func(l logged, now func() time.Time) (out []string) {
		for _, chunk := range l.chunks() {
			out = append(out, line(chunk, l, now())+"\n")
		}
		return out
	}}
}

// whole returns a shape in which the complete stream is logged after it has ended.
func whole(name string, text func(l logged, t time.Time) string) logShape {
	return logShape{name, true, func(l logged, now func() time.Time) []string { return []string{text(l, now()) + "\n"} }}
}

func asJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// pythonBytes returns s in Python's notation for bytes.
func pythonBytes(s string) string {
	var b strings.Builder
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteString("b" + string(quote))
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' || c == quote:
			b.WriteString(`\` + string(rune(c)))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + string(quote)
}

const (
	isoZ  = "2006-01-02T15:04:05.000000Z"
	isoNs = "2006-01-02T15:04:05.000000000Z"
)

func atISO(t time.Time) string { return t.UTC().Format(isoZ) }

// events returns the events of the stream, each with its empty line at the end.
func (l logged) events() (all []string) {
	text := strings.Join(l.lines(), "\n")
	if strings.HasPrefix(text, "{") {
		return strings.SplitAfter(text+"\n", "\n")
	}
	for _, event := range strings.SplitAfter(text+"\n\n", "\n\n") {
		if strings.TrimSpace(event) != "" {
			all = append(all, event)
		}
	}
	return all
}

// criLines returns a line in the format of Kubernetes. It splits a long line into parts.
func criLines(text string, t time.Time) (out []string) {
	const most = 200 // 16384 in real logs
	stamp := t.UTC().Format(isoNs)
	for ; len(text) > most; text = text[most:] {
		out = append(out, stamp+" stdout P "+text[:most]+"\n")
	}
	return append(out, stamp+" stdout F "+text+"\n")
}

func journalExport(text string, l logged, t time.Time) string {
	entry := fmt.Sprintf("__CURSOR=s=%d;i=1\n__REALTIME_TIMESTAMP=%d\n_PID=%d\n_HOSTNAME=box\nSYSLOG_IDENTIFIER=api\n", t.UnixNano(), t.UnixMicro(), l.pid)
	if l.pid%2 == 0 {
		return entry + "MESSAGE=" + text + "\n"
	}
	return entry + "MESSAGE\n" + string(endian.LittleEndian.AppendUint64(nil, uint64(len(text)))) + text + "\n"
}

// logShapes are the shapes of logs from which streams can be read.
var logShapes = []logShape{
	perLine("iso, level, request in brackets", true, func(s string, l logged, t time.Time) string {
		return atISO(t) + " INFO [" + l.request + "] " + s
	}),
	perLine("iso only", false, func(s string, _ logged, t time.Time) string { return atISO(t) + " " + s }),
	perLine("time in brackets, several brackets", true, func(s string, l logged, t time.Time) string {
		return "[" + t.UTC().Format("2006-01-02 15:04:05.000") + "] [DEBUG] [" + l.request + "] " + s
	}),
	perLine("Python logging", true, func(s string, l logged, t time.Time) string {
		return t.UTC().Format("2006-01-02 15:04:05,000") + " - app.llm - DEBUG - request_id=" + l.request + " " + s
	}),
	perLine("Python logging, basic", true, func(s string, l logged, _ time.Time) string { return "DEBUG:app.llm." + l.request + ":" + s }),
	perLine("docker json-file", true, func(s string, l logged, t time.Time) string {
		return `{"log":` + asJSON("["+l.request+"] "+s+"\n") + `,"stream":"stdout","time":"` + t.UTC().Format(isoNs) + `"}`
	}),
	perLine("docker json-file, bare lines", false, func(s string, _ logged, t time.Time) string {
		return `{"log":` + asJSON(s+"\n") + `,"stream":"stdout","time":"` + t.UTC().Format(isoNs) + `"}`
	}),
	{"Kubernetes CRI, in parts", false, func(l logged, now func() time.Time) (out []string) {
		for _, text := range l.lines() {
			out = append(out, strings.Join(criLines(text, now()), ""))
		}
		return out
	}},
	perLine("journald json", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"__CURSOR":"s=%d","__REALTIME_TIMESTAMP":"%d","_PID":"%d","SYSLOG_IDENTIFIER":"api","MESSAGE":%s,"PRIORITY":"6"}`,
			t.UnixNano(), t.UnixMicro(), l.pid, asJSON(s))
	}),
	perLine("journald json, bytes", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"__CURSOR":"s=%d","__REALTIME_TIMESTAMP":"%d","_PID":"%d","MESSAGE":%s}`, t.UnixNano(), t.UnixMicro(), l.pid, asNumbers(s))
	}),
	perLine("base64 in JSON", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"ts":%q,"request_id":%q,"raw":%q}`, atISO(t), l.request, base64.StdEncoding.EncodeToString([]byte(s+"\n")))
	}),
	perLine("journald export", true, journalExport),
	perLine("journald short", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("%s box api[%d]: %s", t.UTC().Format("Jan _2 15:04:05"), l.pid, s)
	}),
	perLine("syslog, old", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("<14>%s box api[%d]: %s", t.UTC().Format("Jan _2 15:04:05"), l.pid, s)
	}),
	perLine("syslog, new", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`<14>1 %s box api %d ID47 [meta@1 sequenceId="29" request="%s"] %s`, atISO(t), 7, l.request, s)
	}),
	perLine("docker compose", true, func(s string, l logged, _ time.Time) string {
		return fmt.Sprintf("api-%-4d | %s", l.pid, s)
	}),
	perLine("kubectl --prefix", true, func(s string, l logged, _ time.Time) string {
		return fmt.Sprintf("[pod/api-%d/server] %s", l.pid, s)
	}),
	perLine("klog", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("I%s %7d stream.go:42] %s", t.UTC().Format("0102 15:04:05.000000"), l.pid, s)
	}),
	perLine("zap", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"level":"debug","ts":%.6f,"caller":"llm/stream.go:88","msg":%s,"request_id":%q}`, float64(t.UnixMicro())/1e6, asJSON(s), l.request)
	}),
	perLine("zap console", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("%s\tDEBUG\tllm\tllm/stream.go:88\tline\t{\"request_id\": %q, \"line\": %s}", t.UTC().Format("2006-01-02T15:04:05.000Z0700"), l.request, asJSON(s))
	}),
	perLine("pino", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"level":30,"time":%d,"pid":7,"hostname":"box","reqId":%q,"msg":%s}`, t.UnixMilli(), l.request, asJSON(s))
	}),
	perLine("zerolog", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"level":"debug","conn":%q,"time":%q,"message":%s}`, l.request, atISO(t), asJSON(s))
	}),
	perLine("slog text", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("time=%s level=DEBUG msg=%s request=%s", atISO(t), strconv.Quote(s), l.request)
	}),
	perLine("slog JSON", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"time":%q,"level":"DEBUG","msg":"line","trace_id":%q,"line":%s}`, atISO(t), l.request, asJSON(s))
	}),
	perLine("logfmt", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`ts=%s lvl=dbug msg="from upstream" rid=%s line=%s`, atISO(t), l.request, asJSON(s))
	}),
	perLine("colours", true, func(s string, l logged, t time.Time) string {
		return "\x1b[90m" + t.UTC().Format("15:04:05.000") + "\x1b[0m \x1b[32mINF\x1b[0m \x1b[36mreq=\x1b[0m" + l.request + " " + s
	}),
	perLine("Go log", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("%s main.go:12: conn-%d %s", t.UTC().Format("2006/01/02 15:04:05.000000"), l.pid, s)
	}),
	perLine("seconds since 1970", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf("[%.3f] (%s) <- %s", float64(t.UnixMilli())/1000, l.request, s)
	}),
	{"Python bytes", true, func(l logged, now func() time.Time) (out []string) {
		for _, event := range l.events() {
			out = append(out, t2(now())+" DEBUG "+l.request+" chunk: "+pythonBytes(event)+"\n")
		}
		return out
	}},
	{"LiteLLM debug", true, func(l logged, now func() time.Time) (out []string) {
		for _, event := range l.events() {
			out = append(out, now().UTC().Format("15:04:05")+" - LiteLLM:DEBUG: streaming_handler.py:88 - trace_id="+l.request+" raw line: "+pythonBytes(event)[1:]+"\n")
		}
		return out
	}},
	perChunk("JSONL with a chunk", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"request_id":%q,"ts":%q,"chunk":%s}`, l.request, atISO(t), s)
	}),
	perChunk("JSONL, deep, as text", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`{"timestamp":%q,"trace":{"id":%q},"event":{"kind":"upstream","data":%s}}`, atISO(t), l.request, asJSON(s))
	}),
	perChunk("docker, pino, chunk", true, func(s string, l logged, t time.Time) string {
		inner := fmt.Sprintf(`{"level":20,"time":%d,"pid":7,"hostname":"box","req":{"id":%q},"chunk":%s,"msg":"chunk"}`, t.UnixMilli(), l.request, s)
		return `{"log":` + asJSON(inner+"\n") + `,"stream":"stdout","time":"` + t.UTC().Format(isoNs) + `"}`
	}),
	perChunk("text before a chunk", true, func(s string, l logged, t time.Time) string {
		return atISO(t) + " DEBUG " + l.request + " received chunk " + s
	}),
	perChunk("kubectl, zerolog, chunk", true, func(s string, l logged, t time.Time) string {
		return fmt.Sprintf(`[pod/api-0/server] {"level":"trace","session_id":%q,"time":%d,"raw":%s,"message":"chunk"}`, l.request, t.UnixMilli(), asJSON(s))
	}),
	{"pieces as they were read", true, func(l logged, now func() time.Time) (out []string) {
		text := strings.Join(l.lines(), "\n") + "\n"
		for size := 190; len(text) > 0; {
			n := min(size, len(text))
			for n < len(text) && text[n]&0xc0 == 0x80 {
				n++
			}
			out = append(out, fmt.Sprintf(`{"t":%q,"conn":%q,"data":%s}`, atISO(now()), l.request, asJSON(text[:n]))+"\n")
			text = text[n:]
		}
		return out
	}},
	whole("whole text", func(l logged, t time.Time) string {
		return fmt.Sprintf(`{"at":%q,"response":{"status":200,"body":%s}}`, atISO(t), asJSON(l.body))
	}),
	whole("whole text in base64", func(l logged, t time.Time) string {
		return fmt.Sprintf(`{"at":%q,"response":{"status":200,"body":%q}}`, atISO(t), base64.StdEncoding.EncodeToString([]byte(l.body)))
	}),
	whole("list of chunks", func(l logged, t time.Time) string {
		return fmt.Sprintf(`{"at":%q,"response":{"chunks":[%s]}}`, atISO(t), strings.Join(l.chunks(), ","))
	}),
	whole("a document, nicely printed", func(l logged, t time.Time) string {
		return fmt.Sprintf("{\n  \"at\": %q,\n  \"response\": {\n    \"body\": %s\n  }\n}", atISO(t), asJSON(l.body))
	}),
}

// asNumbers returns the bytes of a string as a JSON list of numbers.
func asNumbers(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, ",%d", text[i])
	}
	return "[" + strings.TrimPrefix(b.String(), ",") + "]"
}

func t2(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05,000") }
