package protocol

import (
	"slices"
	"strings"
)

// A Request is what a model is asked, in one form for all dialects.
type Request struct {
	Model           string
	System          string    // instructions
	EncodedMessages [][]byte  // messages in the form of the target; they go before Messages
	Messages        []Message // what its Encode takes
	Tools           []Tool
	NativeTools     Raw    // tools as the protocol itself declares them, in place of Tools
	MaxTokens       int    // of the answer; 0 for the protocol's default
	Session         string // names the conversation, for the prompt cache
	LongCache       bool   // have the prompt cache keep it longer than its few minutes, which may cost
}

// HostFeatures are what one host of a protocol takes beyond what all hosts take. The zero value is for a
// host of which nothing is known.
type HostFeatures struct {
	Store        bool // knows store: false keeps the request from being stored
	Completion   bool // has the limit of tokens as max_completion_tokens, and may refuse max_tokens
	TellsUsage   bool // tells usage unasked, and refuses stream_options
	CacheKey     bool // knows prompt_cache_key
	Retention    bool // knows prompt_cache_retention and prompt_cache_options
	CacheControl bool // knows cache_control as a member of the request
	Custom       bool // knows tools whose argument is free text
	Encrypted    bool // gives reasoning back encrypted when asked
}

// BuildRequest is the request to a target: its path, relative to a host's address, and its body.
func (t *Target) BuildRequest(r Request, q HostFeatures) (path string, body []byte) {
	r.EncodedMessages = append(slices.Clip(r.EncodedMessages), t.Encode(r.Messages)...)
	return t.Request(r, q)
}

// Instructions is all that the system says, as one text, for protocols that have one place for it.
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

// WriteList writes a member that is a list of JSON texts.
func (w *Writer) WriteList(name string, items [][]byte) *Writer {
	w.Key(name).Open('[')
	for _, item := range items {
		w.Raw(item)
	}
	return w.Close(']')
}

// WriteCacheKey writes the key by which OpenAI's hosts find the beginning of the request in their
// prompt cache. How long that is kept is asked for in one of two ways: models from 5.6 on have
// prompt_cache_options, which took the place of prompt_cache_retention (OpenAI's published API
// description).
func (r *Request) WriteCacheKey(w *Writer, q HostFeatures) {
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

// leadingNumber is the number that a text begins with, 0 if it begins with none.
func leadingNumber(text string) (n int) {
	for i := 0; i < len(text) && i < 6 && '0' <= text[i] && text[i] <= '9'; i++ {
		n = n*10 + int(text[i]-'0')
	}
	return n
}

// anyArguments is the schema of a tool that was declared without one.
var anyArguments = Raw(`{"type":"object","properties":{}}`)

// textArgument is the schema of a tool for free text, where tools take objects only. Replay writes
// such calls to fit it.
var textArgument = Raw(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)

// Arguments is the JSON Schema to declare a tool with. It is always one of an object.
func (t *Tool) Arguments() Raw {
	switch {
	case t.Kind == "custom":
		return textArgument
	case t.Schema.Kind() != '{':
		return anyArguments
	}
	return t.Schema
}

// Declarable reports whether a tool is one that a request to another protocol can declare: one that
// the client runs, with arguments of its own.
func (t *Tool) Declarable() bool {
	return t.Name != "" && (t.Kind == "function" || t.Kind == "custom")
}

// Describe writes a tool's name, and its description if it has one.
func (w *Writer) Describe(t *Tool) *Writer {
	return w.Member("name", t.Name).MemberIfSet("description", t.Description)
}

// WriteTools writes the member that declares the tools: a list between open and close, with each
// tool as write writes it. Without tools it writes nothing, because an empty list may be refused.
func (r *Request) WriteTools(w *Writer, member, open, close string, write func(*Writer, *Tool)) {
	declared := []byte(r.NativeTools)
	if declared == nil {
		var list Writer
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

// WriteFunctionTools writes the member tools as OpenAI's Chat Completions has it. custom says that
// the host knows tools whose argument is free text.
func (r *Request) WriteFunctionTools(w *Writer, custom bool) {
	r.WriteTools(w, "tools", "[", "]", func(w *Writer, t *Tool) {
		if custom && t.Kind == "custom" {
			w.Open('{').Member("type", "custom").Key("custom").Open('{').Describe(t).Close('}').Close('}')
			return
		}
		w.Open('{').Member("type", "function").Key("function").Open('{').Describe(t)
		w.Key("parameters").Raw(t.Arguments()).Close('}').Close('}')
	})
}

// WithSystem is Encoded, with the instructions before it as a message of the role system.
func (r *Request) WithSystem() [][]byte {
	if r.System == "" {
		return r.EncodedMessages
	}
	var w Writer
	w.Open('{').Member("role", "system").Member("content", r.System).Close('}')
	return append([][]byte{w.Text}, r.EncodedMessages...)
}
