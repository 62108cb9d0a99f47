package capture

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// tagged is a log in which each line names the stream that the rest of the line belongs to. "." ends a stream.
var tagged = Format{Name: "tagged", New: func(in *Input) Reader {
	return &taggedReader{tags: &tags{in: in, open: map[string]int{}}}
}}

type tags struct {
	in   *Input
	open map[string]int
}

type taggedReader struct {
	*tags
	rest  []byte
	heirs bool
}

func (r *taggedReader) Write(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	r.rest = append(r.rest, p...)
	for {
		line, rest, ended := bytes.Cut(r.rest, []byte("\n"))
		if !ended {
			return recs, nil
		}
		recs, r.rest = r.line(recs, string(line), at), bytes.Clone(rest)
	}
}

func (r *taggedReader) line(recs []Record, line string, at time.Duration) []Record {
	tag, text, _ := strings.Cut(line, " ")
	x, begun := r.open[tag]
	if !begun {
		x = r.in.NextExchange()
		r.open[tag] = x
	}
	if text == "." {
		delete(r.open, tag)
		return append(recs, Record{Exchange: x, At: at, End: EndEOF})
	}
	return append(recs, Record{Exchange: x, At: at, Data: []byte(text)})
}

func (r *taggedReader) Close(recs []Record, end End, why string, at time.Duration) []Record {
	if len(r.rest) > 0 {
		recs = r.line(recs, string(r.rest)+"½", at)
		r.rest = nil
	}
	if !r.heirs {
		for tag, x := range r.open {
			recs = append(recs, Record{Exchange: x, At: at, End: end, Why: why})
			delete(r.open, tag)
		}
	}
	return recs
}

func (r *taggedReader) Rotated() Reader {
	r.heirs = true
	return &taggedReader{tags: r.tags}
}

// TestFollowStreamsOutliveFiles checks that a stream that continues after a rotation is one stream, whichever writer
// uses which file. An incomplete line is not joined to the beginning of the new content.
func TestFollowStreamsOutliveFiles(t *testing.T) {
	for _, blind := range []bool{false, true} {
		d := &desk{t: t, path: t.TempDir() + "/live.log"}
		d.write(d.path, "a one\nb one\na half")
		o := Options{Follow: true, Formats: []Format{tagged}, Forced: true, stay: 200 * time.Millisecond, blind: blind, poll: pollEvery / 20}
		d.run(func(ctx context.Context) (Source, error) { return Open(ctx, d.path, o) }, func(d *desk) {
			d.await("1 \"one\"\n2 \"one\"")
			d.move(d.path, d.path+".1")
			d.write(d.path, "a two\n")
			d.await("1 \"onetwo\"\n2 \"one\"")
			d.append(d.path+".1", " is whole\nb two\nb ha")
			d.await("1 \"onetwohalf is whole\"\n2 \"onetwo\"")
			d.await("1 \"onetwohalf is whole\"\n2 \"onetwoha½\"") // after a quiet time
			d.append(d.path, "b three\nb .\na unfini")
			d.await("1 \"onetwohalf is whole\"\n2 \"onetwoha½three\" eof")
			time.Sleep(20 * time.Millisecond)
			d.must(os.Truncate(d.path, 0))
			d.append(d.path, "a end\nb anew\n")
			d.until("anew", func() bool { return strings.HasSuffix(d.data(), "anew") })
			d.await("1 \"onetwohalf is wholeunfini½end\"\n2 \"onetwoha½three\" eof\n3 \"anew\"")
		})
	}
}
