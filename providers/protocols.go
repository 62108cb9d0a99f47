// Package providers turns the bytes of exchanges with model providers into the events of one timeline. It
// finds the framing, recognises the protocol, and decodes the frames with the protocol's decoder. Each wire
// protocol has its own folder. The package protocol describes how to add a protocol.
//
//	records ─▶ Inspector ─▶ Framer ─▶ protocol.Decoder ─▶ stream.Timeline
//
// No received byte is lost while its exchange is in memory. A frame that can't be decoded, or that has an
// unknown protocol, is also an event, and Exchange.Response keeps its bytes.
package providers

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"toolscope/providers/acp"
	"toolscope/providers/adk"
	"toolscope/providers/agentlines"
	"toolscope/providers/agui"
	"toolscope/providers/aigateway"
	"toolscope/providers/aisdk"
	"toolscope/providers/aistudio"
	"toolscope/providers/anthropic"
	"toolscope/providers/anthropicagents"
	"toolscope/providers/bedrock"
	"toolscope/providers/claudecode"
	"toolscope/providers/codexexec"
	"toolscope/providers/cohere"
	"toolscope/providers/gemini"
	"toolscope/providers/geminiinteractions"
	"toolscope/providers/geminilive"
	"toolscope/providers/langgraph"
	"toolscope/providers/lmstudio"
	"toolscope/providers/mistralconversations"
	"toolscope/providers/ollama"
	"toolscope/providers/openaichat"
	"toolscope/providers/openairealtime"
	"toolscope/providers/openairesponses"
	"toolscope/providers/protocol"
	"toolscope/providers/transcript"
	"toolscope/providers/workersai"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// All lists the protocols. OpenRouter, Groq and others use openaichat: they have no protocols of their own.
var All = slices.Concat([]protocol.Protocol{
	anthropic.Protocol(),
	openaichat.Protocol(),
	openairesponses.Protocol(),
	gemini.Protocol(),
	geminiinteractions.Protocol(),
	bedrock.Protocol(),
	ollama.Protocol(),
	cohere.Protocol(),
	aistudio.Protocol(),
	aisdk.Protocol(),
	agui.Protocol(),
	claudecode.Protocol(anthropic.Protocol()),
	codexexec.Protocol(),
	aigateway.Protocol(),
	openairealtime.Protocol(openairesponses.Protocol()),
	geminilive.Protocol(gemini.Protocol()),
	langgraph.Protocol(),
	mistralconversations.Protocol(),
	lmstudio.Protocol(),
	adk.Protocol(),
	workersai.Protocol(),
	anthropicagents.Protocol(),
	acp.Protocol(),
}, agentlines.Protocols())

// sessions are the protocols for agents' session files, by the innermost wrapper of their exchanges.
var sessions = func() map[string]*protocol.Protocol {
	all := transcript.Sessions(anthropic.Protocol(), gemini.Protocol(), openaichat.Protocol())
	all[claudecode.SessionWrapper] = claudecode.Session(anthropic.Protocol())
	all[codexexec.SessionWrapper] = codexexec.Session(openairesponses.Protocol())
	return all
}()

// sessionOf returns the protocol for an exchange in a session file, or nil.
func sessionOf(h *stream.Head) *protocol.Protocol { return sessions[innerWrapper(h)] }

// innerWrapper returns the innermost wrapper of an exchange, such as the format of a session file.
func innerWrapper(h *stream.Head) string {
	const between = " › "
	return h.Wrappers[strings.LastIndex(between+h.Wrappers, between):]
}

// Marks returns the marks of all protocols, for [marks.Use].
func Marks() (all []marks.Protocol) {
	for _, p := range All {
		p.Marks.Name = p.Name
		all = append(all, p.Marks)
	}
	return all
}

// Targets returns the targets of all protocols.
func Targets() (all []*protocol.Target) {
	for i := range All {
		for j := range All[i].Targets {
			all = append(all, &All[i].Targets[j])
		}
	}
	return all
}

// FindTarget returns the target with the given name. If there is none, the error lists the known names.
func FindTarget(name string) (*protocol.Target, error) {
	t, err := protocol.FindNamed("target", name, Targets(), func(t **protocol.Target) string { return (*t).Name })
	if err != nil {
		return nil, err
	}
	return *t, nil
}

// historyTargetOf returns the target that reads requests in the protocol with the given name, or nil if the
// protocol has no requests.
func historyTargetOf(name string) *protocol.Target {
	if t := TargetOf(name); t != nil {
		return t
	}
	if p := protocolNamed(name); p != nil {
		return p.HistoryTarget
	}
	return nil
}

// protocolNamed returns the protocol with the given name, or nil if there is none.
func protocolNamed(name string) *protocol.Protocol {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// SpokenAt returns the protocol in which toolscope can answer a request with this path, or nil if there is none.
func SpokenAt(path string) (found *protocol.Protocol) {
	best := 0
	for i := range All {
		if p := &All[i]; p.Speaker != nil {
			if score := p.Sniff(protocol.SniffInput{Path: path}); score.Points > best {
				found, best = p, score.Points
			}
		}
	}
	return found
}

// TargetOf returns the first target that uses the protocol with the given name, or nil if there is none.
func TargetOf(name string) *protocol.Target {
	for i := range All {
		for j := range All[i].Targets {
			if t := &All[i].Targets[j]; t.Protocol == name {
				return t
			}
		}
	}
	return nil
}

// undecoded is a protocol that is recognised but not decoded. Its frames are shown under its name, as they
// arrived.
type undecoded struct {
	name, title string
	known       func(protocolMarks) bool // recognises one frame
}

// protocolMarks are the parts of a frame by which undecoded protocols are recognised.
type protocolMarks struct {
	event string // SSE event type
	kind  string // value of the field type
	data  json.Value
}

func (s protocolMarks) has(members ...string) bool {
	return slices.ContainsFunc(members, func(m string) bool { return s.data.Get(m) != nil })
}

// startsWith reports whether text begins with one of the prefixes.
func startsWith(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// allUndecoded lists the protocols that are recognised but not decoded. If no protocol claims a frame, they
// are tried in this order. Sources: the event lists of OpenAI's and Anthropic's SDKs, the references of the
// Realtime API and the Live API, the AI SDK's guide to version 4, OpenAI's description of gpt-oss's own
// format, and JSON-RPC 2.0.
var allUndecoded = []undecoded{
	{"openai-assistants", "OpenAI Assistants events", func(s protocolMarks) bool {
		return startsWith(s.event, "thread.") || startsWith(s.data.Get("object").Text(), "thread.") && s.has("id")
	}},
	{"ai-sdk-data", "AI SDK data stream lines (version 4)", func(s protocolMarks) bool {
		if len(s.data) < 4 || s.data[1] != ':' || !strings.ContainsRune("0123456789abcdefghijk", rune(s.data[0])) {
			return false
		}
		value := json.Scan(s.data[2:])
		return strings.ContainsRune(`"[{`, rune(value.Kind())) && value.Value() != nil && value.End() == nil
	}},
	{"cohere-v1", "Cohere v1 events", func(s protocolMarks) bool {
		return s.has("is_finished") && s.data.Get("event_type").IsString()
	}},
	{"harmony", "Harmony text (gpt-oss)", func(s protocolMarks) bool {
		return s.data.Kind() != '{' && (bytes.Contains(s.data, []byte("<|start|>")) || bytes.Contains(s.data, []byte("<|channel|>")))
	}},
	{"json-rpc", "JSON-RPC messages (MCP)", func(s protocolMarks) bool {
		return s.data.Get("jsonrpc").Is("2.0") && json.Read(s.data) == nil
	}},
}

// seenIn returns the undecoded protocol to which a frame belongs, or nil.
func seenIn(e protocol.SniffInput) *protocol.Protocol {
	if len(e.Data) == 0 {
		return nil
	}
	s := protocolMarks{string(e.Event), json.Value(e.Data).Get("type").Text(), e.Data}
	for i := range allUndecoded {
		if known := &allUndecoded[i]; known.known(s) {
			return &protocol.Protocol{
				Name:  known.name,
				Title: known.title + ", not decoded",
				New:   func(o *protocol.Out) protocol.Decoder { return newUnknown(o, known.title) },
			}
		}
	}
	return nil
}

// unknownProtocol shows a stream in an unknown protocol. Every frame is kept and shown, but none is
// interpreted.
var unknownProtocol = protocol.Protocol{
	Name:  "unknown",
	Title: "unknown protocol",
	New:   func(o *protocol.Out) protocol.Decoder { return newUnknown(o, "") },
}

// unknownLike returns unknownProtocol for a stream of the guessed kind.
func unknownLike(guess string) *protocol.Protocol {
	d := unknownProtocol
	d.New = func(o *protocol.Out) protocol.Decoder {
		decoder := newUnknown(o, "")
		decoder.guess = guess
		return decoder
	}
	return &d
}

// emptyProtocol shows an exchange without a response body.
var emptyProtocol = protocol.Protocol{
	Name: unknownProtocol.Name, Title: unknownProtocol.Title,
	New: func(o *protocol.Out) protocol.Decoder { return silentDecoder{newUnknown(o, "")} },
}

type unknownDecoder struct {
	turn   *protocol.Turn
	title  string // title of a protocol that toolscope recognises but doesn't decode; "" if unknown
	guess  string // guessed kind of the stream; "" if there is no guess
	frames int
}

func newUnknown(o *protocol.Out, title string) *unknownDecoder {
	return &unknownDecoder{turn: o.OpenSilently(), title: title}
}

func (d *unknownDecoder) Frame(f stream.Frame) error {
	d.frames++
	body := json.Value(f.Data)
	name := string(f.Event)
	if name == "" && d.title != "" {
		name = body.Get("type").Text()
	}
	if code, words := failureIn(body); d.title == "" && words != "" {
		d.turn.Fail(code, words)
		return nil
	}
	d.turn.Unknown(name)
	return nil
}

// failureIn returns the code and the message of an error in a body that matches no protocol. The message is "" unless the
// body says that the request failed: it has an error, a code other than 0 and 200, or "success":false.
func failureIn(body json.Value) (code, words string) {
	if body.Get("error").IsPresent() {
		return "", errorWords(body)
	}
	for _, key := range []string{"code", "error_code", "errcode", "errorType"} {
		if v := body.Get(key); v.IsPresent() && code == "" {
			code = cmp.Or(v.Text(), string(v))
		}
	}
	if code == "0" || code == "200" || code == "" && string(body.Get("success")) != "false" {
		return "", ""
	}
	return code, errorWords(body)
}

// errorWords returns the message in the body of an error. The message is in one of the fields that web
// services use. errorWords returns "" if there is none.
func errorWords(body json.Value) string {
	if body.Kind() == '[' { // Google's streams without SSE are lists
		body = elementAt(body, 0)
	}
	err, first := body.Get("error"), elementAt(body.Get("errors"), 0) // Cloudflare's API has a list of errors
	for _, text := range []json.Value{
		err.Get("message"), err, body.Get("message"), body.Get("Message"), body.Get("detail"), body.Get("error_description"),
		body.Get("msg"), body.Get("error_msg"), body.Get("errmsg"), body.Get("errorMessage"),
		first.Get("message"), first.Get("detail"), first,
	} {
		if text.HasText() {
			return text.Text()
		}
	}
	return protocol.ValidationWords(body.Get("detail"))
}

// Close leaves the turn open, because it is unknown whether the turn ended.
func (d *unknownDecoder) Close() {
	frames := count.Of(d.frames, "frame")
	switch {
	case d.title != "":
		d.turn.Find(protocolUndecoded, "toolscope recognises %s but can't decode it, and shows %s as received", stream.Own(d.title), stream.Own(frames))
	case d.frames == 0:
		d.turn.Find(protocolUnknown, "the body contains only comments")
	case d.guess != "":
		d.turn.Find(protocolUnknown, "the protocol is unknown: toolscope shows %s as received; the data may be %s", stream.Own(frames), d.guess)
	default:
		d.turn.Find(protocolUnknown, "the protocol is unknown: toolscope shows %s as received", stream.Own(frames))
	}
}

// silentDecoder decodes an exchange without a response body.
type silentDecoder struct{ *unknownDecoder }

// Close reports nothing. The exchange reports that nothing arrived, with the reason.
func (silentDecoder) Close() {}

// NameProvider returns the name of a provider in OpenTelemetry's conventions, according to its host. If the
// host is unknown, the name depends on the protocol. NameProvider returns "" if the conventions have no name
// for the provider.
func NameProvider(url, protocol string) string {
	if name := ProviderAt(url); name != "" {
		return name
	}
	return protocolProviders[protocol]
}

// ProviderAt returns the name of the provider at a host, or "" if the host is unknown.
func ProviderAt(url string) string {
	host, _ := splitURL(url)
	for _, s := range hostProviders {
		if host != "" && strings.HasSuffix(host, s.host) && strings.HasPrefix(host, s.begins) {
			return s.name
		}
	}
	return ""
}

// protocolProviders maps protocols to provider names in the conventions.
var protocolProviders = map[string]string{
	"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai", "gemini": "gcp.gemini", "gemini-interactions": "gcp.gemini",
	"aistudio": "gcp.gemini", "bedrock": "aws.bedrock", "cohere": "cohere", "ollama": "ollama",
}

// hostProviders lists the conventions' names for providers at a host. The field host is the end of the
// provider's host name, and begins is its start, if the start matters.
var hostProviders = []struct{ host, name, begins string }{
	{host: "api.openai.com", name: "openai"}, {host: "api.anthropic.com", name: "anthropic"}, {host: "generativelanguage.googleapis.com", name: "gcp.gemini"},
	{host: "api.cohere.com", name: "cohere"},
	{host: "api.groq.com", name: "groq"}, {host: "api.x.ai", name: "x_ai"}, {host: "api.deepseek.com", name: "deepseek"}, {host: "api.mistral.ai", name: "mistral_ai"}, {host: "api.perplexity.ai", name: "perplexity"},
	{host: "api.moonshot.ai", name: "moonshot_ai"}, {host: ".openai.azure.com", name: "azure.ai.openai"}, {host: "aiplatform.googleapis.com", name: "gcp.vertex_ai"},
	{host: ".amazonaws.com", name: "aws.bedrock", begins: "bedrock-runtime"},
}
