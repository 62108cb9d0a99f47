package protocol

import (
	"slices"
	"strings"

	"toolscope/stream/json"
)

// A Request is a request to a model, in a form common to all protocols.
type Request struct {
	Model           string
	System          string    // the instructions
	EncodedMessages [][]byte  // messages in the target's form; they go before Messages
	Messages        []Message // messages that the target's Encode converts
	Tools           []Tool
	NativeTools     json.Value // tools in the protocol's own form, instead of Tools
	MaxTokens       int        // token limit for the response; 0 for the protocol's default
	Session         string     // name of the conversation, for the prompt cache
	LongCache       bool       // keep the request in the prompt cache for more than a few minutes, which may cost extra
}

// HostFeatures lists features that only some providers of a protocol support. The zero value is for an
// unknown provider.
type HostFeatures struct {
	Store        bool // supports store: if store is false, the request is not stored
	Completion   bool // has max_completion_tokens as its token limit, and may refuse max_tokens
	TellsUsage   bool // always reports usage and refuses stream_options
	CacheKey     bool // supports prompt_cache_key
	Retention    bool // supports prompt_cache_retention and prompt_cache_options
	CacheControl bool // supports cache_control as a field of the request
	Custom       bool // supports tools with free text as their argument
	Encrypted    bool // returns encrypted reasoning if a request asks for it
}

// BuildRequest returns the path and the body of a request to a target. The path is relative to the provider's
// address.
func (t *Target) BuildRequest(r Request, q HostFeatures) (path string, body []byte) {
	r.EncodedMessages = append(slices.Clip(r.EncodedMessages), t.Encode(r.Messages)...)
	return t.Request(r, q)
}

// Instructions returns all system text as one text, for protocols with a single place for system text.
func (r *Request) Instructions() string {
	var all []string
	if r.System != "" {
		all = append(all, r.System)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if m.Role == System && p.Kind == TextPart && len(p.Text) > 0 {
				all = append(all, string(p.Text))
			}
		}
	}
	return strings.Join(all, "\n\n")
}

// WriteCacheKey writes the key by which OpenAI and compatible providers find the beginning of the request in their
// prompt cache. The field for the cache lifetime depends on the model: from GPT-5.6 on, prompt_cache_options replaces
// prompt_cache_retention (OpenAI's published API description).
func (r *Request) WriteCacheKey(w *json.Writer, q HostFeatures) {
	if r.Session == "" || !q.CacheKey {
		return
	}
	w.Member("prompt_cache_key", r.Session)
	switch {
	case !r.LongCache || !q.Retention:
	case isSince56(r.Model):
		w.Key("prompt_cache_options").Open('{').Member("mode", "implicit").Member("ttl", "30m").Close('}')
	default:
		w.Member("prompt_cache_retention", "24h")
	}
}

// isSince56 reports whether a model is GPT-5.6 or later, according to its name.
func isSince56(model string) bool {
	version, ok := strings.CutPrefix(model[strings.LastIndexByte(model, '/')+1:], "gpt-")
	if !ok {
		return false
	}
	major, minor := leadingNumber(version), 0
	if _, rest, ok := strings.Cut(version, "."); ok {
		minor = leadingNumber(rest)
	}
	return major >= 6 && major < 100 || major == 5 && minor >= 6
}

// leadingNumber returns the number at the start of a text, or 0 if there is none.
func leadingNumber(text string) (n int) {
	for i := 0; i < len(text) && i < 6 && '0' <= text[i] && text[i] <= '9'; i++ {
		n = n*10 + int(text[i]-'0')
	}
	return n
}

// anyArguments is the schema for a tool that was declared without a schema.
var anyArguments = json.Value(`{"type":"object","properties":{}}`)

// textArgument is the schema for a free-text tool in protocols whose tools accept only objects. Calls of such
// a tool are replayed in the form of this schema.
var textArgument = json.Value(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)

// Arguments returns the JSON Schema for the declaration of a tool. It is always a JSON object.
func (t *Tool) Arguments() json.Value {
	switch {
	case t.Kind == "custom":
		return textArgument
	case t.Schema.Kind() != '{':
		return anyArguments
	}
	return t.Schema
}

// Declarable reports whether a request in another protocol can declare the tool. The tool must be a function or a
// custom tool, and have a name.
func (t *Tool) Declarable() bool {
	return t.Name != "" && (t.Kind == "function" || t.Kind == "custom")
}

// Describe writes the name and, if there is one, the description of a tool.
func Describe(w *json.Writer, t *Tool) *json.Writer {
	return w.Member("name", t.Name).MemberIfSet("description", t.Description)
}

// WriteTools writes the field that declares the tools: NativeTools or, if that is nil, a list. The list is
// between the texts open and close, and the function write writes each tool. Without tools, WriteTools writes
// nothing, because a provider may refuse an empty list.
func (r *Request) WriteTools(w *json.Writer, member, open, close string, write func(*json.Writer, *Tool)) {
	declared := []byte(r.NativeTools)
	if declared == nil {
		var list json.Writer
		for i := range r.Tools {
			if t := &r.Tools[i]; t.Declarable() {
				write(&list, t)
			}
		}
		if len(list.Text) > 0 {
			declared = slices.Concat([]byte(open), list.Text, []byte(close))
		}
	}
	if declared != nil {
		w.Key(member).Raw(declared)
	}
}

// WriteFunctionTools writes the field tools in the form of OpenAI's Chat Completions. The parameter custom is
// true if the provider supports tools with free text as their argument.
func (r *Request) WriteFunctionTools(w *json.Writer, custom bool) {
	r.WriteTools(w, "tools", "[", "]", func(w *json.Writer, t *Tool) {
		if custom && t.Kind == "custom" {
			Describe(w.Open('{').Member("type", "custom").Key("custom").Open('{'), t).Close('}').Close('}')
			return
		}
		Describe(w.Open('{').Member("type", "function").Key("function").Open('{'), t)
		w.Key("parameters").Raw(t.Arguments()).Close('}').Close('}')
	})
}

// WithSystem returns EncodedMessages, preceded by the instructions as a message with the role system.
func (r *Request) WithSystem() [][]byte {
	if r.System == "" {
		return r.EncodedMessages
	}
	var w json.Writer
	w.Open('{').Member("role", "system").Member("content", r.System).Close('}')
	return append([][]byte{w.Text}, r.EncodedMessages...)
}
