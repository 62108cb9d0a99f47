package diff

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Request contains the facts about a request that show whether it differs from another request only in its host.
type Request struct {
	Host  string
	Model string // requested model
	Body  []byte
	Asks  uint64
}

// RequestOf returns the Request for an exchange. It is empty if the request was not captured.
func RequestOf(v *providers.View, x *providers.Exchange) Request {
	if x == nil || x.Request.Size() == 0 {
		return Request{}
	}
	return Request{HostOf(x), v.RequestedModel(x.Number), x.RequestBody(), x.PromptHash()}
}

// SameRequest describes a request that was sent to two hosts.
type SameRequest struct {
	Host  string // host of the request that is not the base
	Exact bool   // the requests differ only in host, ids and the form of the model name
}

// SameElsewhere reports whether r and base have the same prompt and model, but different hosts.
func (r *Request) SameElsewhere(base *Request) (p SameRequest, ok bool) {
	if r.Host == "" || base.Host == "" || r.Host == base.Host || r.Asks == 0 || r.Asks != base.Asks {
		return p, false
	}
	if m := bareModel(r.Model); m == "" || m != bareModel(base.Model) {
		return p, false
	}
	a, b := requestTree(r.Body), requestTree(base.Body)
	exact := len(a.nodes) > 0 && len(b.nodes) > 0 && a.requestHash(0, true) == b.requestHash(0, true)
	return SameRequest{r.Host, exact}, true
}

// bareModel returns a model name in lower case. If the name has a vendor's prefix, bareModel removes the prefix
// and a router's suffix.
func bareModel(model string) string {
	at := strings.LastIndexByte(model, '/')
	if model = strings.ToLower(model[at+1:]); at >= 0 {
		model, _, _ = strings.Cut(model, ":")
	}
	return model
}

func requestTree(body []byte) tree {
	t := tree{text: body}
	var lex json.Lexer
	lex.Write(body)
	lex.Close()
	if toks := lex.Tokens(); toks.Len() <= maxTokens {
		b := treeBuilder{tree: &t, toks: toks}
		b.buildTree()
	}
	return t
}

// isID lists the fields whose values are specific to one conversation or user.
var isID = map[string]bool{
	"id": true, "call_id": true, "tool_call_id": true, "tool_use_id": true, "item_id": true, "request_id": true,
	"session_id": true, "user": true, "user_id": true, "prompt_cache_key": true, "safety_identifier": true,
}

// requestHash returns a hash of a request without its ids and its top-level model.
func (t *tree) requestHash(n int32, top bool) uint64 {
	at := &t.nodes[n]
	if at.kind != json.ObjectOpen && at.kind != json.ArrayOpen {
		return t.valueHash(n)
	}
	all := uint64(at.kind) + 14695981039346656037
	for i, k := range at.children {
		name := t.nodes[k].name
		if at.kind == json.ArrayOpen {
			name = strconv.Itoa(i)
		} else if isID[name] || top && name == "model" {
			continue
		}
		all += hashField(name, t.nodes[k].nth, t.requestHash(k, false))
	}
	return all
}

// Fact is a property of the responses, with its value for each side.
type Fact struct {
	Name  string
	Cells []string
	Marks []Relation
}

// WireFacts returns the properties of the responses that a gateway may change: the form of ids, the number of
// argument bytes, the number of deltas, the finish reason, and the token counts. It does not say which party changed
// them.
func (p *Comparison) WireFacts() (facts []Fact) {
	for _, f := range []struct {
		name string
		of   func(i int) string
	}{
		{"id", p.idForm}, {"bytes", p.argBytes}, {"pieces", p.deltasText}, {"finish", p.finishReason}, {"usage", p.usageText},
	} {
		fact := Fact{Name: f.name, Cells: make([]string, len(p.Sides)), Marks: make([]Relation, len(p.Sides))}
		for i := range p.Sides {
			fact.Cells[i] = f.of(i)
		}
		for i := range p.Sides {
			switch base := fact.Cells[p.Base]; {
			case i == p.Base:
				fact.Marks[i] = Own
			case !p.Sides[i].Over || !p.Sides[p.Base].Over:
				fact.Marks[i] = Open
			case fact.Cells[i] == base:
				fact.Marks[i] = Same
			case fact.Cells[i] == "":
				fact.Marks[i] = Absent
			default:
				fact.Marks[i] = Differs
			}
		}
		facts = append(facts, fact)
	}
	return facts
}

// idForm describes the id of a side's first call: its prefix up to the first of "_-:.", and its length.
func (p *Comparison) idForm(i int) string {
	for n := range p.Sets {
		c := p.Sets[n].Calls[i]
		if c == nil {
			continue
		}
		if c.ID == "" {
			return "none"
		}
		head := c.ID
		if at := strings.IndexAny(head, "_-:."); at >= 0 && at < 16 {
			head = head[:at+1]
		} else {
			head = ""
		}
		return fmt.Sprintf("%s…, %d long", head, len(c.ID))
	}
	return ""
}

// argBytes returns the number of argument bytes. The function bytesWords compares the bytes themselves.
func (p *Comparison) argBytes(i int) string { return p.totalText(i, (*stream.Call).ArgsLen) }

func (p *Comparison) deltasText(i int) string { return p.totalText(i, (*stream.Call).Deltas) }

func (p *Comparison) totalText(i int, of func(*stream.Call) int) string {
	sum, some := 0, false
	for n := range p.Sets {
		if c := p.Sets[n].Calls[i]; c != nil {
			sum, some = sum+of(c), true
		}
	}
	if !some {
		return ""
	}
	return strconv.Itoa(sum)
}

func (p *Comparison) finishReason(i int) string {
	if t := p.Sides[i].Turn; t != nil {
		return t.Finish
	}
	return ""
}

func (p *Comparison) usageText(i int) string {
	t := p.Sides[i].Turn
	if t == nil || !t.Usage.Input.Reported && !t.Usage.Output.Reported {
		return ""
	}
	word := func(name string, n stream.Count) string {
		if !n.Reported {
			return name + " unknown"
		}
		return name + " " + strconv.FormatInt(n.N, 10)
	}
	return word("in", t.Usage.Input) + ", " + word("out", t.Usage.Output)
}

// ChangeSentence describes how side i's response differs from the base's response to the same request at
// another host.
func (p *Comparison) ChangeSentence(i int, way SameRequest, facts []Fact) string {
	var all []string
	for _, f := range facts {
		base := f.Cells[p.Base]
		switch {
		case f.Marks[i] == Absent:
			all = append(all, "no "+f.Name)
		case f.Marks[i] != Differs:
		case f.Name == "id":
			all = append(all, fmt.Sprintf("the id is %s instead of %s", f.Cells[i], base))
		case f.Name == "pieces":
			all = append(all, fmt.Sprintf("arguments arrive in %s deltas, not %s", f.Cells[i], base))
		case f.Name == "finish":
			all = append(all, fmt.Sprintf("the finish reason is %s, not %s", f.Cells[i], base))
		case f.Name == "usage" && base != "":
			all = append(all, fmt.Sprintf("usage is %s instead of %s", f.Cells[i], base))
		}
	}
	if text := p.bytesWords(i); text != "" {
		all = append(all, text)
	}
	if len(all) == 0 {
		all = append(all, "no visible difference")
	}
	how := "same prompt"
	if way.Exact {
		how = "same request"
	}
	return fmt.Sprintf("Through %s, %s: %s.", way.Host, how, strings.Join(all, ", "))
}

// bytesWords returns a phrase if the arguments have equal values but different bytes, or "" otherwise.
func (p *Comparison) bytesWords(i int) string {
	other := false
	for n := range p.Sets {
		set := &p.Sets[n]
		c, b := set.Calls[i], set.Calls[p.Base]
		if c == nil || b == nil || set.argsHash(i) == 0 || set.argsHash(i) != set.argsHash(p.Base) {
			return ""
		}
		other = other || !bytes.Equal(c.Args(), b.Args())
	}
	if other {
		return "the arguments are equal but their bytes differ"
	}
	return ""
}
