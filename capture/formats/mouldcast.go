package formats

import (
	"bytes"
	"cmp"
	"slices"
)

// templateBuilder is what is known of a line, while it is peeled, that may become a mould.
type templateBuilder struct {
	texts    []builderText // that were looked into, from the line on
	free     []slot        // what may be otherwise in lines that are like it
	template *lineTemplate // of the payload that was found
	made     int
}

// builderText is a text that was looked into, and the string that it stood for in the text before it.
type builderText struct {
	text, literal []byte
	on            *payloadPath
}

// slot is a time that was read, or a value that says nothing.
type slot struct {
	text []byte
	is   slotKind
}

// start begins with a line.
func (c *templateBuilder) start(line []byte) {
	c.texts, c.free, c.template = append(c.texts[:0], builderText{text: line}), c.free[:0], nil
}

// build makes a mould of what is around a payload, if it is one for which that is worth it.
func (c *templateBuilder) build(f *payload) {
	c.template = nil
	usual := f.is == aChunk && !f.weak || f.is == anEvent
	if len(c.texts) == 0 || !usual || f.cut || f.quoted || f.scope != 0 || len(f.text) == 0 || len(c.texts) > maxTemplateLevels {
		return
	}
	m := &lineTemplate{on: f.on, keys: f.keys, value: !f.field, fine: f.stamp.fine}
	times := 0
	for i, t := range c.texts {
		inner := f.text
		if i+1 < len(c.texts) {
			inner = c.texts[i+1].literal
		}
		text := bytes.TrimRight(t.text, "\r\n")
		at := placeIn(text, inner)
		if at < 0 || bytes.IndexByte(text, '\n') >= 0 {
			return
		}
		l := templateLevel{quoted: t.on}
		l.head.parts = c.splitParts(text[:at], f.stamp.text, &times)
		l.tail.parts = c.splitParts(text[at+len(inner):], f.stamp.text, &times)
		m.levels = append(m.levels, l)
	}
	if !m.value && len(m.levels[len(m.levels)-1].tail.parts) > 0 || f.stamp.text != nil && times != 1 {
		return
	}
	c.template = m
}

// splitParts cuts a text at what is free in it, and counts in which that is the time of the line.
func (c *templateBuilder) splitParts(text, stamp []byte, times *int) (all []templatePart) {
	type place struct {
		slot
		at int
	}
	var free []place
	for _, f := range c.free {
		if at := placeIn(text, f.text); at >= 0 {
			free = append(free, place{f, at})
		}
	}
	slices.SortStableFunc(free, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	from := 0
	for _, f := range free {
		if f.at < from {
			continue
		}
		part := templatePart{bytes.Clone(text[from:f.at]), bytes.Clone(f.text), f.is}
		if len(stamp) > 0 && &stamp[0] == &f.text[0] && f.is == anyTime {
			part.is = lineTime
			*times++
		}
		all = append(all, part)
		from = f.at + len(f.text)
	}
	if from < len(text) {
		all = append(all, templatePart{same: bytes.Clone(text[from:])})
	}
	return all
}

// placeIn is where in a text a part of it stands, -1 if it is none.
func placeIn(text, part []byte) int {
	if len(part) == 0 {
		return -1
	}
	for i := range text {
		if &text[i] == &part[0] {
			if i+len(part) > len(text) {
				return -1
			}
			return i
		}
	}
	return -1
}

// keepTemplate keeps the mould of a line that had one payload.
func (p *unwrapper) keepTemplate() {
	m := p.builder.template
	if m == nil || len(p.payloads) != 1 || p.lines <= mouldAfter || p.builder.made >= maxTemplatesMade+p.served/8 {
		return
	}
	p.builder.made++
	if len(p.templates) == maxTemplates {
		p.templates = p.templates[:maxTemplates-1]
	}
	p.templates = slices.Insert(p.templates, 0, m)
}
