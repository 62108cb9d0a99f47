package stream

// callOfResult returns the call that a result is for: by its id or, if the wire has no id, the first call
// with that name that waits for a result. Without either it is the slot's call, if the provider runs it.
func (t *Turn) callOfResult(e Event) *Call {
	switch of := PayloadOf[ResultFor](e); {
	case of.ID != "":
		return t.lastOfID(of.ID)
	case of.Name != "":
		return t.firstWaiting(of.Name)
	default:
		if c := t.inSlot(e.Slot); c != nil && c.RunByProvider {
			return c
		}
	}
	return nil
}

// lastOfID returns the last call with that id, or nil.
func (t *Turn) lastOfID(id string) *Call {
	if c := t.callByNumber(t.byID[id]); c != nil && c.ID == id {
		return c
	}
	t.byID = map[string]int32{}
	for _, c := range t.Calls {
		t.byID[c.ID] = int32(c.Number)
	}
	return t.callByNumber(t.byID[id])
}

// firstWaiting returns the first call of that name that has neither an id nor a result, or nil.
func (t *Turn) firstWaiting(name string) *Call {
	if t.waiting == nil {
		t.waiting = map[string]int{}
	}
	i := t.waiting[name]
	for i < len(t.Calls) && (t.Calls[i].ID != "" || t.Calls[i].Name != name || t.Calls[i].ResultCode != 0) {
		i++
	}
	if t.waiting[name] = i; i == len(t.Calls) {
		return nil
	}
	return t.Calls[i]
}

// updateLookups updates the lookups after a call may have got its name or id.
func (t *Turn) updateLookups(c *Call, news CallInfo) {
	if i, looked := t.waiting[news.Name]; looked && news.Name != "" {
		t.waiting[news.Name] = min(i, c.Number-1)
	}
	if t.byID != nil {
		t.byID[c.ID] = max(t.byID[c.ID], int32(c.Number))
	}
}
