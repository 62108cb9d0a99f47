package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolscope/stream/count"
)

// PublishState is the progress of a publisher.
type PublishState struct {
	Spooled int64  // bytes that the hub doesn't have, including those of earlier runs
	Losses  Losses // bytes of our capture that are lost for good
	Trouble string // why the hub gets nothing at the moment
	Remedy  string // what would help, if known

	Orphaned        int64 // bytes of earlier runs that the hub doesn't have
	OrphanedLosses  Losses
	OrphanedTrouble string // "" if it is the same as Trouble

	Index IndexState
}

// Losses are bytes that a hub will never have, by reason.
type Losses []Loss

// Loss is lost bytes with one reason.
type Loss struct {
	Bytes int64
	Why   string // what happened to them, e.g. "never reached the hub: the spool was full"
}

func (l *Losses) add(n int64, why string) {
	i := slices.IndexFunc(*l, func(one Loss) bool { return one.Why == why })
	if i < 0 {
		i = len(*l)
		*l = append(*l, Loss{Why: why})
	}
	(*l)[i].Bytes += n
}

// Bytes returns the number of lost bytes.
func (l Losses) Bytes() (n int64) {
	for _, one := range l {
		n += one.Bytes
	}
	return n
}

// asError returns the losses of something as an error, nil if there are none.
func (l Losses) asError(of string) error {
	var all []string
	for _, one := range l {
		all = append(all, fmt.Sprintf("%s of %s %s", count.Of(one.Bytes, "byte"), of, one.Why))
	}
	if all == nil {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}
