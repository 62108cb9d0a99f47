package replay

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"toolscope/providers/dialect"
)

// ids make ids of calls fit a target, and remember what they made of each, so
// that results follow.
type ids struct {
	rule   dialect.IDRule
	first  bool
	strict bool
	made   map[string]string // by the id of the source
	names  map[string]string // tools, by the id of the source
	taken  map[string]string // by the id made: the id of the source
	lone   []loneID          // ids made for calls that have none, until their results have taken them
	unique bool
}

// loneID is an id made for a call without one.
type loneID struct{ made, name string }

func newIDs(to *dialect.Target, p *Policy) ids {
	return ids{
		rule: to.IDs, first: p.firstOfID, strict: p.refuses, unique: to.IDs.Unique,
		made: map[string]string{}, names: map[string]string{}, taken: map[string]string{},
	}
}

// call is the id that call number n is sent with, and what that loses.
func (x *ids) call(n int, id, name string) (made string, losses []Loss) {
	if made, losses = x.fit(n, id); made == "" {
		return made, losses
	}
	before, used := x.taken[made]
	switch {
	case used && before == id && id != "":
		losses = append(losses, Loss{Code: IDCollision, Message: fmt.Sprintf("an earlier call has the id %s too: a result cannot say which of them it answers", quote(id))})
	case used:
		losses = append(losses, Loss{Code: IDCollision, Message: fmt.Sprintf("%s and %s both become %s: a result cannot say which call it answers", quote(before), quote(id), quote(made))})
	}
	x.taken[made] = id
	if id == "" {
		x.lone = append(x.lone, loneID{made, name})
	} else {
		x.made[id], x.names[id] = made, name
	}
	return made, losses
}

func (x *ids) fit(n int, id string) (string, []Loss) {
	switch {
	case x.rule.Takes(id), x.strict:
		return id, nil
	case id == "":
		made := fmt.Sprintf("call_%d", n)
		if !x.rule.Takes(made) {
			made = digest(made, x.rule)
		}
		return made, []Loss{{Code: IDRewritten, Message: fmt.Sprintf("the call has no id and gets %s", made)}}
	case x.rule.Exact():
		made := digest(id, x.rule)
		if x.first {
			made = firstOf(id, x.rule)
		}
		return made, []Loss{{Code: IDRewritten, Message: fmt.Sprintf("%s becomes %s: an id has %d letters and digits here", quote(id), made, x.rule.Most)}}
	}
	var losses []Loss
	made := strings.Map(func(r rune) rune {
		if r < 0x80 && (x.rule.Class == "" || dialect.InClass(x.rule.Class, byte(r))) {
			return r
		}
		return '_'
	}, id)
	if x.rule.Class == "" {
		made = id
	}
	if len(made) < len(id) || made != id {
		losses = append(losses, Loss{Code: IDRewritten, Message: fmt.Sprintf("%s becomes %s: it has characters that ids must not have here", quote(id), quote(made))})
	}
	if most := x.rule.Most; most > 0 && len(made) > most {
		losses = append(losses, Loss{Code: IDTruncated, Message: fmt.Sprintf("the id is cut from %d to %d characters", len(made), most)})
		made = made[:most]
	}
	if x.rule.Trim != "" {
		made = strings.TrimRight(made, x.rule.Trim)
	}
	return made, losses
}

// result is the id that a result for the call with that id of the source is
// sent with; where the source has none, for the first call of that tool.
func (x *ids) result(id, name string) string {
	for i, l := range x.lone {
		if id == "" && (l.name == name || name == "") {
			x.lone = slices.Delete(x.lone, i, i+1)
			return l.made
		}
	}
	if made, ok := x.made[id]; ok {
		return made
	}
	made, _ := x.fit(0, id)
	return made
}

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// digest is an id of the rule's length that stands for id: another id gets
// another one, as good as certainly.
func digest(id string, rule dialect.IDRule) string {
	sum := sha256.Sum256([]byte(id))
	n := new(big.Int).SetBytes(sum[:])
	base, digit := big.NewInt(int64(len(alphanumerics))), new(big.Int)
	b := make([]byte, rule.Most)
	for i := range b {
		n.DivMod(n, base, digit)
		b[i] = alphanumerics[digit.Int64()]
	}
	return string(b)
}

// firstOf is what some clients make of an id: the first characters that are
// taken, as many as there may be.
func firstOf(id string, rule dialect.IDRule) string {
	var b []byte
	for i := 0; i < len(id) && len(b) < rule.Most; i++ {
		if dialect.InClass(rule.Class, id[i]) {
			b = append(b, id[i])
		}
	}
	if len(b) < rule.Least {
		return digest(id, rule)
	}
	return string(b)
}
