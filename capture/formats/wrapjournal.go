package formats

import (
	"bytes"
	"encoding/binary"

	"toolscope/stream/json"
)

// journal reads what journalctl -o export writes: a field a line, an empty line behind each entry.
// A field that is no text stands behind its length. Each entry is looked at as an object whose
// members are its fields would be.
type journal struct {
	fields []journalField
	name   []byte // of the field whose value comes, which is no text
	value  []byte
	want   int64 // bytes of it, and the line end behind it; -1 while that is not known
}

type journalField struct{ name, value []byte }

// maxFields is how many fields of an entry are kept.
const maxFields = 256

func beginsJournal(line []byte) bool {
	return bytes.HasPrefix(line, []byte("__CURSOR=")) || bytes.HasPrefix(line, []byte("__REALTIME_TIMESTAMP="))
}

// takeLine takes a line of the journal: of a value that is no text it may be any part.
func (j *journal) takeLine(r *lineReader, line []byte) {
	if j.name != nil {
		j.takeBinary(r, line)
		return
	}
	body := bytes.TrimRight(line, "\r\n")
	name, value, is := bytes.Cut(body, []byte("="))
	switch {
	case len(body) == 0:
		j.endEntry(r)
	case is:
		j.addField(bytes.Clone(name), bytes.Clone(value))
	default:
		j.name, j.value, j.want = bytes.Clone(body), j.value[:0], -1
	}
}

func (j *journal) addField(name, value []byte) {
	if len(j.fields) < maxFields {
		j.fields = append(j.fields, journalField{name, value})
	}
}

func (j *journal) takeBinary(r *lineReader, line []byte) {
	j.value = append(j.value, line...)
	if j.want < 0 && len(j.value) >= 8 {
		size := binary.LittleEndian.Uint64(j.value)
		if size > maxLineBytes {
			r.addNote("a field of a journal entry has a length above the limit", true)
			j.name = nil
			return
		}
		j.want = int64(size) + 9
	}
	if j.want < 0 || int64(len(j.value)) < j.want {
		return
	}
	j.addField(j.name, bytes.Clone(j.value[8:j.want-1]))
	j.name = nil
	if rest := bytes.Clone(j.value[j.want:]); len(rest) > 0 {
		j.takeLine(r, rest)
	}
}

// endEntry looks at an entry that is complete.
func (j *journal) endEntry(r *lineReader) {
	r.raw = nil
	if len(j.fields) == 0 {
		return
	}
	finds := r.unwrapper.unwrapEntry(j.fields)
	if !r.flows.takeFound(finds) {
		var message []byte
		for _, f := range j.fields {
			if string(f.name) == "MESSAGE" {
				message = f.value
			}
		}
		r.others.addLine(1, message)
	}
	clear(j.fields)
	j.fields = j.fields[:0]
}

// unwrapEntry looks for payloads in the message of a journal's entry.
func (p *unwrapper) unwrapEntry(fields []journalField) []payload {
	p.lines++
	p.reset()
	p.push("journald export", nil, nil, nil)
	var message []byte
	for _, f := range fields {
		switch {
		case string(f.name) == "MESSAGE":
			message = f.value
		case isTimeName(f.name):
			p.noteTimestamp(f.value)
		case len(f.value) <= maxKeyBytes && len(p.keys) < maxKeysOfLine:
			p.addKey(hashOf(p.hash(), f.name), f.name, f.value)
		}
	}
	p.push("", []byte("MESSAGE"), []byte("MESSAGE="), nil)
	if !p.searchLogLine(message) {
		if known := p.paths[p.hash()]; known != nil {
			p.addRestOf(known, message)
		}
	}
	return p.payloads
}

// unwrapValue looks for payloads in a JSON text.
func (p *unwrapper) unwrapValue(text []byte) []payload {
	p.lines++
	p.reset()
	from := 0
	for from < len(text) && (text[from] == ' ' || text[from] == '\n' || text[from] == '\r' || text[from] == '\t') {
		from++
	}
	n, whole := json.ValueLen(text[from:])
	p.searchValue(text[from:from+n:from+n], whole)
	return p.payloads
}

// searchLogLine looks for payloads in a text as in a line of a log, what stands where payloads stand included.
func (p *unwrapper) searchLogLine(t []byte) bool { return p.searchText(t) || p.addRest(t) }
