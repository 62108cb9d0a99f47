package capture

import (
	"bytes"
	"encoding/json"
)

type kind int

const (
	undecided kind = iota
	bareBody
	ownCapture
	curlDump
)

const bom = "\ufeff"

// sniffKind returns the kind of an input that begins with p; whole means that nothing follows.
func sniffKind(p []byte, whole bool) kind {
	if len(p) < len(bom) && bytes.HasPrefix([]byte(bom), p) {
		return undecided
	}
	p = bytes.TrimPrefix(p, []byte(bom))
	if damagedBegin(p) {
		return ownCapture
	}
	if bytes.HasPrefix(p, []byte("{")) {
		return sniffCapture(p, whole)
	}
	return sniffDump(p)
}

// damagedBegin reports whether p is the beginning of a capture with one wrong byte.
func damagedBegin(p []byte) bool {
	const begin = `{"toolscope":`
	if len(p) < len(begin) {
		return false
	}
	wrong := 0
	for i := range len(begin) {
		if p[i] != begin[i] {
			wrong++
		}
	}
	return wrong == 1
}

// headerKeys are the keys of the first line of a capture, the usual first one first. A tool that rewrites
// JSON may have sorted them. A line with any other first key is not a capture, and that shows after a few
// bytes.
var headerKeys = [...]string{`"toolscope"`, `"created"`, `"by"`}

func sniffCapture(p []byte, whole bool) kind {
	line, _, complete := bytes.Cut(p, []byte("\n"))
	key := bytes.TrimLeft(line[1:], " \t")
	possible := false
	for i, k := range headerKeys {
		switch {
		case bytes.HasPrefix(key, []byte(k)):
			if i == 0 {
				return ownCapture
			}
			possible = true
		case !complete && bytes.HasPrefix([]byte(k), key):
			possible = true
		}
	}
	if possible && !complete && !whole {
		return undecided
	}
	var header struct {
		Version json.RawMessage `json:"toolscope"`
	}
	if possible && json.Unmarshal(line, &header) == nil && header.Version != nil {
		return ownCapture
	}
	return bareBody
}
