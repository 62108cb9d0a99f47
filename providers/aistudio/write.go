package aistudio

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// protoStructWriter writes a JSON text as protobuf's STRUCT, the inverse of args.go.
type protoStructWriter struct {
	dst  []byte
	open []level
}

// level is an open object or array.
type level struct {
	list  bool
	elems int
}

// appendStruct appends the STRUCT of an object. If args are not an object, ok is false and nothing is
// appended. Keys, strings and numbers keep their spelling, and pairs their order. An empty object or
// array has no field, so its message is [].
func appendStruct(dst, args []byte) (_ []byte, ok bool) {
	var l stream.Lexer
	l.Write(args)
	l.Close()
	if l.Syntax() != stream.SyntaxObject {
		return dst, false
	}
	w := protoStructWriter{dst: dst}
	start := 0
	for _, t := range l.Tokens().All() {
		w.writeToken(t.Kind, args[start:t.End])
		start = int(t.End)
	}
	return w.dst, true
}

// nulls are the elements before the field of a VALUE, by the token that begins the value.
var nulls = map[stream.TokenKind]string{
	stream.Number: "null,", stream.String: "null,null,", stream.True: "null,null,null,", stream.False: "null,null,null,",
	stream.ObjectOpen: "null,null,null,null,", stream.ArrayOpen: "null,null,null,null,null,",
}

// leaves are the fields of literals; the enum for null has one value.
var leaves = map[stream.TokenKind]string{stream.Null: "0", stream.True: "1", stream.False: "0"}

func (w *protoStructWriter) writeToken(kind stream.TokenKind, text []byte) {
	switch kind {
	case stream.Key:
		w.beginElement()
		w.dst = append(append(append(w.dst, '['), text...), ',')
	case stream.ObjectOpen, stream.ArrayOpen:
		w.beginValue(kind)
		w.dst = append(w.dst, '[')
		w.open = append(w.open, level{list: kind == stream.ArrayOpen})
	case stream.ObjectClose, stream.ArrayClose:
		if w.open[len(w.open)-1].elems > 0 {
			w.dst = append(w.dst, ']')
		}
		w.dst = append(w.dst, ']')
		w.open = w.open[:len(w.open)-1]
		w.endValue()
	case stream.String, stream.Number, stream.True, stream.False, stream.Null:
		w.beginValue(kind)
		if leaf := leaves[kind]; leaf != "" {
			w.dst = append(w.dst, leaf...)
		} else {
			w.dst = append(w.dst, text...)
		}
		w.endValue()
	}
}

// beginElement begins a pair or an item. The first one begins the field that holds them.
func (w *protoStructWriter) beginElement() {
	in := &w.open[len(w.open)-1]
	if in.elems++; in.elems == 1 {
		w.dst = append(w.dst, '[')
	} else {
		w.dst = append(w.dst, ',')
	}
}

// beginValue begins a VALUE, unless it is the outermost STRUCT.
func (w *protoStructWriter) beginValue(kind stream.TokenKind) {
	if len(w.open) == 0 {
		return
	}
	if w.open[len(w.open)-1].list {
		w.beginElement()
	}
	w.dst = append(append(w.dst, '['), nulls[kind]...)
}

// endValue ends a VALUE, and the pair that holds it.
func (w *protoStructWriter) endValue() {
	switch n := len(w.open); {
	case n == 0:
	case w.open[n-1].list:
		w.dst = append(w.dst, ']')
	default:
		w.dst = append(w.dst, "]]"...)
	}
}

// positionalMessage holds the fields of a message to write. Fields after the last one that is set are left
// out.
type positionalMessage []protocol.Raw

func (p positionalMessage) appendTo(dst []byte) []byte {
	for len(p) > 0 && p[len(p)-1] == nil {
		p = p[:len(p)-1]
	}
	dst = append(dst, '[')
	for i, field := range p {
		if i > 0 {
			dst = append(dst, ',')
		}
		if field == nil {
			field = protocol.Raw("null")
		}
		dst = append(dst, field...)
	}
	return append(dst, ']')
}

func (p positionalMessage) raw() protocol.Raw { return p.appendTo(nil) }

// stringOrNil returns s as a JSON string, nil if s is empty.
func stringOrNil(s string) protocol.Raw {
	if s == "" {
		return nil
	}
	return protocol.AppendString(nil, []byte(s))
}

// exactText returns the exact text of an array that is JSON. For an array that leaves out nulls, it
// returns the text with them.
func exactText(v jsonNodes) protocol.Raw {
	if s := v.raw().Scan(); s.Value() != nil && s.End() == nil {
		return v.raw()
	}
	return fillNulls(v).raw()
}

func fillNulls(v jsonNodes) (fields positionalMessage) {
	for e := range v.elements() {
		if e.isArray() {
			fields = append(fields, fillNulls(e).raw())
		} else {
			fields = append(fields, e.raw())
		}
	}
	return fields
}
