// Package suite tests libraries that turn a stream into tool calls. A [Case] is a stream with the outcomes that a
// library must, may and must not produce. [Case.JudgeAnswer] compares a library's [Answer] with them. The package does
// no I/O: package cli runs the libraries.
//
// A call is usable if a program would run it without a further check: its arguments are one JSON text, and
// neither the call nor the response is marked as failed. Only usable calls count, so a library may pass on
// broken arguments as text, but not as a repaired value.
package suite

import (
	"bytes"
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed suite.json cases
var files embed.FS

// Files returns the files of the suite: suite.json, and for each case a JSON file and its stream.
func Files() fs.FS { return files }

// A Case is a stream and the outcomes that are required, allowed or forbidden for it.
type Case struct {
	ID       string    `json:"id"` // PROTOCOL/NAME; it never changes
	Protocol string    `json:"protocol"`
	Stream   string    `json:"stream"` // name of the file with the response's body
	End      string    `json:"end"`    // how the body ends: "close" or, for a lost connection, "reset"
	Must     []Outcome `json:"must"`
	May      []Outcome `json:"may"`
	MustNot  []Outcome `json:"must_not"`
	Reason   string    `json:"reason"`
	Source   string    `json:"source"` // URL that supports the outcomes, or "practice"
	Tags     []string  `json:"tags"`
	Body     []byte    `json:"-"`
}

// These are the names of tags. The stream of a case with OffSpec breaks the rules of its protocol.
const (
	OffSpec = "off-spec"
	Cut     = "cut"
	Rare    = "rare"
)

// Practice is the source of a case that no document supports.
const Practice = "practice"

// Info is the content of suite.json.
type Info struct {
	Suite   int             `json:"suite"` // version of the file format
	Version string          `json:"version"`
	Tools   json.RawMessage `json:"tools"` // the tools that are called in the streams
}

// LoadCases returns all cases, sorted by ID.
func LoadCases() (info Info, all []*Case, err error) {
	text, err := files.ReadFile("suite.json")
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	if err != nil {
		return info, nil, err
	}
	names, err := fs.Glob(files, "cases/*/*.json")
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return info, nil, err
		}
		c := new(Case)
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(c); err != nil {
			return info, nil, fmt.Errorf("%s: %w", name, err)
		}
		if c.Body, err = files.ReadFile(path.Join(path.Dir(name), c.Stream)); err != nil {
			return info, nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Case) int { return strings.Compare(a.ID, b.ID) })
	return info, all, err
}

// HasTag reports whether the case has a given tag.
func (c *Case) HasTag(tag string) bool { return slices.Contains(c.Tags, tag) }

// SelectCases returns the cases that match a pattern in the list only and none in the list not. A pattern is a
// protocol, a tag, or an ID in which * stands for any text without a slash. If only is empty, all cases match it. A
// pattern that matches no case is an error.
func SelectCases(all []*Case, only, not []string) (chosen []*Case, err error) {
	for _, pattern := range slices.Concat(only, not) {
		if !slices.ContainsFunc(all, func(c *Case) bool { return c.matchesPattern(pattern) }) {
			return nil, fmt.Errorf("%s: no case matches\nuse a protocol, a tag (%s, %s, %s) or an ID, e.g. 'anthropic/*'", pattern, OffSpec, Cut, Rare)
		}
	}
	for _, c := range all {
		matches := func(pattern string) bool { return c.matchesPattern(pattern) }
		if (len(only) == 0 || slices.ContainsFunc(only, matches)) && !slices.ContainsFunc(not, matches) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

func (c *Case) matchesPattern(pattern string) bool {
	is, err := path.Match(pattern, c.ID)
	return err == nil && is || pattern == c.Protocol || c.HasTag(pattern)
}

// maxByteStream is the maximum size of a stream that is sent byte by byte.
const maxByteStream = 16 << 10

// Chunkings returns the ways to divide the stream into chunks: the whole stream at once, one event in each chunk, a
// chunk boundary in the middle of each event, and one byte in each chunk. A stream larger than maxByteStream is not
// divided into single bytes.
func (c *Case) Chunkings() []string {
	all := []string{"whole", "events", "half", "byte"}
	if len(c.Body) > maxByteStream {
		all = all[:3]
	}
	return all
}

// Chunks divides the stream in one of the ways that Chunkings returns.
func (c *Case) Chunks(chunking string) (chunks [][]byte) {
	if chunking == "whole" {
		return [][]byte{c.Body}
	}
	if chunking == "byte" {
		for i := range c.Body {
			chunks = append(chunks, c.Body[i:i+1])
		}
		return chunks
	}
	var carried []byte
	for rest := c.Body; len(rest) > 0; {
		n := c.eventLen(rest)
		event := rest[:n:n]
		rest = rest[n:]
		if chunking == "half" {
			half := len(event) / 2
			event, carried = slices.Concat(carried, event[:half]), event[half:]
		}
		if len(event) > 0 {
			chunks = append(chunks, event)
		}
	}
	if len(carried) > 0 {
		chunks = append(chunks, carried)
	}
	return chunks
}

// eventLen returns the length of the first event in p, including its end.
func (c *Case) eventLen(p []byte) int {
	ends := []string{"\n\n", "\r\n\r\n", "\r\r"}
	switch path.Ext(c.Stream) {
	case ".eventstream":
		if len(p) > 4 {
			return min(len(p), max(1, int(binary.BigEndian.Uint32(p))))
		}
		return len(p)
	case ".ndjson":
		ends = []string{"\n"}
	}
	first := len(p)
	for _, end := range ends {
		if i := bytes.Index(p, []byte(end)); i >= 0 {
			first = min(first, i+len(end))
		}
	}
	return first
}

// ContentType returns the media type of the stream.
func (c *Case) ContentType() string {
	return map[string]string{".sse": "text/event-stream", ".ndjson": "application/x-ndjson", ".eventstream": "application/vnd.amazon.eventstream"}[path.Ext(c.Stream)]
}
