package formats

import "bytes"

// lineJoiner joins the parts of a line that a log driver cut: one of docker or Kubernetes.
type lineJoiner struct {
	kind  byte // of the parts that are held: k of Kubernetes, d of docker, 0 for none
	parts []byte
}

// dockerBegin is how docker begins a line. minDockerPart is the minimum size of a line that it cut: it
// cuts at 16 KiB, and a program may leave out the end of a line too.
const (
	dockerBegin   = `{"log":"`
	minDockerPart = 16000
)

// addLine is the line, or nil where more of it comes. A part has no end of its own.
func (j *lineJoiner) addLine(line []byte) []byte {
	if len(line) > 24 && line[10] == 'T' {
		if part, is, n := criPart(line); is {
			return j.criLine(line, part, n)
		}
	}
	if bytes.HasPrefix(line, []byte(dockerBegin)) && (j.kind == 'd' || len(line) > minDockerPart) {
		return j.dockerLine(line)
	}
	return line
}

func (j *lineJoiner) criLine(line []byte, part bool, n int) []byte {
	content := line[n:]
	if part {
		content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
	}
	switch {
	case part && len(j.parts)+len(line) <= maxLineBytes:
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

func (j *lineJoiner) dockerLine(line []byte) []byte {
	value := line[len(dockerBegin)-1:]
	n := stringLen(value)
	if n == 0 {
		return line
	}
	inside := value[1 : n-1]
	if !bytes.HasSuffix(inside, []byte(`\n`)) && len(inside) > minDockerPart && len(j.parts)+len(inside) <= maxLineBytes {
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

// lastLine is what is held when the log ends.
func (j *lineJoiner) lastLine() []byte {
	defer func() { j.kind, j.parts = 0, nil }()
	switch j.kind {
	case 'k':
		return j.parts
	case 'd':
		return append(append([]byte(dockerBegin), j.parts...), `"}`...)
	}
	return nil
}
