package aistudio

import (
	"bytes"

	"toolscope/stream"
)

// A frameShape is the kind of a frame. Framing removes the outer arrays, but a body may lack them. So
// the content of an array decides what it is.
type frameShape uint8

const (
	anOther frameShape = iota
	aChunk
	aCandidate // of a chunk that the framing mistook for the outer arrays
	anError
	aList   // of chunks, or of lists of chunks
	nothing // null, or an array of nulls, at any depth
)

// maxNesting is how many lists may enclose a chunk.
const maxNesting = 3

func shapeOf(v jsonNodes, lists int) frameShape {
	switch {
	case isError(v):
		return anError
	case isEmpty(v):
		return nothing
	case isBareCandidate(v):
		return aCandidate
	case isChunk(v):
		return aChunk
	case v.isArray() && lists > 0:
		return shapeOfList(v, lists)
	}
	return anOther
}

// shapeOfList returns the shape of an array: it is a list if it holds only chunks and errors.
func shapeOfList(v jsonNodes, lists int) frameShape {
	all := nothing
	for e := range v.elements() {
		switch shapeOf(e, lists-1) {
		case anOther:
			return anOther
		case nothing:
		default:
			all = aList
		}
	}
	return all
}

// isEmpty reports whether v is null, [], or an array of nulls.
func isEmpty(v jsonNodes) bool {
	for e := range v.elements() {
		if !e.isNull() {
			return false
		}
	}
	return v.isNull() || v.isArray()
}

// isError reports whether v is [code, message, …], a google.rpc.Status.
func isError(v jsonNodes) bool {
	code, ok := v.element(0).raw().Int()
	return ok && code > 0 && v.element(1).isString()
}

// isChunk reports whether v is a chunk: its first field is a list of candidates, or it has none, and
// neither an error nor another chunk follows.
func isChunk(v jsonNodes) bool {
	first := v.element(0)
	if hasCandidates(v) {
		return true
	}
	for e := range v.elements() {
		if isError(e) || hasCandidates(e) {
			return false
		}
	}
	isMessage := func(v jsonNodes) bool { return v.isNull() || v.isArray() }
	return v.len() > 1 && isMessage(first) && first.len() == 0 && isMessage(v.element(1)) && isMessage(v.element(2))
}

func hasCandidates(v jsonNodes) bool {
	for e := range v.element(0).elements() {
		if !isCandidate(e) {
			return false
		}
	}
	return v.element(0).len() > 0
}

// isCandidate reports whether v is [content, finishReason, …]; either may be missing.
func isCandidate(v jsonNodes) bool {
	content := v.element(0)
	switch {
	case !v.isArray() || !v.element(1).isNull() && !v.element(1).isNumber():
		return false
	case isEmpty(content):
		return v.element(1).isNumber()
	}
	return isContent(content)
}

// isBareCandidate distinguishes a candidate without content from a chunk without candidates.
func isBareCandidate(v jsonNodes) bool {
	return v.element(0).isNull() && v.element(1).isNumber() || v.element(0).isArray() && v.element(0).element(1).isString() && isCandidate(v)
}

// isContent reports whether v is [parts, role]. No known field is at index 0 of a part.
func isContent(v jsonNodes) bool {
	parts := v.element(0)
	if !v.isArray() || !parts.isArray() && !parts.isNull() || !v.element(1).isString() && !v.element(1).isNull() {
		return false
	}
	for e := range parts.elements() {
		if !e.isArray() || !e.element(0).isNull() {
			return false
		}
	}
	return v.len() > 0
}

// stripPrefix removes the prefix that Google's services put before a JSON text.
func stripPrefix(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte(stream.XSSI)); ok {
		return rest
	}
	return data
}
