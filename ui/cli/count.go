package cli

import (
	"context"
	"fmt"
	"runtime"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/formats"
	"toolscope/stream/count"
)

// countFiles writes how many lines each file has, and about how many responses, without decoding the files.
func (a *app) countFiles(ctx context.Context, paths []string) error {
	to := a.stdout.withBuffer()
	for _, path := range paths {
		if path == "-" {
			return usageErrorf("--count: needs files: standard input must be read to be counted\nuse --summary")
		}
		if fleet.IsAddress(path) {
			return usageErrorf("--count: needs files: data on a hub must be read to be counted\nuse --summary")
		}
		files, left, err := capture.Find([]string{path})
		for _, text := range left {
			a.printNote("%s", text)
		}
		if err != nil {
			a.failWith(err)
		}
		for _, f := range files {
			n, err := capture.Survey(ctx, f.Path, formats.Marks(), runtime.GOMAXPROCS(0))
			if err != nil {
				a.failWith(err)
				continue
			}
			if a.format == "jsonl" {
				to.writeObject(countObject(f.Path, n))
			} else {
				to.printLine("%s: %s", f.Path, countText(n))
			}
		}
	}
	return to.flush()
}

// countText describes a file in words.
func countText(n capture.FileSurvey) string {
	size := count.Of(int(n.Lines), "line") + ", " + sizeText(n.Bytes)
	switch {
	case n.Lines == 0 && n.Responses == 0:
		return sizeText(n.Bytes) + "; use --summary to read it"
	case n.Responses == 0:
		return size + "; no marks of responses: use --summary to read it"
	}
	return fmt.Sprintf("about %s, %s", count.Of(int(n.Responses), "response"), size)
}

// countObject describes a file as a JSON object.
func countObject(path string, n capture.FileSurvey) *jsonObject {
	var o jsonObject
	o.text("type", "count")
	o.text("file", path)
	o.int("bytes", int(n.Bytes))
	o.int("lines", int(n.Lines))
	if n.Responses > 0 {
		o.int("answers_about", int(n.Responses))
	}
	return &o
}
