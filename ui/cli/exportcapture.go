package cli

import (
	"errors"
	"fmt"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
)

// writeCapture writes the records unchanged: all, or those of one turn's exchange.
func (e *export) writeCapture() error {
	if e.turn == 0 {
		return e.writeRecords(func(capture.Record) bool { return true })
	}
	var all []capture.Record
	err := e.read(func(r capture.Record) { all = append(all, r) })
	turns, wrong := e.chosenTurns()
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	e.src = func(yield func(capture.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
	return errors.Join(err, e.writeRecords(func(r capture.Record) bool { return r.Exchange == turns[0].Exchange }))
}

// writeRecords writes the records for which wanted returns true.
func (e *export) writeRecords(wanted func(capture.Record) bool) error {
	begun, left := false, 0
	for r, err := range e.src {
		if err != nil {
			return err
		}
		if !wanted(r) {
			continue
		}
		if !begun {
			line, err := capture.EncodeHeader(beginOf(r), "toolscope export")
			if err == nil {
				_, err = e.to.Write(line)
			}
			if err != nil {
				return err
			}
			begun = true
		}
		line, err := capture.EncodeRecord(r)
		if err != nil {
			e.app.printNote("%s: a record was left out: %v", e.path, err)
			left++
			continue
		}
		if _, err := e.to.Write(line); err != nil {
			return err
		}
	}
	switch {
	case !begun:
		return fmt.Errorf("%s: no bytes arrived", e.path)
	case left > 0:
		return fmt.Errorf("%s: %s could not be written", e.path, count.Of(left, "record"))
	}
	return nil
}

// beginOf returns the time from which a capture counts its times, according to its first record.
func beginOf(r capture.Record) time.Time {
	if r.Head != nil && !r.Head.Start.IsZero() && r.At >= 0 {
		return r.Head.Start.Add(-r.At)
	}
	return time.Now()
}
