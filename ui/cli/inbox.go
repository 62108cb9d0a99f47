package cli

import (
	"toolscope/capture"
	"toolscope/capture/queue"
	"toolscope/capture/record"
	"toolscope/stream"
)

const (
	maxFileQueue = 4 << 20  // bytes of a file that may wait for the screen
	maxLiveQueue = 64 << 20 // bytes of traffic that may wait, for the redactor and for the screen
)

// screenInbox is a queue of records, from which the screen takes records of stream.
type screenInbox struct {
	*queue.Queue[capture.Record]
	batch []stream.Record
}

// fileInbox returns an inbox in which the reader of a file waits for the screen.
func fileInbox() *screenInbox {
	return newScreenInbox(queue.Rules[capture.Record]{Limit: maxFileQueue, Cost: record.RecordCost})
}

// liveInbox returns an inbox that traffic never waits for.
func liveInbox() *screenInbox { return newScreenInbox(record.QueueRules(maxLiveQueue, notShown)) }

// notShown describes bytes that were left out because the inbox was full.
const notShown = "are not shown: the display was too slow"

// newScreenInbox returns an inbox with the rules of a queue.
func newScreenInbox(rules queue.Rules[capture.Record]) *screenInbox {
	return &screenInbox{Queue: queue.New(rules)}
}

// Take removes and returns records of about this many bytes. They are valid until the next call.
func (in *screenInbox) Take(bytes int) ([]stream.Record, bool) {
	recs, more := in.Queue.Take(bytes)
	clear(in.batch)
	in.batch = in.batch[:0]
	for _, r := range recs {
		in.batch = append(in.batch, coreRecord(r))
	}
	return in.batch, more
}

// fillFrom puts the records of a source into the inbox until the inbox is closed.
func (in *screenInbox) fillFrom(src capture.Source) { copySource(src, in.Put, in.Close) }
