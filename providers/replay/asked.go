package replay

import (
	"hash/fnv"
	"iter"

	"toolscope/providers/protocol"
)

// Position is where in its conversation a request stands: a hash of the history so far, of as much of
// it as clients keep. One request goes on from another if its history passes through where the
// other stood (see Along). The zero value is that of a request that was not seen.
type Position struct {
	Begin uint64 // hash of what the user says first, 0 while unknown
	Calls uint64 // hash of the names of the calls so far
}

// PositionOf is where the request with that history stands.
func PositionOf(history []protocol.Message) (a Position) {
	if len(history) == 0 {
		return a
	}
	for _, a = range Along(history) {
	}
	return a
}

// Along are the places that a history passes through: where the request stood that was answered
// with the next of its calls, by the number of calls before it. The last is where it stands itself.
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

// isCall reports whether a part of a message is a call the client has to answer.
func isCall(m *protocol.Message, part int) bool {
	return m.Role == protocol.Assistant && isClientCall(&m.Parts[part])
}

// openingHash is a hash of what the user says first, all of it: agents put notes before it that are the
// same in all conversations.
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

// nameHash is a hash of names, one after another: FNV-1a with a zero behind each.
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

// relation is whether two requests belong to one conversation.
type relation uint8

const (
	unknownKin relation = iota
	stranger
	kin
)

// kinOf compares how two conversations begin.
func kinOf(a, b Position) relation {
	switch {
	case a.Begin == 0 || b.Begin == 0:
		return unknownKin
	case a.Begin == b.Begin:
		return kin
	}
	return stranger
}
