package shrink

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolscope/stream/lazyregexp"
)

// wordKeys are the keys whose values are words of a protocol, and knownWords are such words under other keys.
var (
	wordKeys   = strings.Fields("type role object event_type")
	knownWords = lazyregexp.New(`^"(stop|length|tool_calls|tool_use|function_call|content_filter|end_turn|max_tokens|stop_sequence|refusal|pause_turn|error|completed|in_progress|incomplete|failed|cancelled|tool_call|complete|STOP|MAX_TOKENS|SAFETY|TOOL_CALL|COMPLETE|MALFORMED_FUNCTION_CALL)"$`)
)

// isProtocolWord reports whether a value is a word of a protocol, which other programs need.
func isProtocolWord(n *node, lit string) bool {
	return !isContent(n.path) && (slices.Contains(wordKeys, n.key) || (strings.HasSuffix(n.key, "eason") || n.key == "status" || n.key == "phase") && knownWords().MatchString(lit))
}

// simplifyTexts empties, shortens and replaces the texts and numbers in the draft.
func (r *reducer) simplifyTexts() (changed bool) {
	var texts, numbers []*node
	for _, e := range r.events {
		for _, n := range r.scalarsOf(e) {
			switch lit := r.textOf(n); {
			case n.kind == '1' && len(lit) > 1 && strings.IndexByte("-0123456789", lit[0]) >= 0 && !slices.Contains(e.numbers, n):
				numbers = append(numbers, n)
			case n.kind == plainText && strings.TrimSpace(lit) != "[DONE]", n.kind == '"' && len(lit) > 2 && nameLetter(n) == "" && !isProtocolWord(n, lit):
				texts = append(texts, n)
			}
		}
	}
	replace := func(list []*node, with func(*node) string) []*node {
		list, some := cutDown(list, func(_, cut []*node) bool {
			all := map[*node]string{}
			for _, n := range cut {
				if short := with(n); len(short) < len(r.textOf(n)) {
					all[n] = short
				}
			}
			return r.setTexts(all)
		})
		changed = changed || some
		return list
	}
	replace(numbers, func(*node) string { return "0" })
	texts = replace(texts, func(n *node) string { return quotedIf(n, "") })
	texts = replace(texts, func(n *node) string { return quotedIf(n, "x") })
	for _, n := range texts {
		changed = r.shortenText(n) || changed
	}
	return r.cutURLs() || changed
}

// quotedIf returns text, in quotes if the node is a JSON string.
func quotedIf(n *node, text string) string {
	if n.kind == '"' {
		return `"` + text + `"`
	}
	return text
}

// unquotedIn returns the text in a node without its quotes.
func unquotedIn(n *node, lit string) string {
	if n.kind == '"' {
		return lit[1 : len(lit)-1]
	}
	return lit
}

// shortenText removes the parts of a text: the members of JSON in it, from outside in, then single tokens. It then
// replaces words and numbers. If the text consists of several copies of one part, all copies are first changed in the
// same way.
func (r *reducer) shortenText(n *node) (changed bool) {
	text := unquotedIn(n, r.textOf(n))
	if text == "" {
		return false
	}
	if copies := len(text) / (strings.Index((text + text)[1:], text) + 1); copies > 1 {
		changed = r.shortenCopies(n, copies)
	}
	return r.shortenCopies(n, 1) || changed
}

// shortenCopies shortens a text that consists of several copies of one part. It changes all copies in the same way.
func (r *reducer) shortenCopies(n *node, copies int) (changed bool) {
	tokens := func() []string {
		text := unquotedIn(n, r.textOf(n))
		return textToken().FindAllString(text[:len(text)/copies], -1)
	}
	set := func(part string) bool {
		return r.setTexts(map[*node]string{n: quotedIf(n, strings.Repeat(part, copies))})
	}
	for depth := 1; r.err == nil; depth++ {
		pieces, deeper := membersAt(tokens(), depth)
		_, some := cutDown(pieces, func(kept, _ []string) bool { return set(joinMembers(kept)) })
		if changed = changed || some; !deeper {
			break
		}
	}
	_, some := cutDown(tokens(), func(kept, _ []string) bool { return set(strings.Join(kept, "")) })
	changed = changed || some
	list := tokens()
	var words []int
	for i, token := range list {
		if short := shortToken(token); short != token {
			words = append(words, i)
		}
	}
	_, some = cutDown(words, func(_, cut []int) bool {
		next := slices.Clone(list)
		for _, i := range cut {
			next[i] = shortToken(next[i])
		}
		if !set(strings.Join(next, "")) {
			return false
		}
		list = next
		return true
	})
	return changed || some
}

// textToken matches the tokens of a text: an escape, a word, a number, or a character.
var textToken = lazyregexp.New(`(?s)\\u[0-9a-fA-F]{4}|\\[^u]|\pL+|\pN+|.`)

// shortToken returns the shortest token of the same kind.
func shortToken(token string) string {
	switch {
	case token == "true", token == "false", token == "null", token == "x", token == "0":
	case token[0] >= '0' && token[0] <= '9':
		return "0"
	case token[0] >= 0x80 && len(token) == len("é") || len(token) > 1 && token[0] != '\\' || token[0] >= 'A' && token[0] <= 'Z' || token[0] >= 'a' && token[0] <= 'z':
		return "x"
	}
	return token
}

// membersAt divides tokens at the commas and brackets of one depth, as far as the text is JSON. It reports whether
// the text has deeper levels.
func membersAt(tokens []string, depth int) (pieces []string, deeper bool) {
	level, quoted, open := 0, false, ""
	flush := func() {
		if open != "" {
			pieces, open = append(pieces, open), ""
		}
	}
	for _, token := range tokens {
		switch {
		case token == `"` || token == `\"`:
			quoted = !quoted
		case quoted:
		case token == "{" || token == "[":
			level++
			deeper = deeper || level > depth
			if open += token; level == depth {
				flush()
			}
			continue
		case token == "}" || token == "]":
			if level == depth {
				flush()
			}
			level--
		case token == "," && level == depth:
			flush()
		}
		open += token
	}
	flush()
	return pieces, deeper
}

// joinMembers joins the pieces from membersAt. The first member after a bracket has no comma.
func joinMembers(pieces []string) (text string) {
	for _, p := range pieces {
		if strings.HasSuffix(text, "{") || strings.HasSuffix(text, "[") {
			p = strings.TrimPrefix(p, ",")
		}
		text += p
	}
	return text
}

var placeholder = lazyregexp.New(`^"[ctm][0-9]+"$`)

// nameLetter returns the first letter of the short form of an id, a name or a model. It returns "" for other values.
func nameLetter(n *node) string {
	switch {
	case isContent(n.path):
	case isIDKey(n.key):
		return "c"
	case n.key == "name":
		return "t"
	case n.key == "model" || n.key == "modelVersion":
		return "m"
	}
	return ""
}

// simplifyNames replaces ids, names and models with short ones. Equal values stay equal.
func (r *reducer) simplifyNames() (changed bool) {
	of, values := map[string][]*node{}, []string(nil)
	taken := map[string]bool{}
	letters := map[string]string{}
	for _, e := range r.events {
		for _, n := range r.scalarsOf(e) {
			if n.kind != '"' {
				continue
			}
			value := r.textOf(n)
			taken[value] = true
			if of[value] == nil {
				values = append(values, value)
			}
			of[value] = append(of[value], n)
			letters[value] = cmp.Or(letters[value], nameLetter(n))
		}
	}
	for _, value := range values {
		letter := letters[value]
		if letter == "" || placeholder().MatchString(value) || value == `""` {
			continue
		}
		short := ""
		for i := 0; short == "" || taken[short]; i++ {
			short = fmt.Sprintf(`"%s%d"`, letter, i)
		}
		all := map[*node]string{}
		for _, n := range of[value] {
			all[n] = short
		}
		if r.setTexts(all) {
			taken[short], changed = true, true
		}
	}
	return changed
}

// pathWord matches the parts of a URL's path that providers define.
var pathWord = lazyregexp.New(`^(v\d\w*|api|openai|chat|completions|messages|responses|models?|(model:)?\w*[gG]enerate\w*|converse(-stream)?|invoke(-with-response-stream)?|deployments|projects|locations|publishers|google|anthropic|mcp|realtime|backend-api|codex|)$`)

// cutURLs removes hosts, queries and names from URLs.
func (r *reducer) cutURLs() (changed bool) {
	for _, e := range r.events {
		if r.gone[e] || e.url == nil {
			continue
		}
		url, _, _ := strings.Cut(r.textOf(e.url), "?")
		scheme, rest, found := strings.Cut(url, "://")
		if !found {
			continue
		}
		_, path, _ := strings.Cut(rest, "/")
		words := strings.Split(path, "/")
		changed = r.setTexts(map[*node]string{e.url: scheme + "://localhost/" + path}) || changed
		for i, word := range words {
			name, method, _ := strings.Cut(word, ":")
			if !pathWord().MatchString(name) && name != "x" {
				words[i] = "x" + strings.TrimSuffix(":"+method, ":")
			}
		}
		changed = r.setTexts(map[*node]string{e.url: scheme + "://localhost/" + strings.Join(words, "/")}) || changed
	}
	return changed
}

// replaceContent replaces the texts that are still those of the original. It returns the number of texts that the
// condition needs. An event whose texts can't be replaced counts as one text.
func (r *reducer) replaceContent() (kept int) {
	records := r.draftRecords()
	other := readEvents(r.Placeholders(records))
	even, frozen := r.even, r.frozen
	r.load(records)
	r.even, r.frozen = even, frozen
	if len(other) != len(r.events) {
		return len(r.events)
	}
	instead := map[*node]*node{}
	var list []*node
	for i, e := range r.events {
		own, theirs := slices.Collect(e.eachNode), slices.Collect(other[i].eachNode)
		if len(own) != len(theirs) { // the texts have no counterparts
			kept++
			continue
		}
		for j, n := range own {
			if theirs[j].lit != n.lit || theirs[j].key != n.key {
				instead[n], list = theirs[j], append(list, n)
			}
		}
	}
	swap := func(nodes []*node, edits int) {
		for _, n := range nodes {
			m := instead[n]
			n.lit, m.lit, n.key, m.key = m.lit, n.lit, m.key, n.key
			n.in.edits += edits
		}
	}
	rest, _ := cutDown(list, func(_, cut []*node) bool {
		if swap(cut, 1); r.isTrue() {
			return true
		}
		swap(cut, -1)
		return false
	})
	return kept + len(rest)
}
