package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolscope/stream/count"
)

// PublishState is how far a publisher is.
type PublishState struct {
	Spooled int64  // bytes that the hub does not have, with those that earlier runs left
	Losses  Losses // what nobody will ever have of our capture
	Trouble string // why the hub does not get it just now
	Remedy  string // what would help, if that is known

	Orphaned        int64 // the same of what earlier runs left
	OrphanedLosses  Losses
	OrphanedTrouble string // "" where that is ours

	Index IndexState
}

// Losses are bytes that a hub will never have, by why.
type Losses []Loss

// Loss is some of them.
type Loss struct {
	Bytes int64
	Why   string // what became of them, as in "never reached the hub: the spool was full"
}

func (l *Losses) add(n int64, why string) {
	i := slices.IndexFunc(*l, func(one Loss) bool { return one.Why == why })
	if i < 0 {
		i = len(*l)
		*l = append(*l, Loss{Why: why})
	}
	(*l)[i].Bytes += n
}

// Bytes are how many there are.
func (l Losses) Bytes() (n int64) {
	for _, one := range l {
		n += one.Bytes
	}
	return n
}

// asError tells of what is lost of something; that may be nothing.
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
