package protocol

import (
	"slices"
	"strings"

	"toolscope/stream/json"
)

// A Request is a request to a model, in a form common to all protocols.
type Request struct {
	Model           string
	System          string    // instructions
	EncodedMessages [][]byte  // messages in the target's form; they go before Messages
	Messages        []Message // input of the target's Encode
	Tools           []Tool
	NativeTools     json.Value // tools in the protocol's own form, instead of Tools
	MaxTokens       int        // limit of the response; 0 for the protocol's default
	Session         string     // names the conversation, for the prompt cache
	LongCache       bool       // keep the request in the prompt cache for more than a few minutes, which may cost
}

// HostFeatures lists the features of one provider of a protocol that not all its providers support. The
// zero value is for an unknown provider.
type HostFeatures struct {
	Store        bool // knows store: with false the request is not stored
	Completion   bool // has max_completion_tokens as token limit, and may refuse max_tokens
	TellsUsage   bool // always reports usage, and refuses stream_options
	CacheKey     bool // knows prompt_cache_key
	Retention    bool // knows prompt_cache_retention and prompt_cache_options
	CacheControl bool // knows cache_control as a field of the request
	Custom       bool // knows tools with free text as argument
	Encrypted    bool // returns encrypted reasoning on request
}

// BuildRequest returns a request to a target: its path, relative to the provider's address, and its
// body.
func (t *Target) BuildRequest(r Request, q HostFeatures) (path string, body []byte) {
	r.EncodedMessages = append(slices.Clip(r.EncodedMessages), t.Encode(r.Messages)...)
	return t.Request(r, q)
}

// Instructions returns all system text as one text, for protocols with one place for it.
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

// WriteCacheKey writes the key by which OpenAI and compatible providers find the beginning of the
// request in their prompt cache. There are two fields for the cache's lifetime: models since 5.6 have
// prompt_cache_options, which replaces prompt_cache_retention (OpenAI's published API description).
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

// isSince56 reports whether a model is GPT-5.6 or later, by its name.
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

// anyArguments is the schema of a tool that was declared without a schema.
var anyArguments = json.Value(`{"type":"object","properties":{}}`)

// textArgument is the schema of a free-text tool, for protocols whose tools take only objects. Replay
// writes calls of such a tool to fit it.
var textArgument = json.Value(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)

// Arguments returns the JSON Schema for declaring a tool. It is always the schema of an object.
func (t *Tool) Arguments() json.Value {
	switch {
	case t.Kind == "custom":
		return textArgument
	case t.Schema.Kind() != '{':
		return anyArguments
	}
	return t.Schema
}

// Declarable reports whether a request to another protocol can declare the tool: the client runs it,
// and it has its own arguments.
func (t *Tool) Declarable() bool {
	return t.Name != "" && (t.Kind == "function" || t.Kind == "custom")
}

// Describe writes the name of a tool, and its description if it has one.
func Describe(w *json.Writer, t *Tool) *json.Writer {
	return w.Member("name", t.Name).MemberIfSet("description", t.Description)
}

// WriteTools writes the field that declares the tools: a list between open and close, each tool written
// by write. Without tools it writes nothing, because a provider may refuse an empty list.
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

// WriteFunctionTools writes the field tools in the form of OpenAI's Chat Completions. custom says that
// the provider knows tools with free text as argument.
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

// WithSystem returns EncodedMessages, with the instructions before them as a message of the role
// system.
func (r *Request) WithSystem() [][]byte {
	if r.System == "" {
		return r.EncodedMessages
	}
	var w json.Writer
	w.Open('{').Member("role", "system").Member("content", r.System).Close('}')
	return append([][]byte{w.Text}, r.EncodedMessages...)
}
