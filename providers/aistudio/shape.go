package aistudio

import (
	"bytes"

	"toolscope/stream"
)

// A shape is what a frame can be. Framing takes the outer arrays off, but a body may have them or
// not, so what an array is must be told by what is in it.
type shape uint8

const (
	anOther shape = iota
	aChunk
	aCandidate // of a chunk that was taken for the outer arrays
	anError
	aList   // of chunks, or of such lists
	nothing // null, or an array of nothing else, however deep
)

// nesting is how many lists may stand round a chunk.
const nesting = 3

func shapeOf(v value, lists int) shape {
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

// shapeOfList: chunks and errors, and nothing else, make a list.
func shapeOfList(v value, lists int) shape {
	all := nothing
	for e := range v.all() {
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

// isEmpty: null, [] and [null,null].
func isEmpty(v value) bool {
	for e := range v.all() {
		if !e.isNull() {
			return false
		}
	}
	return v.isNull() || v.isArray()
}

// isError: [code, message, …], a google.rpc.Status.
func isError(v value) bool {
	code, ok := v.at(0).raw().Int()
	return ok && code > 0 && v.at(1).isString()
}

// isChunk: the first field is a list of candidates, or there is none, and neither an error nor
// another chunk follows.
func isChunk(v value) bool {
	first := v.at(0)
	if hasCandidates(v) {
		return true
	}
	for e := range v.all() {
		if isError(e) || hasCandidates(e) {
			return false
		}
	}
	isMessage := func(v value) bool { return v.isNull() || v.isArray() }
	return v.len() > 1 && isMessage(first) && first.len() == 0 && isMessage(v.at(1)) && isMessage(v.at(2))
}

func hasCandidates(v value) bool {
	for e := range v.at(0).all() {
		if !isCandidate(e) {
			return false
		}
	}
	return v.at(0).len() > 0
}

// isCandidate: [content, finishReason, …], either of which may be missing.
func isCandidate(v value) bool {
	content := v.at(0)
	switch {
	case !v.isArray() || !v.at(1).isNull() && !v.at(1).isNumber():
		return false
	case isEmpty(content):
		return v.at(1).isNumber()
	}
	return isContent(content)
}

// isBareCandidate tells a candidate without content from a chunk without candidates.
func isBareCandidate(v value) bool {
	return v.at(0).isNull() && v.at(1).isNumber() || v.at(0).isArray() && v.at(0).at(1).isString() && isCandidate(v)
}

// isContent: [parts, role]. Nothing is known to stand at index 0 of a part.
func isContent(v value) bool {
	parts := v.at(0)
	if !v.isArray() || !parts.isArray() && !parts.isNull() || !v.at(1).isString() && !v.at(1).isNull() {
		return false
	}
	for e := range parts.all() {
		if !e.isArray() || !e.at(0).isNull() {
			return false
		}
	}
	return v.len() > 0
}

// stripPrefix removes what Google's services put before a JSON text.
func stripPrefix(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte(stream.XSSI)); ok {
		return rest
	}
	return data
}
