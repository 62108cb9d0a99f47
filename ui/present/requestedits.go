package present

import (
	"slices"
	"strconv"

	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/stream/json"
)

// A RequestEdit is a difference between a request and the previous request of its conversation, or a run of messages
// that are the same.
type RequestEdit struct {
	Kind EditKind
	Name string // path of the field or message
	Text string
	At   int // offset in the body of the later request; -1 if the part is not in it
}

// EditKind is the kind of a difference between two requests.
type EditKind uint8

const (
	KeptPart EditKind = iota
	AlteredPart
	AddedPart
	RemovedPart
)

// messageLists are the keys of a request's messages.
var messageLists = []string{"messages", "input", "contents"}

// CompareRequests lists the differences between the bodies of two requests, in the order of the later one. It ignores
// differences in white space, in the order of fields, and in cache marks.
func CompareRequests(was, is json.Value) (edits []RequestEdit) {
	d := requestDiff{body: is}
	s := is.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key, now := string(s.Key()), s.Value()
		before := was.Get(key)
		switch lists := before.Kind() == '[' && now.Kind() == '['; {
		case lists && slices.Contains(messageLists, key):
			d.compareMessages(key, slices.Collect(before.Elements()), slices.Collect(now.Elements()))
		case lists && key == "tools":
			d.compareTools(before, now)
		default:
			d.addPair(key, before, now)
		}
	}
	s = was.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		if key, before := string(s.Key()), s.Value(); is.Get(key) == nil {
			d.addPair(key, before, nil)
		}
	}
	return d.edits
}

// requestDiff collects the differences between two requests.
type requestDiff struct {
	body  json.Value // of the later request
	edits []RequestEdit
}

// addEdit adds a difference. The parameter now is a value in the body of the later request, or nil.
func (d *requestDiff) addEdit(kind EditKind, name, text string, now json.Value) {
	at := -1
	if now != nil {
		at = cap(d.body) - cap(now)
	}
	d.edits = append(d.edits, RequestEdit{kind, name, text, at})
}

// addPair adds the difference between two values, one of which may be nil. Equal values add nothing.
func (d *requestDiff) addPair(name string, before, now json.Value) {
	switch words := providers.DescribeDifference(name, before, now); {
	case words == "":
	case before == nil:
		d.addEdit(AddedPart, name, partText(now), now)
	case now == nil:
		d.addEdit(RemovedPart, name, partText(before), nil)
	default:
		d.addEdit(AlteredPart, name, words, now)
	}
}

// partText describes a value: a message by its role and blocks, and other values by their first bytes.
func partText(v json.Value) string {
	if role := v.Get("role").Text(); role != "" {
		return role + "  " + messageText(v)
	}
	return blockText(v)
}

// compareMessages adds the differences between two lists of messages. The messages that are the same at the beginning
// of both lists are one row, and so are those that are the same at the end.
func (d *requestDiff) compareMessages(key string, before, now []json.Value) {
	same := func(a, b json.Value) bool { return providers.DescribeDifference(key, a, b) == "" }
	most := min(len(before), len(now))
	head, tail := 0, 0
	for head < most && same(before[head], now[head]) {
		head++
	}
	for tail < most-head && same(before[len(before)-1-tail], now[len(now)-1-tail]) {
		tail++
	}
	name := func(n int) string { return key + "[" + strconv.Itoa(n) + "]" }
	addKept := func(from, to int) {
		switch {
		case to == from+1:
			d.addEdit(KeptPart, name(from), "the same", now[from])
		case to > from:
			d.addEdit(KeptPart, name(from)+" to ["+strconv.Itoa(to-1)+"]", "the same", now[from])
		}
	}
	addKept(0, head)
	before, end := before[head:len(before)-tail], len(now)-tail
	for n := head; n < max(end, head+len(before)); n++ {
		var a, b json.Value
		if n-head < len(before) {
			a = before[n-head]
		}
		if n < end {
			b = now[n]
		}
		d.addPair(name(n), a, b)
	}
	addKept(end, len(now))
}

// compareTools adds the tools that were added, removed or changed. If only their order changed, it adds one
// difference for the whole list. Lists with entries without a name are compared as a whole.
func (d *requestDiff) compareTools(before, now json.Value) {
	old, tools, edits := conversation.DeclaredTools(before), conversation.DeclaredTools(now), len(d.edits)
	find := func(list []conversation.DeclaredTool, name string) json.Value {
		if i := slices.IndexFunc(list, func(t conversation.DeclaredTool) bool { return t.Name == name }); i >= 0 {
			return list[i].Raw
		}
		return nil
	}
	if find(old, "") != nil || find(tools, "") != nil {
		d.addPair("tools", before, now)
		return
	}
	for _, tool := range tools {
		if was := find(old, tool.Name); was != nil {
			d.addPair("tools."+tool.Name, was, tool.Raw)
		} else {
			d.addEdit(AddedPart, "tools."+tool.Name, "", tool.Raw)
		}
	}
	for _, tool := range old {
		if find(tools, tool.Name) == nil {
			d.addEdit(RemovedPart, "tools."+tool.Name, "", nil)
		}
	}
	if len(d.edits) == edits && providers.DescribeDifference("tools", before, now) != "" {
		d.addEdit(AlteredPart, "tools", "in another order", now)
	}
}
