package cli

import (
	"cmp"
	"context"
	"slices"

	"toolscope/capture"
	"toolscope/stream"
)

// coreRecord converts a record of capture to one of stream.
func coreRecord(r capture.Record) stream.Record {
	out := stream.Record{
		Exchange: r.Exchange, Request: r.Side == capture.Request, At: r.At, Data: r.Data,
		End: r.End != "", Why: r.Why, By: string(r.By), Lost: r.Lost, Note: r.Note,
		Before: r.Before, After: r.After, Others: r.Others, OtherLines: r.OtherLines, Chunks: r.Chunks,
	}
	if r.Head != nil {
		out.Head = &stream.Head{
			File: r.Head.File, Run: cmp.Or(r.Head.Run, r.Head.File), Method: r.Head.Method, URL: r.Head.URL, Status: r.Head.Status, Header: r.Head.Header, Start: r.Head.Start,
			Wrappers: r.Head.Wrappers, Incremental: r.Head.Incremental, Origin: (*stream.Machine)(r.Head.Origin),
		}
		out.Head.Reconstructed = slices.Contains(r.Head.Lacks, capture.Composed)
		for _, lack := range r.Head.Lacks {
			out.Head.EndUnknown = out.Head.EndUnknown || lack == capture.NoEnding
			out.Head.CutLines = out.Head.CutLines || lack == capture.CutLines
			out.Head.EventNamesUnknown = out.Head.EventNamesUnknown || lack == capture.NoNames
			out.Head.ResponseFromHistory = out.Head.ResponseFromHistory || lack == capture.Resent
			out.Head.Lacks = append(out.Head.Lacks, string(lack))
		}
	}
	if f := r.Location.File; f != nil {
		out.Location = stream.Location{Source: (*coreFile)(f), Start: r.Location.Start, End: r.Location.End}
		switch {
		case r.Location.Bare:
			out.Location.Source = (*bareFile)(f)
		case r.Location.Lines != nil:
			out.Location.Source = (*logLines)(r.Location.Lines)
		case r.Location.Entries != nil:
			out.Location.Source = (*fileEntries)(r.Location.Entries)
		}
	}
	return out
}

// coreFile adapts a file of capture to stream.
type coreFile capture.File

// Again reads a range of the file once more.
func (f *coreFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.File)(f).Again(context.Background(), exchange, start, end), to)
}

// logLines adapts the lines of an exchange in a log to stream.
type logLines capture.Lines

// Again reads the lines once more.
func (l *logLines) Again(exchange int, _, _ int64, to func(stream.Record)) error {
	return handOver((*capture.Lines)(l).Again(context.Background(), exchange), to)
}

// fileEntries adapts a file with one entry per exchange to stream.
type fileEntries capture.Entries

// Again reads entries once more.
func (e *fileEntries) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.Entries)(e).Again(context.Background(), exchange, start, end), to)
}

// handOver converts the records of a source and passes them to to.
func handOver(src capture.Source, to func(stream.Record)) error {
	for r, err := range src {
		if err != nil {
			return err
		}
		to(coreRecord(r))
	}
	return nil
}

// bareFile adapts a file that is the body of one response to stream.
type bareFile capture.File

// Again reads a range of the file once more.
func (f *bareFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return (*coreFile)(f).Again(exchange, start, end, to)
}

// Bytes reads a range of the file.
func (f *bareFile) Bytes(start, end int64) ([]byte, error) {
	return (*capture.File)(f).Bytes(start, end)
}
