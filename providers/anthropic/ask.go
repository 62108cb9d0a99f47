package anthropic

import (
	"strings"

	"toolscope/providers/protocol"
)

// maxOutput is the maximum number of output tokens of a model, by the beginning of its name. The
// longest match counts. From models.dev, as of 2026-07-02.
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
	modestTokens  = 8192  // every model of the last generations can write so many
	defaultTokens = 32000 // for more, a request names its own limit
)

// maxTokens returns the limit of a request that names none, because the protocol requires one. It is a
// third of the model's maximum, as in badlogic/pi-mono, so that thinking and a long conversation have
// room.
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

// writeRequest writes a request of the Messages API. It asks to cache the prompt only if the
// conversation will have more requests, because writing to the cache costs.
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

// objectSchema returns a schema with a type, which this protocol requires; a missing type is object.
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
