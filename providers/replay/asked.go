package replay

import (
	"hash/fnv"
	"iter"

	"toolscope/providers/protocol"
)

// Position is the place of a request in its conversation: a hash of the parts of its history that clients
// keep. A request continues another if its history contains the other's position (see Along). The zero value
// means that the request was not seen.
type Position struct {
	Begin uint64 // hash of the user's first text, 0 if unknown
	Calls uint64 // hash of the names of the calls so far
}

// PositionOf returns the position of the request with a history.
func PositionOf(history []protocol.Message) (a Position) {
	if len(history) == 0 {
		return a
	}
	for _, a = range Along(history) {
	}
	return a
}

// Along yields the positions in a history, with the number of calls before each: for each call, the position
// of the request whose response made it. The last is the position of the request itself.
func Along(history []protocol.Message) iter.Seq2[int, Position] {
	return func(yield func(int, Position) bool) {
		begin, calls, n := openingHash(history), noNames, 0
		for i := range history {
			for j := range history[i].Parts {
				if !isCall(&history[i], j) {
					continue
				}
				if !yield(n, Position{begin, uint64(calls)}) {
					return
				}
				calls.add(history[i].Parts[j].Name)
				n++
			}
		}
		yield(n, Position{begin, uint64(calls)})
	}
}

// isCall reports whether a part of a message is a call that the client must run.
func isCall(m *protocol.Message, part int) bool {
	return m.Role == protocol.Assistant && isClientCall(&m.Parts[part])
}

// openingHash returns a hash of all texts of the first user message that has text, 0 if there is none. The
// first text alone may be a note that agents add to every conversation.
func openingHash(history []protocol.Message) uint64 {
	sum := fnv.New64a()
	said := false
	for i := range history {
		m := &history[i]
		if said && m.Role != protocol.System {
			break
		}
		for j := range m.Parts {
			if p := &m.Parts[j]; m.Role == protocol.User && p.Kind == protocol.TextPart && len(p.Text) > 0 {
				_, _ = sum.Write(p.Text)
				said = true
			}
		}
	}
	if !said {
		return 0
	}
	return sum.Sum64()
}

// nameHash is a hash of consecutive names: FNV-1a with a zero after each.
type nameHash uint64

const (
	noNames  nameHash = 14695981039346656037
	fnvPrime nameHash = 1099511628211
)

func (n *nameHash) add(name string) {
	for i := range len(name) {
		*n = (*n ^ nameHash(name[i])) * fnvPrime
	}
	*n *= fnvPrime
}

// relation is whether two requests belong to the same conversation.
type relation uint8

const (
	unknownKin relation = iota
	stranger
	kin
)

// kinOf compares the beginnings of two conversations.
func kinOf(a, b Position) relation {
	switch {
	case a.Begin == 0 || b.Begin == 0:
		return unknownKin
	case a.Begin == b.Begin:
		return kin
	}
	return stranger
}
