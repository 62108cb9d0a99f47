package cli

import (
	"toolscope/capture"
	"toolscope/capture/mailbox"
	"toolscope/capture/record"
	"toolscope/stream"
)

const (
	fileLimit = 4 << 20  // bytes of a file that may wait for the screen
	liveLimit = 64 << 20 // bytes of traffic that may wait, for the redactor and for who looks at it
)

// An inbox is a box of records as the screen takes them out.
type inbox struct {
	*mailbox.Queue[capture.Record]
	batch []stream.Record
}

// fileInbox is one in which whoever reads a file waits for the screen.
func fileInbox() *inbox {
	return newInbox(mailbox.Rules[capture.Record]{Limit: fileLimit, Cost: record.RecordCost})
}

// liveInbox is one that traffic never waits for.
func liveInbox() *inbox { return newInbox(record.QueueRules(liveLimit, notShown)) }

// notShown is what is said of bytes that were left out of a full inbox.
const notShown = "are not shown: what shows them was too slow"

func newInbox(rules mailbox.Rules[capture.Record]) *inbox { return &inbox{Queue: mailbox.New(rules)} }

// Take is the box's, in the words of the core.
func (in *inbox) Take(bytes int) ([]stream.Record, bool) {
	recs, more := in.Queue.Take(bytes)
	clear(in.batch)
	in.batch = in.batch[:0]
	for _, r := range recs {
		in.batch = append(in.batch, coreRecord(r))
	}
	return in.batch, more
}

// fill puts a source into the inbox, as long as somebody wants it.
func (in *inbox) fill(src capture.Source) { pour(src, in.Put, in.Close) }
