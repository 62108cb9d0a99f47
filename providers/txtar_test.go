package providers

import (
	"bytes"
	"strings"
)

// An archive is a text file with named sections. It begins with prose. Each section has a line "-- name --",
// followed by its content up to the next such line.
type archive struct {
	prose    string
	sections []section
}

type section struct{ name, text string }

func parseArchive(data []byte) (a archive) {
	text := &a.prose
	for line := range bytes.Lines(data) {
		if name, ok := sectionName(string(line)); ok {
			a.sections = append(a.sections, section{name: name})
			text = &a.sections[len(a.sections)-1].text
			continue
		}
		*text += string(line)
	}
	return a
}

func sectionName(line string) (name string, ok bool) {
	name, ok = strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, " --\n")
}

func (a archive) format() []byte {
	out := a.prose
	for _, s := range a.sections {
		out += "-- " + s.name + " --\n" + s.text
	}
	return []byte(out)
}

// section returns the text of the section with the given name.
func (a *archive) section(name string) string {
	for _, s := range a.sections {
		if s.name == name {
			return s.text
		}
	}
	return ""
}

// set replaces a section, or adds it.
func (a *archive) set(name, text string) {
	for i, s := range a.sections {
		if s.name == name {
			a.sections[i].text = text
			return
		}
	}
	a.sections = append(a.sections, section{name, text})
}
