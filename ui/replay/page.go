package replay

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// page is the preview of one cell as it is shown: what would be sent, what the model wrote, and
// what is lost between the two. It does not change once made.
type page struct {
	key      pageKey
	sent     panes.TextSheet
	wrote    panes.TextSheet
	notes    []panes.LossNote
	body     []byte // what would be sent, as JSON
	messages int
	size     int  // bytes the model wrote
	unsent   int  // of them, those that have no place
	added    int  // bytes that it did not write
	unknown  bool // what would be sent
	mute     bool // the client does not speak the target's protocol
	apart    bool // what the model wrote is not compared with what would be sent
}

// noBodyText is what stands where there is no body.
func (p *page) noBodyText() display.Text {
	switch {
	case p.unknown:
		return display.Lit("not known")
	case p.mute:
		return display.Lit("it does not ask this provider")
	}
	return display.Lit("nothing")
}

// makePage previews a source for one target under one policy.
func makePage(k pageKey, src source, to *protocol.Target, draw display.Drawer) *page {
	policy := &replay.Policies[k.policy]
	if !policy.Speaks(to) {
		p := &page{key: k, mute: true, notes: []panes.LossNote{{Role: screen.Muted, Text: draw.Format("   it is not known to ask %s", to.Name)}}}
		p.showOnlyWrote(src, to, draw)
		return p
	}
	preview := src.Preview(to, policy)
	raw := k.raw != (to.Form == protocol.PositionalForm) // arrays in arrays say more in a line
	p := &page{key: k, body: joinMessages(preview.Body), messages: len(preview.Body), unknown: preview.Outcome == replay.Unknown}
	p.notes = panes.LossNotes(&preview, k.version.scope, k.notes, draw)
	p.showSent(&preview, src.own, raw, draw)
	if p.unknown && len(preview.Calls) == 0 {
		p.showOnlyWrote(src, to, draw)
		return p
	}
	p.showWrote(&preview, src.own, draw)
	return p
}

// showOnlyWrote lays out the arguments where it is not known what becomes of them, or nothing does:
// what the model wrote is the same for every client.
func (p *page) showOnlyWrote(src source, to *protocol.Target, draw display.Drawer) {
	preview := src.Preview(to, &replay.Policies[0])
	p.apart = true
	p.showWrote(&preview, src.own, draw)
}

// joinMessages is messages as one JSON text: a list, unless it is one alone.
func joinMessages(messages [][]byte) []byte {
	if len(messages) == 1 {
		return messages[0]
	}
	if len(messages) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(messages, []byte(",\n")), []byte("]"))
}

// showSent lays out the body, with the bytes marked that the model did not write.
func (p *page) showSent(preview *replay.Preview, own int, raw bool, draw display.Drawer) {
	marks := make([][]panes.Span, len(preview.Body))
	found, added := panes.FindArgs(preview.Body, preview.Calls)
	p.added = added
	for _, args := range found {
		marks[args.Message] = append(marks[args.Message], args.Marks...)
		if args.Call == own {
			p.sent.Look, p.sent.LookAt = args.Message, args.Offset
			if len(args.Marks) > 0 {
				p.sent.LookAt = args.Marks[0].Start
			}
		}
	}
	for i, m := range preview.Body {
		p.sent.Add(panes.NewBlock(display.Text{}, m, raw, marks[i], p.key.sent, draw))
	}
	for i, m := range preview.Results {
		caption := display.Text{}
		if i == 0 {
			caption = display.Lit("then must follow")
		}
		p.sent.Add(panes.NewBlock(caption, m, raw, nil, p.key.sent, draw))
	}
}

// showWrote lays out the arguments as they came, with the bytes marked that have no place in what
// would be sent.
func (p *page) showWrote(preview *replay.Preview, own int, draw display.Drawer) {
	for i := range preview.Calls {
		c := &preview.Calls[i]
		var gone []panes.Span
		caption := display.Text{}
		if !p.apart {
			gone = panes.RemovedSpans(c)
		}
		for _, s := range gone {
			p.unsent += s.End - s.Start
		}
		p.size += len(c.Original)
		switch {
		case p.key.version.scope == replay.OneCall:
		case p.apart:
			caption = draw.Format("call %d %s", c.Call, screen.ShortName(c.Name))
		default:
			caption = draw.Format("call %d %s: %s", c.Call, screen.ShortName(c.Name), c.Outcome)
		}
		if c.Call == own && own > 0 {
			p.wrote.Look = i
			if len(gone) > 0 {
				p.wrote.LookAt = gone[0].Start
			}
		}
		p.wrote.Add(panes.NewBlock(caption, c.Original, true, gone, p.key.wrote, draw))
	}
}
