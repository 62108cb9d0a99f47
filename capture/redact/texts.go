package redact

import (
	"fmt"
	"slices"
)

const (
	maxWaitingTexts = 128  // texts that pause with the possible beginning of a secret
	maxTexts        = 1024 // texts that are kept
)

// pendingTexts are the texts of a stream that continue from one document to the next.
type pendingTexts struct {
	all     map[uint64]*matcher // by channel
	order   []uint64            // oldest first
	waiting []*matcher          // those between two strings that hold characters back
}

// resumeText makes the text of a channel the current one.
func (s *textRedactor) resumeText(channel uint64) *matcher {
	t := &s.texts
	m := t.all[channel]
	if m == nil {
		if t.all == nil {
			t.all = map[uint64]*matcher{}
		}
		if len(t.order) == maxTexts {
			s.dropText(t.order[0])
		}
		m = &matcher{channel: channel}
		m.armor = &m.own
		t.all[channel], t.order = m, append(t.order, channel)
	}
	if i := slices.Index(t.waiting, m); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return m
}

// pauseText ends the current string. If its text continues in the next document, the text waits.
func (s *textRedactor) pauseText(joined bool) {
	m := s.inside
	s.inside = s.single
	switch {
	case !joined:
		s.endText(m)
	case m.isHolding():
		s.texts.waiting = append(s.texts.waiting, m)
		if len(s.texts.waiting) > maxWaitingTexts {
			s.r.noteLimit(fmt.Sprintf("more than %d unfinished texts at once: a secret may be cut in the middle", maxWaitingTexts))
			s.dropText(s.texts.waiting[0].channel)
		}
	}
}

// dropText ends the text of a channel.
func (s *textRedactor) dropText(channel uint64) {
	t := &s.texts
	m := t.all[channel]
	s.endText(m)
	delete(t.all, channel)
	t.order = slices.DeleteFunc(t.order, func(c uint64) bool { return c == channel })
	t.waiting = slices.DeleteFunc(t.waiting, func(w *matcher) bool { return w == m })
}
