package formats

import (
	"bytes"
	"slices"

	"toolscope/capture"
	"toolscope/stream/json"
)

// This file tells formats by the first bytes of a file.

// sniffKeys says whether a file begins with an object that has all these keys among its first ones.
func sniffKeys(first []byte, whole bool, keys ...string) capture.SniffResult {
	found := 0
	seen, open := topKeys(first)
	for _, k := range keys {
		if slices.Contains(seen, k) {
			found++
		}
	}
	switch {
	case found == len(keys):
		return capture.SniffResult{Is: capture.Yes}
	case open && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{Is: capture.No}
}

// topKeys are the keys of the object that first begins with, as far as they are there, and whether
// there may be more of them. It reads at most maxSniffKeys.
func topKeys(first []byte) (keys []string, open bool) {
	p := bytes.TrimLeft(first, " \t\r\n")
	if len(p) == 0 {
		return nil, true
	}
	if p[0] != '{' {
		return nil, false
	}
	for k := range json.Members(first) {
		if keys = append(keys, k); len(keys) >= maxSniffKeys || slices.Contains(providersKeys, k) {
			return keys, false
		}
	}
	return keys, json.ValueEnd(p) == len(p) && !isObject(p)
}

// providersKeys are keys of what a provider sends itself, which no log has at its top: it is not
// held back to see what else comes.
var providersKeys = []string{"candidates", "choices", "delta", "usageMetadata", "promptFeedback", "responseId", "modelVersion"}

// maxSniffKeys is how many keys of an object are looked at.
const maxSniffKeys = 64

// sniffAny says whether a file begins with an object that has at least three of these keys, the
// first of them or the second among them.
func sniffAny(first []byte, whole bool, keys ...string) capture.SniffResult {
	seen, open := topKeys(first)
	found := 0
	for _, k := range keys {
		if slices.Contains(seen, k) {
			found++
		}
	}
	switch {
	case found >= 3 && (slices.Contains(seen, keys[0]) || slices.Contains(seen, keys[1])):
		return capture.SniffResult{Is: capture.Yes}
	case open && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}
