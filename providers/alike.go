package providers

import (
	"hash/fnv"

	"toolscope/providers/protocol"
)

// PromptHash is a hash of all that the user says in the exchange's request, in texts and in results of
// tools. Requests that ask for the same thing share it, whatever their protocols. It is 0 where
// nothing is said or the request cannot be read.
func (x *Exchange) PromptHash() uint64 {
	kept := x.past.messages != nil
	messages, _ := x.History()
	if !kept {
		x.dropHistory()
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

// RequestedModel is the model that an exchange's request asks for, "" where that is not known.
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

// MaySharePrompt reports, at once, whether two requests may ask for the same thing: as far as it is known,
// their conversations begin alike.
func (x *Exchange) MaySharePrompt(other *Exchange) bool {
	begin, others := x.position.Begin, other.position.Begin
	return begin == 0 || others == 0 || begin == others
}
