package diff

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/stream/json"
)

// ComparedTurn is a turn that is compared, or an exchange whose turn has not opened yet.
type ComparedTurn struct {
	Exchange int
	Turn     stream.Ref // NoRef if the turn has not opened or was not looked up
}

// Reason says why turns are compared.
type Reason uint8

const (
	Marked    Reason = iota // the user marked them
	Asked                   // they have the same prompt
	Neighbour               // they are near each other and call the same tool
)

// maxAround is the number of exchanges or turns that are searched before and after the selected turn.
const maxAround = 64

// maxNeighbours is the maximum number of turns that are compared only because they call the same tool.
const maxNeighbours = 4

// ChooseTurns returns the turns to compare. These are the marked turns, or else the turns with the selected turn's
// prompt, or else nearby turns that call the same tool. The selected turn is always included. If it returns fewer
// than two turns, there is nothing to compare.
func ChooseTurns(v *providers.View, chosen stream.Ref, marked []stream.Ref) (places []ComparedTurn, why Reason, tool string) {
	own, call := v.Find(chosen)
	for _, r := range marked {
		if t, _ := v.Find(r); t != nil {
			places = append(places, ComparedTurn{t.Exchange, t.Ref()})
		}
	}
	if len(places) > 0 && own != nil && !slices.ContainsFunc(places, func(p ComparedTurn) bool { return p.Turn == own.Ref() }) {
		places = append(places, ComparedTurn{own.Exchange, own.Ref()})
	}
	if len(places) > 1 {
		return places, Marked, ""
	}
	if places = sameRequestTurns(v, own); len(places) > 1 || own == nil {
		return places, Asked, ""
	}
	if call == nil && len(own.Calls) > 0 {
		call = own.Calls[0]
	}
	if call != nil {
		tool = call.Name
	}
	return nearbyTurns(v, own, tool), Neighbour, tool
}

// sameRequestTurns returns the exchanges whose prompt equals the prompt of own's exchange, in order and including
// that exchange. If own is nil, it uses the prompt of the last exchange. It returns nil if the prompt is unknown.
func sameRequestTurns(v *providers.View, own *stream.Turn) (all []ComparedTurn) {
	list := v.Exchanges()
	at := len(list) - 1
	if own != nil {
		at = slices.IndexFunc(list, func(x *providers.Exchange) bool { return x.Number == own.Exchange })
	}
	if at < 0 {
		return nil
	}
	asks := list[at].PromptHash()
	if asks == 0 {
		return nil
	}
	for i := max(0, at-maxAround); i < min(len(list), at+maxAround+1); i++ {
		x := list[i]
		if i != at && (!x.MaySharePrompt(list[at]) || x.PromptHash() != asks) {
			continue
		}
		p := ComparedTurn{x.Number, stream.NoRef}
		if i == at && own != nil {
			p.Turn = own.Ref()
		}
		all = append(all, p)
	}
	return all
}

// nearbyTurns returns own and the turns nearest to it that call the tool, in order. It returns nil if own is
// not in the session or tool is "".
func nearbyTurns(v *providers.View, own *stream.Turn, tool string) []ComparedTurn {
	turns := v.Session().Turns
	at := slices.Index(turns, own)
	if at < 0 || tool == "" {
		return nil
	}
	near := []int{at}
	for d := 1; d <= maxAround && len(near) < maxNeighbours; d++ {
		for _, i := range []int{at - d, at + d} {
			if i >= 0 && i < len(turns) && len(near) < maxNeighbours && slices.ContainsFunc(turns[i].Calls, func(c *stream.Call) bool { return c.Name == tool }) {
				near = append(near, i)
			}
		}
	}
	slices.Sort(near)
	all := make([]ComparedTurn, len(near))
	for i, n := range near {
		all[i] = ComparedTurn{turns[n].Exchange, turns[n].Ref()}
	}
	return all
}

// ColumnNames returns names for the turns. It tries models, hosts, files and numbers in this order, and uses the
// first kind of name that differs for all turns.
func ColumnNames(v *providers.View, places []ComparedTurn, short func(model string) string) []string {
	return DistinctNames(len(places),
		func(i int) string { return short(modelOf(v, places[i])) },
		func(i int) string { // the file of a request that toolscope sent begins with toolscope's own name for the host
			x := v.Exchange(places[i].Exchange)
			if x == nil || x.Head.URL == "" {
				return ""
			}
			name, _, _ := strings.Cut(x.Head.File, "/")
			if _, err := host.Find(name); err == nil {
				return name
			}
			return HostOf(x)
		},
		func(i int) string {
			if x := v.Exchange(places[i].Exchange); x != nil && x.Head.File != "" {
				return path.Base(x.Head.File)
			}
			return ""
		},
		func(i int) string {
			if t, _ := v.Find(places[i].Turn); t != nil {
				return strings.TrimSpace(short(modelOf(v, places[i])) + " #" + strconv.Itoa(int(t.Number)+1))
			}
			return "exchange " + strconv.Itoa(places[i].Exchange)
		})
}

// DistinctNames returns names for n items. It uses the first of the given functions that returns a different,
// non-empty name for each item, or else the last function.
func DistinctNames(n int, ways ...func(i int) string) (names []string) {
	for _, way := range ways {
		names = make([]string, n)
		count := map[string]int{}
		for i := range names {
			names[i] = way(i)
			count[names[i]]++
		}
		if len(count) == n && count[""] == 0 {
			break
		}
	}
	return names
}

// modelOf returns the model of a turn, or the model that its request names.
func modelOf(v *providers.View, p ComparedTurn) string {
	if t, _ := v.Find(p.Turn); t != nil && t.Model != "" {
		return t.Model
	}
	return v.RequestedModel(p.Exchange)
}

// HostOf returns the host in an exchange's URL, or "" if it is unknown.
func HostOf(x *providers.Exchange) string {
	if x == nil {
		return ""
	}
	_, rest, ok := strings.Cut(x.Head.URL, "://")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// NamedCall contains the facts about a call by which Align matches it.
type NamedCall struct {
	Name string
	Sum  uint64 // hash of the call's arguments; 0 until they are final, or if the hash is not needed
}

// Calls returns the calls of each turn and their NamedCalls. Discarded calls are left out. It computes a hash only if
// a turn has several calls with the same name.
func Calls(turns []*stream.Turn, sum func(*stream.Call) uint64) (lists [][]*stream.Call, named [][]NamedCall) {
	lists, named = make([][]*stream.Call, len(turns)), make([][]NamedCall, len(turns))
	several := map[string]bool{}
	for i, t := range turns {
		if t == nil {
			continue
		}
		count := map[string]int{}
		for _, c := range t.Calls {
			if c.Discarded {
				continue
			}
			count[c.Name]++
			several[c.Name] = several[c.Name] || count[c.Name] > 1
			lists[i] = append(lists[i], c)
		}
	}
	for i, list := range lists {
		for _, c := range list {
			n := NamedCall{Name: c.Name}
			if several[c.Name] {
				n.Sum = sum(c)
			}
			named[i] = append(named[i], n)
		}
	}
	return lists, named
}

// Align matches the calls of several turns, first by name and arguments, then by name and order. A set contains the
// index of each turn's call, or -1 if the turn has no such call. Sets are in the order of the base's calls. A call
// that the base lacks follows the call that precedes it in its own turn.
func Align(turns [][]NamedCall, base int) (sets [][]int) {
	a := callAligner{width: len(turns)}
	if base < len(turns) {
		a.addTurn(base, turns[base])
	}
	for i, calls := range turns {
		if i != base {
			a.addTurn(i, calls)
		}
	}
	return a.sets
}

type callAligner struct {
	width int
	sets  [][]int
	first []NamedCall // the first call of each set
}

// addTurn adds the calls of one turn to the sets.
func (a *callAligner) addTurn(turn int, calls []NamedCall) {
	at := make([]int, len(calls)) // index of each call's set, or -1
	for i := range at {
		at[i] = -1
	}
	for _, exact := range []bool{true, false} {
		for i, c := range calls {
			if at[i] >= 0 || exact && c.Sum == 0 {
				continue
			}
			at[i] = slices.IndexFunc(a.first, func(o NamedCall) bool { return o.Name == c.Name && (!exact || o.Sum == c.Sum) })
			for at[i] >= 0 && a.sets[at[i]][turn] >= 0 {
				more := slices.IndexFunc(a.first[at[i]+1:], func(o NamedCall) bool { return o.Name == c.Name && (!exact || o.Sum == c.Sum) })
				if more < 0 {
					at[i] = -1
					break
				}
				at[i] += 1 + more
			}
			if at[i] >= 0 {
				a.sets[at[i]][turn] = i
			}
		}
	}
	before := len(a.sets) - 1
	for i, c := range calls {
		if at[i] >= 0 {
			before = slices.IndexFunc(a.sets, func(set []int) bool { return set[turn] == i })
			continue
		}
		before++
		set := make([]int, a.width)
		for j := range set {
			set[j] = -1
		}
		set[turn] = i
		a.sets, a.first = slices.Insert(a.sets, before, set), slices.Insert(a.first, before, c)
	}
}

// CellFindings returns the findings inside a field in a call's arguments. Use it only for a field without
// rows for its own fields.
func CellFindings(c *stream.Call, cell *Cell) (all []stream.Finding) {
	if !cell.Has() {
		return nil
	}
	for _, f := range c.Findings {
		if at := f.Offset; at >= int(cell.Key) && at < int(cell.End) || at == int(cell.End) && (cell.Growing || cell.Cut || endsAt(c, at)) && at >= 0 {
			all = append(all, f)
		}
	}
	return all
}

// endsAt reports whether the token before the byte at is a number or a literal. Such a token has no closing byte,
// so only the next byte shows that it ended.
func endsAt(c *stream.Call, at int) bool {
	args := c.Args()
	return at > 0 && at < len(args) && strings.IndexByte("0123456789truefalsn", args[at-1]) >= 0
}

// BreaksSchema reports whether a finding says that a value breaks the tool's schema.
func BreaksSchema(f stream.Finding) bool {
	return strings.HasPrefix(f.Code, "SCHEMA_") && f.Severity > stream.Info
}

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
