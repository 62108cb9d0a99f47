package cli

import (
	"toolscope/capture"
	"toolscope/capture/queue"
	"toolscope/capture/record"
	"toolscope/stream"
)

const (
	maxFileQueue = 4 << 20  // bytes of a file that may wait for the screen
	maxLiveQueue = 64 << 20 // bytes of traffic that may wait, for the redactor and for who looks at it
)

// An screenInbox is a box of records as the screen takes them out.
type screenInbox struct {
	*queue.Queue[capture.Record]
	batch []stream.Record
}

// fileInbox is one in which whoever reads a file waits for the screen.
func fileInbox() *screenInbox {
	return newScreenInbox(queue.Rules[capture.Record]{Limit: maxFileQueue, Cost: record.RecordCost})
}

// liveInbox is one that traffic never waits for.
func liveInbox() *screenInbox { return newScreenInbox(record.QueueRules(maxLiveQueue, notShown)) }

// notShown is what is said of bytes that were left out of a full inbox.
const notShown = "are not shown: what shows them was too slow"

func newScreenInbox(rules queue.Rules[capture.Record]) *screenInbox {
	return &screenInbox{Queue: queue.New(rules)}
}

// Take is the box's, in the words of the core.
func (in *screenInbox) Take(bytes int) ([]stream.Record, bool) {
	recs, more := in.Queue.Take(bytes)
	clear(in.batch)
	in.batch = in.batch[:0]
	for _, r := range recs {
		in.batch = append(in.batch, coreRecord(r))
	}
	return in.batch, more
}

// fillFrom puts a source into the inbox, as long as somebody wants it.
func (in *screenInbox) fillFrom(src capture.Source) { copySource(src, in.Put, in.Close) }
