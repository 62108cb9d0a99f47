package present

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/screen"
)

// A Refusal describes why a provider refused a request. It contains the provider's own words, the place in the
// request that these words name, and the origin of the block at that place. Unknown facts are empty.
type Refusal struct {
	Words  string       // the provider's own words
	Path   string       // path of the place in the request
	How    string       // how the place was found; "" if the provider sent the path as it is
	Byte   int          // offset of the place in the body; -1 if it is unknown
	Around []PlacedPart // the messages around the place
	Origin []OriginRow
	Since  string // the first request with the defect
	Again  string // how the client retried the request
}

// A PlacedPart briefly describes a message in a request, or a part of a message.
type PlacedPart struct {
	Number int
	Role   string
	Text   string
	Here   bool // the refusal is about this message or part
}

// An OriginRow describes a step in the history of the refused block: the model's call, the last request that
// differed, or the first request with the defect.
type OriginRow struct {
	Turn int32
	Call *stream.Call // the call that the model wrote; nil for a request
	Text string
}

// RefusalOf returns the facts about a refused request. The result ok is false if the request of the turn was
// not refused.
func RefusalOf(v *providers.View, t *stream.Turn) (r Refusal, ok bool) {
	x := v.Exchange(t.Exchange)
	if t.Refusal == nil || x == nil {
		return r, false
	}
	r = Refusal{Words: t.Failure, Path: t.Refusal.Path, Byte: -1}
	switch t.Refusal.Found {
	case stream.FoundJoined:
		r.How = "after messages with the same role are joined"
	case stream.FoundByID:
		r.How = "found by its id"
	}
	ids := t.Refusal.IDs
	if body := json.Value(x.RequestOf(t)); body != nil && r.Path != "" {
		if place := valueAtPath(body, r.Path); place != nil {
			r.Byte = cap(body) - cap(place)
			r.Around = partsAround(body, r.Path, place, ids)
			if id := blockID(place); id != "" && len(ids) == 0 {
				ids = []string{id}
			}
		}
	}
	for _, id := range ids {
		if r.addOrigin(v, t, id); len(r.Origin) > 0 {
			break
		}
	}
	if retry, ok := v.Retry(t); ok && retry.By != nil {
		r.Again = fmt.Sprintf("turn %d sends the same messages", retry.By.Number+1)
		if retry.By.Refusal != nil {
			r.Again += ": refused too"
		}
		if after := screen.Time(retry.After); !after.Empty() {
			r.Again += ", after " + after.String()
		}
	}
	return r, true
}

// valueAtPath returns the value at a path such as messages[5].content[0], or nil.
func valueAtPath(v json.Value, path string) json.Value {
	for _, step := range pathSteps(path) {
		if n, err := strconv.Atoi(step); err == nil {
			v = elementOf(v, n)
		} else {
			v = v.Get(step)
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// pathSteps splits a path into its keys and indexes.
func pathSteps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func elementOf(list json.Value, n int) json.Value {
	if list.Kind() != '[' {
		return nil
	}
	for v := range list.Elements() {
		if n--; n < 0 {
			return v
		}
	}
	return nil
}

// partsAround returns the message at a path, and the messages before and after it. The parameter place is the block
// that the path names. The list is nil if the path does not lead into a list.
func partsAround(body json.Value, path string, place json.Value, ids []string) (parts []PlacedPart) {
	steps := pathSteps(path)
	if len(steps) < 2 {
		return nil
	}
	list := body.Get(steps[0])
	at, err := strconv.Atoi(steps[1])
	if err != nil || list.Kind() != '[' {
		return nil
	}
	n := 0
	for m := range list.Elements() {
		if n > at+1 {
			break
		}
		if n >= at-1 {
			part := PlacedPart{Number: n, Role: m.Get("role").Text(), Here: n == at}
			switch named := blockWithID(m, ids); {
			case part.Here && len(steps) > 2:
				part.Text = blockText(place)
			case part.Here && named != nil:
				part.Text = blockText(named)
			default:
				part.Text = messageText(m)
			}
			parts = append(parts, part)
		}
		n++
	}
	return parts
}

// blockWithID returns the first block of a message that has one of the ids, or nil.
func blockWithID(m json.Value, ids []string) json.Value {
	for _, key := range blockLists {
		for block := range m.Get(key).Elements() {
			if slices.Contains(ids, blockID(block)) {
				return block
			}
		}
	}
	return nil
}

// blockLists are the keys of the blocks in a message.
var blockLists = []string{"content", "parts", "tool_calls"}

// maxBlockText is the maximum number of bytes of a block's text that are shown.
const maxBlockText = 120

// messageText describes a message by its blocks or its text.
func messageText(m json.Value) string {
	var blocks []string
	for _, key := range blockLists {
		if m.Get(key).Kind() != '[' {
			continue
		}
		for block := range m.Get(key).Elements() {
			if len(blocks) > 3 {
				break
			}
			blocks = append(blocks, blockText(block))
		}
	}
	if len(blocks) > 0 {
		return strings.Join(blocks, ", ")
	}
	return blockText(m)
}

// blockText describes a block in a message by its type, name and id, and the beginning of its text.
func blockText(v json.Value) string {
	if v.Kind() != '{' {
		return string(clipValue(v))
	}
	words := []string{}
	for _, key := range []string{"functionCall", "functionResponse", "toolUse", "toolResult", "function"} {
		if inner := v.Get(key); inner.Kind() == '{' {
			if key != "function" {
				words = append(words, key)
			}
			if id := v.Get("id").Text(); id != "" {
				words = append(words, id)
			}
			v = inner
		}
	}
	if kind := v.Get("type").Text(); kind != "text" && kind != "function" && kind != "" {
		words = append(words, kind)
	}
	for _, key := range []string{"name", "id", "tool_use_id", "call_id", "tool_call_id", "toolUseId"} {
		if text := v.Get(key).Text(); text != "" {
			words = append(words, screen.ElideMiddle(text))
		}
	}
	for _, key := range []string{"text", "thinking", "content", "output", "arguments", "input", "args", "response"} {
		if text := v.Get(key); text.IsPresent() && len(text) > 2 {
			words = append(words, string(clipValue(text)))
			break
		}
	}
	return strings.Join(words, " ")
}

// clipValue returns the beginning of a value.
func clipValue(v json.Value) []byte { return v[:min(len(v), maxBlockText)] }

// blockID returns the call id of a block, or "".
func blockID(v json.Value) string {
	for _, key := range []string{"tool_use_id", "call_id", "tool_call_id", "toolUseId", "id"} {
		if id := v.Get(key).Text(); id != "" {
			return id
		}
	}
	return ""
}

// Limits for the search for the origin of a block.
const (
	maxOriginTurns    = 4096 // turns that are searched for the call
	maxOriginRequests = 64   // earlier requests in the conversation that are checked
)

// addOrigin adds the call with the given id, the last earlier request that was different, and the first request with
// the defect.
func (r *Refusal) addOrigin(v *providers.View, t *stream.Turn, id string) {
	turns := v.Session().Turns
	for i := len(turns) - 1; i >= max(0, len(turns)-maxOriginTurns) && len(r.Origin) == 0; i-- {
		if turns[i].Number >= t.Number {
			continue
		}
		for _, c := range turns[i].Calls {
			if c.ID == id {
				r.Origin = append(r.Origin, OriginRow{turns[i].Number, c, id})
				break
			}
		}
	}
	now, known := carriedPair(v, t, id)
	if !known {
		return
	}
	first := t
	for range maxOriginRequests {
		if first.Request == nil || !first.Request.Change.Comparable {
			break
		}
		before := v.TurnOf(first.Request.Change.PreviousExchange)
		if before == nil || before.Number >= first.Number {
			break
		}
		was, known := carriedPair(v, before, id)
		if !known {
			break
		}
		if was == now {
			first = before
			continue
		}
		if was == (pairInRequest{}) && !now.isBroken() {
			break
		}
		r.Origin = append(r.Origin, OriginRow{Turn: before.Number, Text: "request: " + was.String()})
		if was.call && was.result && now.isBroken() {
			r.Since = fmt.Sprintf("From turn %d on, the call or its result is missing.", first.Number+1)
		}
		break
	}
	if len(r.Origin) > 0 {
		r.Origin = append(r.Origin, OriginRow{Turn: first.Number, Text: "request: " + now.String()})
	}
}

// pairInRequest reports whether a request contains a call, and whether it also contains the call's result.
type pairInRequest struct{ call, result bool }

// isBroken reports whether only the call or only the result is missing.
func (p pairInRequest) isBroken() bool { return p.call != p.result }

func (p pairInRequest) String() string {
	switch {
	case p.call && p.result:
		return "the call and its result are there"
	case p.call:
		return "only the call is there"
	case p.result:
		return "only the result is there"
	}
	return "neither the call nor its result is there"
}

// carriedPair reports whether the request of a turn contains a call and its result. The result known is false
// if the request can't be read.
func carriedPair(v *providers.View, t *stream.Turn, id string) (p pairInRequest, known bool) {
	x := v.Exchange(t.Exchange)
	if x == nil || x.Evicted {
		return p, false
	}
	messages, _ := x.History()
	for i := range messages {
		p.call = p.call || hasPart(messages[i].Parts, protocol.CallPart, id)
		p.result = p.result || hasPart(messages[i].Parts, protocol.ResultPart, id)
	}
	return p, messages != nil
}

func hasPart(parts []protocol.Part, kind protocol.PartKind, id string) bool {
	return slices.ContainsFunc(parts, func(p protocol.Part) bool { return p.Kind == kind && p.ID == id })
}
