package report

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"toolscope/stream/jsonbytes"
)

// A walker puts stand-ins in place of what a JSON text says, and leaves how it says it: its
// structure, where it ends, what is wrong with it, and the words of the protocol.
type walker struct {
	names  *node
	pieces []Piece         // of the frame; those that were met are gone
	models map[string]bool // those that everybody knows
}

// A level is a container that is open.
type level struct {
	object bool
	name   bool   // a name comes next
	key    string // the name of the value that comes next
	values bool   // what is in it is somebody's values, not the protocol's
}

// wordly are the members whose values are words of protocols, if they look like words.
var wordly = setOf(`type role object finish_reason finishReason native_finish_reason stop_reason stopReason status phase service_tier
	event event_type subtype done_reason code reason kind mode language modality outcome mimeType mime_type media_type effort verbosity truncation
	blockReason category probability format op provider executor interactionStatus traffic_type trafficType`)

// argumentative are the members that hold the arguments of calls, or other values of somebody.
var argumentative = setOf(`input args arguments parameters tools properties metadata structured_output snapshot state result response_schema
	functionResponse schema json`)

// reporting are the members whose texts may hold JSON of the protocol.
var reporting = setOf(`failed_generation message raw error body bytes`)

// textual are the members that hold running text, or pieces of it: of such a text any part has the
// stand-in that is a part of the text's.
var textual = setOf(`delta diff patch command commands cmd code text content thinking reasoning reasoning_content summary refusal transcript
	output_text input stringValue`)

// spelled are the members that hold arguments as a text.
var spelled = setOf(`arguments args partial_json argsTextDelta inputTextDelta`)

// timely are the members that hold times.
var timely = setOf(`created created_at createdAt completed_at expires_at timestamp createTime updated_at updated`)

// bare are words that are JSON, or what is taken for it.
var bare = setOf(`true false null NaN Infinity undefined True False None DONE`)

// public are a tool that nobody declares, and what it is called with.
var public = setOf(`multi_tool_use.parallel parallel tool_uses recipient_name parameters`)

// speakers are words that protocols without names use.
var speakers = setOf(`model user assistant system tool`)

// beginnings are what ids begin with, which tells whose they are and nothing else.
var beginnings = regexp.MustCompile(`^(toolu_|srvtoolu_|call_|msg_|resp_|fc_|rs_|ws_|fs_|ci_|ig_|ctc_|mcpl?_|mcpr_|lsh_|sh_|apc_|tsc_|tso_|req_|chatcmpl-(tool-)?|gen-|run_|item_|functions\.)`)

var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:/+-]{0,63}$`)

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(list) {
		set[name] = true
	}
	return set
}

// walk replaces what the text p says; values: it is somebody's, all of it.
func (w *walker) walk(p []byte, values bool) {
	stack := []level{{values: values}}
	for n := 0; n < len(p); {
		top := &stack[len(stack)-1]
		switch c := p[n]; {
		case c == '"':
			size, closed := jsonbytes.StringEnd(p[n:])
			if i := bytes.IndexAny(p[n:n+size], "\r\n"); i >= 0 && !closed {
				size = i
			}
			w.str(p[n:n+size], closed, top)
			n += size
			continue
		case c == '{' || c == '[':
			inner := level{object: c == '{', name: c == '{', values: top.values || argumentative[top.key] && top.object}
			if c == '[' {
				inner.key = top.key
			}
			stack = append(stack, inner)
		case c == '}' || c == ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case c == ',':
			top.name = top.object
		case c == ':':
			top.name = false
		case isWord(c):
			size := 1
			for n+size < len(p) && (isWord(p[n+size]) || p[n+size] == '.' || p[n+size] == '+' || p[n+size] == '-') {
				size++
			}
			w.bare(p[n:n+size], top)
			n += size
			continue
		case c >= 0x80:
			size := 1
			for n+size < len(p) && p[n+size] >= 0x80 {
				size++
			}
			replaceText(p[n : n+size])
			n += size
			continue
		}
		n++
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// bare replaces what stands there without quotes.
func (w *walker) bare(p []byte, in *level) {
	isNumber := p[0] >= '0' && p[0] <= '9'
	switch {
	case bare[string(p)]:
	case !isNumber:
		replaceText(p)
	case in.values, timely[in.key], !in.object && bytes.Trim(p, "0123456789") == nil && len(p) > 3, !in.object && bytes.ContainsAny(p, ".e"):
		replaceNumber(p)
	}
}

// replaceNumber keeps how long a number is, where it has its point, and its exponent.
func replaceNumber(p []byte) {
	for i, c := range p {
		switch {
		case c == 'e' || c == 'E':
			return
		case i == 0 && c == '0':
		case c >= '0' && c <= '9':
			p[i] = '1'
		}
	}
}

// str replaces a string; in is what it stands in.
func (w *walker) str(p []byte, closed bool, in *level) {
	inside := p[1:]
	if closed {
		inside = p[1 : len(p)-1]
	}
	text := string(jsonbytes.AppendUnquoted(nil, inside))
	if in.object && in.name {
		in.key = text
		if in.values && !public[text] || !word.MatchString(text) {
			replace(inside, &branch{at: w.names})
		}
		return
	}
	w.value(inside, text, in)
}

// value replaces the inside of a string that is a value.
func (w *walker) value(inside []byte, text string, in *level) {
	if i := slices.IndexFunc(w.pieces, func(piece Piece) bool { return piece.Text == text }); i >= 0 && text != "" && !in.values && in.key != "id" && in.key != "name" {
		respell(inside, []byte(w.pieces[i].Stand))
		w.pieces = slices.Delete(w.pieces, i, i+1)
		return
	}
	if public[text] {
		return
	}
	begins := strings.TrimLeft(text, " \n\t")
	switch {
	case in.key == "bytes" && w.coded(inside, text):
	case in.key == "jsonPath":
		w.segments(inside)
	case !in.values && wordly[in.key] && word.MatchString(text):
	case !in.object && speakers[text]:
	case (in.key == "model" || in.key == "modelVersion" || in.key == "model_name") && w.models[text]:
	case strings.HasPrefix(begins, "{"), strings.HasPrefix(begins, "["), in.values && strings.HasPrefix(begins, `"`):
		stand := []byte(text)
		w.walk(stand, in.values || !reporting[in.key])
		respell(inside, stand)
	case !in.values && spelled[in.key]:
		stand := []byte(text)
		w.walk(stand, true)
		respell(inside, stand)
	case textual[in.key]:
		replaceText(inside)
	case in.values, len(text) <= mostBranch && !strings.ContainsAny(text, " \n\t"):
		replace(inside[len(beginnings.FindString(string(inside))):], &branch{at: w.names})
	default:
		replaceText(inside)
	}
}

// segments replaces the names in a path of JSON.
func (w *walker) segments(p []byte) {
	for len(p) > 0 {
		n := bytes.IndexAny(p, "$.[]'\"\\")
		if n < 0 {
			n = len(p)
		}
		if _, isIndex := digits(p[:n]); !isIndex {
			replace(p[:n], &branch{at: w.names})
		}
		p = p[min(n+1, len(p)):]
	}
}

func digits(p []byte) (n int, only bool) {
	for n < len(p) && p[n] >= '0' && p[n] <= '9' {
		n++
	}
	return n, n == len(p)
}

// coded replaces JSON of the protocol in base64.
func (w *walker) coded(inside []byte, text string) bool {
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(text) != len(inside) {
		return false
	}
	w.walk(plain, false)
	base64.StdEncoding.Encode(inside, plain)
	return true
}
