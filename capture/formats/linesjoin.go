package formats

import "bytes"

// joiner joins the parts of a line that was cut by who keeps the log, and says so.
type joiner struct {
	kind  byte // of the parts that are held: k of Kubernetes, d of docker, 0 for none
	parts []byte
}

// dockerBegin is how docker begins a line, and dockerPart is the least size of one that it cut: it
// does so at 16 KiB, and a program may leave out the end of a line too.
const (
	dockerBegin = `{"log":"`
	dockerPart  = 16000
)

// join is the line, or nil where more of it comes. A part has no end of its own.
func (j *joiner) join(line []byte) []byte {
	if len(line) > 24 && line[10] == 'T' {
		if part, is, n := criPart(line); is {
			return j.criLine(line, part, n)
		}
	}
	if bytes.HasPrefix(line, []byte(dockerBegin)) && (j.kind == 'd' || len(line) > dockerPart) {
		return j.dockerLine(line)
	}
	return line
}

func (j *joiner) criLine(line []byte, part bool, n int) []byte {
	content := line[n:]
	if part {
		content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
	}
	switch {
	case part && len(j.parts)+len(line) <= lineLimit:
		j.kind = 'k'
		j.parts = append(j.parts, content...)
		return nil
	case j.kind != 'k':
		return line
	}
	whole := append(append(bytes.Clone(line[:n]), j.parts...), content...)
	j.kind, j.parts = 0, nil
	return whole
}

func (j *joiner) dockerLine(line []byte) []byte {
	value := line[len(dockerBegin)-1:]
	n := stringLen(value)
	if n == 0 {
		return line
	}
	inside := value[1 : n-1]
	if !bytes.HasSuffix(inside, []byte(`\n`)) && len(inside) > dockerPart && len(j.parts)+len(inside) <= lineLimit {
		j.kind = 'd'
		j.parts = append(j.parts, inside...)
		return nil
	}
	if j.kind != 'd' {
		return line
	}
	whole := append(append([]byte(dockerBegin), j.parts...), line[len(dockerBegin):]...)
	j.kind, j.parts = 0, nil
	return whole
}

// last is what is held when the log ends.
func (j *joiner) last() []byte {
	defer func() { j.kind, j.parts = 0, nil }()
	switch j.kind {
	case 'k':
		return j.parts
	case 'd':
		return append(append([]byte(dockerBegin), j.parts...), `"}`...)
	}
	return nil
}
