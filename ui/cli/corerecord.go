package cli

import (
	"cmp"
	"context"
	"slices"

	"toolscope/capture"
	"toolscope/stream"
)

// coreRecord is a capture's record as the core knows it.
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

// coreFile is a capture's file as the core knows it.
type coreFile capture.File

func (f *coreFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.File)(f).Again(context.Background(), exchange, start, end), to)
}

// logLines are the lines of an exchange in a log as the core knows them.
type logLines capture.Lines

func (l *logLines) Again(exchange int, _, _ int64, to func(stream.Record)) error {
	return handOver((*capture.Lines)(l).Again(context.Background(), exchange), to)
}

// fileEntries are a file that has exchanges in entries as the core knows it.
type fileEntries capture.Entries

func (e *fileEntries) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.Entries)(e).Again(context.Background(), exchange, start, end), to)
}

func handOver(src capture.Source, to func(stream.Record)) error {
	for r, err := range src {
		if err != nil {
			return err
		}
		to(coreRecord(r))
	}
	return nil
}

// bareFile is a file that is the body of one response.
type bareFile capture.File

func (f *bareFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return (*coreFile)(f).Again(exchange, start, end, to)
}

func (f *bareFile) Bytes(start, end int64) ([]byte, error) {
	return (*capture.File)(f).Bytes(start, end)
}
