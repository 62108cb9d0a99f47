package providers

import (
	"hash/fnv"

	"toolscope/providers/protocol"
)

// PromptHash returns a hash of the user's texts and tool results in the exchange's request. Equal prompts
// have the same hash in all protocols. It is 0 if there is no such text, or the request can't be read.
func (x *Exchange) PromptHash() uint64 {
	kept := x.past.messages != nil
	messages, _ := x.History()
	if !kept {
		x.past.dropMessages()
	}
	sum, said := fnv.New64a(), false
	for i := range messages {
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			if messages[i].Role != protocol.User || p.RunByProvider || len(p.Text) == 0 {
				continue
			}
			said = true
			_, _ = sum.Write(p.Text)
			_, _ = sum.Write([]byte{0, byte(p.Kind)})
		}
	}
	if !said {
		return 0
	}
	return sum.Sum64()
}

// RequestedModel returns the model that an exchange's request names, "" if unknown.
func (v *View) RequestedModel(exchange int) string {
	x := v.Exchange(exchange)
	if x == nil {
		return ""
	}
	body := x.RequestBody()
	if d := x.Protocol; d != nil && d.Model != nil {
		if model := d.Model(x.Path(), body); model != "" {
			return model
		}
	}
	return protocol.Raw(body).Get("model").Text()
}

// MaySharePrompt is a fast check whether two requests may have the same prompt: as far as it is known,
// their conversations begin in the same way.
func (x *Exchange) MaySharePrompt(other *Exchange) bool {
	begin, others := x.position.Begin, other.position.Begin
	return begin == 0 || others == 0 || begin == others
}
