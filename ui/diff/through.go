package diff

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
)

// Request is what is known of a turn's request: enough to tell whether another is the same but for
// where it goes.
type Request struct {
	Host  string
	Model string // that it asks for
	Body  []byte
	Asks  uint64
}

// RequestOf is that of an exchange.
func RequestOf(v *providers.View, x *providers.Exchange) Request {
	if x == nil || x.Request.Size() == 0 {
		return Request{}
	}
	return Request{HostOf(x), v.RequestedModel(x.Number), x.RequestBody(), x.PromptHash()}
}

// SameRequest is that the same went two ways, to two hosts.
type SameRequest struct {
	Host  string // of the one that is no base
	Exact bool   // the requests are the same but for host, ids, and the vendor before the model
}

// SameElsewhere reports whether a request is another one that went another way: the same model was asked
// the same at another host.
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

// bareModel is a model without its vendor, and without what a router puts behind it.
func bareModel(model string) string {
	at := strings.LastIndexByte(model, '/')
	if model = strings.ToLower(model[at+1:]); at >= 0 {
		model, _, _ = strings.Cut(model, ":")
	}
	return model
}

func requestTree(body []byte) tree {
	t := tree{text: body}
	var lex stream.Lexer
	lex.Write(body)
	lex.Close()
	if toks := lex.Tokens(); toks.Len() <= maxTokens {
		b := treeBuilder{tree: &t, toks: toks}
		b.buildTree()
	}
	return t
}

// isID are the members that name things for one conversation or one user alone.
var isID = map[string]bool{
	"id": true, "call_id": true, "tool_call_id": true, "tool_use_id": true, "item_id": true, "request_id": true,
	"session_id": true, "user": true, "user_id": true, "prompt_cache_key": true, "safety_identifier": true,
}

// requestHash is a hash of a request without ids, and without its model.
func (t *tree) requestHash(n int32, top bool) uint64 {
	at := &t.nodes[n]
	if at.kind != stream.ObjectOpen && at.kind != stream.ArrayOpen {
		return t.valueHash(n)
	}
	all := uint64(at.kind) + 14695981039346656037
	for i, k := range at.children {
		name := t.nodes[k].name
		if at.kind == stream.ArrayOpen {
			name = strconv.Itoa(i)
		} else if isID[name] || top && name == "model" {
			continue
		}
		all += hashPair(name, t.requestHash(k, false))
	}
	return all
}

// Fact is something about how the answers came, as each side has it.
type Fact struct {
	Name  string
	Cells []string
	Marks []Relation
}

// WireFacts is what two ways may change of the same answer: the form of ids, the bytes of arguments, the
// pieces they come in, the finish word, the counts of tokens. It says what was seen, never who did
// it.
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

// idForm is how the id of a side's first call is made: what stands before its first digit or
// capital, and how long it is.
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

// argBytes are how many bytes of arguments came; that they are the same ones is told by Exactly.
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
			return name + " not told"
		}
		return name + " " + strconv.FormatInt(n.N, 10)
	}
	return word("in", t.Usage.Input) + ", " + word("out", t.Usage.Output)
}

// ChangeSentence says, in words, what came otherwise over another way.
func (p *Comparison) ChangeSentence(i int, way SameRequest, facts []Fact) string {
	var all []string
	for _, f := range facts {
		base := f.Cells[p.Base]
		switch {
		case f.Marks[i] == Absent:
			all = append(all, "there is no "+f.Name)
		case f.Marks[i] != Differs:
		case f.Name == "id":
			all = append(all, fmt.Sprintf("the id is another: %s for %s", f.Cells[i], base))
		case f.Name == "pieces":
			all = append(all, fmt.Sprintf("arguments come in %s pieces for %s", f.Cells[i], base))
		case f.Name == "finish":
			all = append(all, fmt.Sprintf("the finish word is %s for %s", f.Cells[i], base))
		case f.Name == "usage" && base != "":
			all = append(all, fmt.Sprintf("usage is %s for %s", f.Cells[i], base))
		}
	}
	if text := p.bytesWords(i); text != "" {
		all = append(all, text)
	}
	if len(all) == 0 {
		all = append(all, "nothing seen here is another")
	}
	how := "asked the same"
	if way.Exact {
		how = "the same request"
	}
	return fmt.Sprintf("Through %s, %s: %s.", way.Host, how, strings.Join(all, ", "))
}

// bytesWords says whether arguments that say the same are the same bytes.
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
		return "the arguments say the same in other bytes"
	}
	return ""
}
