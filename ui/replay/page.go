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

// page is the laid-out preview of one cell: the body that would be sent, the arguments that the model
// wrote, and the losses. It never changes.
type page struct {
	key      pageKey
	sent     panes.TextSheet
	wrote    panes.TextSheet
	notes    []panes.LossNote
	body     []byte // what would be sent, as JSON
	messages int
	size     int  // bytes the model wrote
	unsent   int  // bytes of them that would not be sent
	added    int  // bytes in the body that the model did not write
	unknown  bool // the body that would be sent is unknown
	mute     bool // the client does not speak the target's protocol
	apart    bool // the arguments are not compared with the body
}

// noBodyText is the text to show if there is no body.
func (p *page) noBodyText() display.Text {
	switch {
	case p.unknown:
		return display.Lit("unknown")
	case p.mute:
		return display.Lit("it doesn't use this provider")
	}
	return display.Lit("nothing")
}

// makePage previews a source for one target under one policy.
func makePage(k pageKey, src source, to *protocol.Target, draw display.Drawer) *page {
	policy := &replay.Policies[k.policy]
	if !policy.Speaks(to) {
		p := &page{key: k, mute: true, notes: []panes.LossNote{{Role: screen.Muted, Text: draw.Format("   not known to send to %s", to.Name)}}}
		p.showOnlyWrote(src, to, draw)
		return p
	}
	preview := src.Preview(to, policy)
	raw := k.raw != (to.Form == protocol.PositionalForm) // nested arrays are easier to read in one line
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

// showOnlyWrote lays out the arguments without marks, if their outcome is unknown or nothing is sent. They
// are the same for every client.
func (p *page) showOnlyWrote(src source, to *protocol.Target, draw display.Drawer) {
	preview := src.Preview(to, &replay.Policies[0])
	p.apart = true
	p.showWrote(&preview, src.own, draw)
}

// joinMessages joins messages to one JSON text: an array, or the message itself if there is only one.
func joinMessages(messages [][]byte) []byte {
	if len(messages) == 1 {
		return messages[0]
	}
	if len(messages) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(messages, []byte(",\n")), []byte("]"))
}

// showSent lays out the body, and marks the bytes that the model did not write.
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
			caption = display.Lit("then the results")
		}
		p.sent.Add(panes.NewBlock(caption, m, raw, nil, p.key.sent, draw))
	}
}

// showWrote lays out the arguments as the model wrote them, and marks the bytes that would not be sent.
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
