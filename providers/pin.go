package providers

import "slices"

// This file protects turns and exchanges in use from eviction.

// isPinned reports whether a unit must not be evicted.
func (k *evictor) isPinned(of evictable) bool {
	switch {
	case k.pins[of.x.Number] > 0:
		return true
	case of.part == nil:
		return of.x.pinned > 0
	}
	return of.x.pinned > 0 && slices.ContainsFunc(of.part.turnNumbers(), func(turn int32) bool { return k.turnPins[turn] > 0 })
}

// Pin keeps an exchange from eviction until it is unpinned as often as it was pinned.
func (in *Inspector) Pin(exchange int) {
	if in.kept.pins == nil {
		in.kept.pins = map[int]int{}
	}
	in.kept.pins[exchange]++
}

// Unpin removes one pin from an exchange.
func (in *Inspector) Unpin(exchange int) {
	k := &in.kept
	if k.pins[exchange]--; k.pins[exchange] > 0 {
		return
	}
	delete(k.pins, exchange)
	if x := in.byNumber[exchange]; x != nil {
		k.requeue(x)
	}
}

// PinTurn keeps a turn from eviction until it is unpinned as often as it was pinned.
func (in *Inspector) PinTurn(number int32) {
	t := in.Session().Turn(number)
	if t == nil {
		return
	}
	if in.kept.turnPins == nil {
		in.kept.turnPins = map[int32]int{}
	}
	if x := in.byNumber[t.Exchange]; x != nil {
		in.kept.turnPins[number]++
		x.pinned++
	}
}

// UnpinTurn removes one pin from a turn.
func (in *Inspector) UnpinTurn(number int32) {
	k, t := &in.kept, in.Session().Turn(number)
	if k.turnPins[number] == 0 || t == nil {
		return
	}
	if k.turnPins[number]--; k.turnPins[number] == 0 {
		delete(k.turnPins, number)
	}
	x := in.byNumber[t.Exchange]
	x.pinned--
	k.requeue(x)
}

// requeue puts units of an exchange back into their queue, if they are no longer pinned.
func (k *evictor) requeue(x *Exchange) {
	back := func(of evictable, aside *bool) {
		if *aside && !k.isPinned(of) {
			*aside = false
			l := k.queueOf(of)
			l.lots = append(l.lots, of)
		}
	}
	back(evictable{x, nil}, &x.aside)
	if x.parts.aside == 0 {
		return
	}
	for _, p := range x.parts.of {
		if was := p.aside; was {
			if back(evictable{x, p}, &p.aside); !p.aside {
				x.parts.aside--
			}
		}
	}
}
