// Package send sends requests. It resends a captured request to the same host or to another one. It also
// continues a turn with results that the user types for the turn's calls. It never runs a tool, and it shows
// every request before it is sent.
package send

import (
	"bytes"
	"strings"

	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// A Destination is a host to which requests can be sent.
type Destination struct {
	Host    *host.Host
	Address string // URL of the host; "" if unknown
	Trouble string // reason why nothing can be sent to the host, e.g. a missing key; "" if requests can be sent
	Warning string // shown before a request is sent
}

// A Request is a request that is ready to be sent.
type Request struct {
	Host  *host.Host
	Model string
	URL   string
	Body  []byte
}

// Dependencies has the functions and data that the modes need in addition to modes.Host.
type Dependencies struct {
	Send    func(Request) error // sends a request without waiting for the response; nil if requests can't be sent
	Places  []Destination       // possible destinations
	Results Results             // receives the typed results
	Outlet  modes.Exporter
	Draw    display.Drawer
}

// Results has the results that the user typed, by call.
type Results map[stream.Ref]Result

// Result is the typed result of one call.
type Result struct {
	Text   string
	Failed bool
}

// resultsOf returns the typed results for a turn's calls, and the calls whose results are missing. It ignores
// calls that the provider runs or has discarded.
func (r Results) resultsOf(t *stream.Turn) (all []host.Result, missing []stream.Ref) {
	if t == nil {
		return nil, nil
	}
	for _, c := range t.Calls {
		if c.RunByProvider || c.Discarded {
			continue
		}
		if given, ok := r[c.Ref()]; ok {
			all = append(all, host.Result{Call: c, Text: given.Text, Failed: given.Failed})
		} else {
			missing = append(missing, c.Ref())
		}
	}
	return all, missing
}

// draftKey identifies the data from which a draft was made.
type draftKey struct {
	host         *host.Host
	address      string
	trouble      string // reason why requests can't be sent to the host
	policy       int
	model        string
	raw          bool
	width, notes int
}

// draft is a request that can be shown and sent. A draft never changes.
type draft struct {
	key     draftKey
	url     string
	body    []byte
	trouble string // reason why the request can't be sent
	sheet   panes.TextSheet
	added   int // number of argument bytes that the model did not write
	notes   []panes.LossNote
}

// wantedDraft returns the key of the draft that should be shown.
func (a *resendMode) wantedDraft() draftKey {
	p := a.destination()
	k := draftKey{
		host: p.Host, address: p.Address, trouble: p.Trouble, policy: max(a.policy, 0), model: a.models[p.Host], raw: a.raw,
		width: max(a.plan.bodyW-1, 1), notes: max(a.plan.listW-1, 1),
	}
	if a.isUnchanged() {
		k.policy = unchanged
	}
	if a.full {
		k.width = max(a.w-1, 1)
	}
	return k
}

// prepareDraft makes the draft that should be shown. It makes a small draft at once, and a large draft in
// another goroutine. Only one such goroutine runs at a time.
func (a *resendMode) prepareDraft() {
	a.wanted = a.wantedDraft()
	if a.making || a.draft != nil && a.draft.key == a.wanted {
		return
	}
	k, c, draw := a.wanted, a.captured, a.deps.Draw
	if len(c.Body) < modes.MaxSyncBytes {
		a.draft = composeDraft(k, c, draw)
		return
	}
	a.making = true
	a.host.Do(func() func() {
		d := composeDraft(k, c, draw)
		return func() { a.draft, a.making = d, false }
	})
}

// currentDraft returns the draft that is shown and can be sent, or nil if no draft is ready. A draft with a different
// layout counts as ready.
func (a *resendMode) currentDraft() *draft {
	if a.draft == nil {
		return nil
	}
	k := a.draft.key
	k.width, k.notes, k.raw = a.wanted.width, a.wanted.notes, a.wanted.raw
	if k != a.wanted {
		return nil
	}
	return a.draft
}

// composeDraft makes a request for a host and lays it out.
func composeDraft(k draftKey, c host.CapturedRequest, draw display.Drawer) *draft {
	d := &draft{key: k}
	var marks []panes.Span
	if k.trouble != "" {
		d.addNote(screen.Bad, draw.Format("can't be sent: %s", k.trouble))
	}
	if bytes.Contains(c.Body, []byte("[redacted:")) {
		d.addNote(screen.Caution, display.Lit("secrets were redacted in the capture: [redacted:...] is sent instead"))
	}
	if k.policy == unchanged {
		d.url, _ = k.host.RawRequest(c.Body, k.model, k.address)
		d.body = c.Body
		d.addNote(screen.Good, display.Lit("byte for byte as captured"))
	} else {
		marks = d.buildRequest(c, draw)
	}
	if d.body != nil {
		d.sheet.Add(panes.NewBlock(display.Text{}, d.body, k.raw, marks, k.width, draw))
		if len(marks) > 0 {
			d.sheet.LookAt = marks[0].Start
		}
	}
	return d
}

// buildRequest builds the request from the captured one, and adds notes about losses. It returns the spans
// of argument bytes that the model did not write.
func (d *draft) buildRequest(c host.CapturedRequest, draw display.Drawer) (marks []panes.Span) {
	k := d.key
	out, err := k.host.Resend(c, k.model, &replay.Behaviours[k.policy])
	if err != nil {
		d.trouble = err.Error()
		d.addNote(screen.Bad, draw.Format("can't be sent: %s", screen.ShortName(d.trouble)))
		return nil
	}
	d.url, d.body = k.host.Build(out.Request, k.address)
	if len(out.Undeclared) > 0 {
		d.addNote(screen.Caution, draw.Format("tools that can't be declared for this host: %s", screen.ShortName(strings.Join(out.Undeclared, ", "))))
	}
	if out.Moved > 0 {
		d.addNote(screen.Caution, screen.Plural(out.Moved, "instruction").Between("", " moved from inside the conversation to its start"))
	}
	d.notes = append(d.notes, panes.LossNotes(&out.Preview, replay.WholeConversation, k.notes, false, draw)...)
	found, added := panes.FindArgs([][]byte{d.body}, out.Preview.Calls)
	for _, args := range found {
		marks = append(marks, args.Marks...)
	}
	d.added = added
	return marks
}

// addNote adds a note and wraps it. The text must come from toolscope itself.
func (d *draft) addNote(r screen.Role, text display.Text) {
	for i, line := range display.Wrap(text, max(d.key.notes-4, 8)) {
		if i > 0 {
			line = line.Between("  ", "")
		}
		d.notes = append(d.notes, panes.LossNote{Role: r, Text: line})
	}
}
