package anthropic

import (
	"strings"

	"toolscope/providers/protocol"
)

// maxOutput is how many tokens a model can answer with at most, by how its name begins; of two, the
// longer counts. From models.dev, as of 2026-07-02.
var maxOutput = []struct {
	model string
	most  int
}{
	{"claude-fable-5", 128000}, {"claude-mythos-5", 128000}, {"claude-opus-5", 128000}, {"claude-sonnet-5", 128000},
	{"claude-opus-4-8", 128000}, {"claude-opus-4-7", 128000}, {"claude-opus-4-6", 128000},
	{"claude-opus-4-5", 64000}, {"claude-sonnet-4", 64000}, {"claude-haiku-4", 64000},
	{"claude-opus-4", 32000}, {"claude-3-opus", 4096}, {"claude-3-haiku", 4096}, {"claude-3-sonnet", 4096},
}

const (
	modestTokens  = 8192  // what every model of the last generations can answer with
	defaultTokens = 32000 // more is asked for by those who want it
)

// maxTokens is the limit of a request that names none, because the protocol wants one. It is a
// third of what the model can do, as in badlogic/pi-mono, so that thinking and a long conversation
// have room.
func maxTokens(model string) int {
	model = strings.ToLower(model[strings.LastIndexAny(model, "/.")+1:])
	for _, m := range maxOutput {
		if !strings.HasPrefix(model, m.model) {
			continue
		}
		if third := min(m.most/3, defaultTokens); m.most > modestTokens {
			return third
		}
		return m.most
	}
	return modestTokens
}

// writeRequest writes a request of the Messages API. A prompt is kept in the cache only where more requests
// of the conversation are to come: writing it costs.
func writeRequest(r protocol.Request, q protocol.HostFeatures) (path string, body []byte) {
	limit := r.MaxTokens
	if limit <= 0 {
		limit = maxTokens(r.Model)
	}
	var w protocol.Writer
	w.Open('{').Member("model", r.Model).Key("max_tokens").Int(limit).Flag("stream", true)
	if r.Session != "" && q.CacheControl {
		w.Key("cache_control").Open('{').Member("type", "ephemeral")
		if r.LongCache {
			w.Member("ttl", "1h")
		}
		w.Close('}')
	}
	w.MemberIfSet("system", r.Instructions()).WriteList("messages", r.EncodedMessages)
	r.WriteTools(&w, "tools", "[", "]", writeTool)
	return "/v1/messages", w.Close('}').Text
}

func writeTool(w *protocol.Writer, t *protocol.Tool) {
	w.Open('{').Describe(t).Key("input_schema").Raw(objectSchema(t.Arguments())).Close('}')
}

// objectSchema is a schema that says that it is one of an object, as this protocol wants it.
func objectSchema(schema protocol.Raw) protocol.Raw {
	if schema.Get("type").IsPresent() {
		return schema
	}
	var w protocol.Writer
	w.Open('{').Member("type", "object")
	s := schema.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		w.Key(string(s.Key())).Raw(s.Value())
	}
	return w.Close('}').Text
}
