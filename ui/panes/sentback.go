package panes

import (
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// sentBackSides maps outcomes of sent-back calls to comparison signs.
var sentBackSides = map[replay.Treatment]screen.Side{
	replay.Intact: screen.Same, replay.WasReformatted: screen.Alike, replay.WasMoved: screen.Alike,
	replay.WasRepaired: screen.Differs, replay.WasWrapped: screen.Differs, replay.WasEncoded: screen.Differs,
	replay.WasAltered: screen.Differs, replay.WasOrphaned: screen.Differs,
	replay.WasEmptied: screen.Nothing, replay.WasDropped: screen.Nothing,
}

// SentBackLook returns the role and the sign of an outcome.
func SentBackLook(p *screen.Pen, fate string) (screen.Role, display.Text) {
	if side, ok := sentBackSides[replay.Treatment(fate)]; ok {
		return screen.SideRoles[side], p.Clean(strings.TrimSpace(p.Glyph.Side[side].String())).Between("", " ")
	}
	return screen.Plain, p.Glyph.Dot.Between("", " ")
}

// FirstSentBack says which request first sent back a turn's calls.
func FirstSentBack(v *providers.View, t *stream.Turn) string {
	text := "in " + RequestName(v, t.SentBackIn)
	if v.TurnOf(t.SentBackIn) != nil {
		text += ": o shows it"
	}
	return text
}

// RequestName names an exchange's request by its turn number in the list.
func RequestName(v *providers.View, exchange int) string {
	if t := v.TurnOf(exchange); t != nil {
		return fmt.Sprintf("the request of turn %d", t.Number+1)
	}
	if exchange < 0 {
		return "toolscope's own request"
	}
	return fmt.Sprintf("request %d (without a response)", exchange)
}

// sentBackWords describes how a request sent a call back, without the outcome.
func sentBackWords(v *providers.View, r stream.SentBackCall) string {
	words := "in " + SentBackRequest(v, &r)
	switch names := strings.Split(r.Policies, ","); {
	case r.Policies == "":
	case len(names) == 1:
		words += ", as policy " + names[0] + " does"
	default:
		words += ", as policies " + strings.Join(names, ", ") + " do"
	}
	if r.KeptByProvider {
		words += ", by reference to the provider's copy"
	}
	switch r.ResultCode {
	case stream.ResultOK:
		words += "; with its result"
	case stream.ResultFailed:
		words += "; its result is an error"
	default:
		words += "; without a result"
	}
	return words
}

// sentBackLines returns the lines about how later requests sent a call back.
func sentBackLines(v *providers.View, c *stream.Call, width int, p *screen.Pen) (lines []findingLine) {
	for i, r := range c.SentBack {
		if i == 0 {
			lines = append(lines, findingLine{of: ours}, findingLine{of: ours, role: screen.Muted, text: display.Lit(" WHEN IT WAS SENT BACK")})
		}
		look, sign := SentBackLook(p, r.Outcome)
		text := display.Join(sign, p.Name(r.Outcome), display.Lit("  "), p.Name(sentBackWords(v, r)))
		if c.Syntax() == stream.SyntaxDouble && r.Outcome == string(replay.Intact) {
			text = display.Join(text, display.Lit("; the model double-encoded it"))
		}
		for j, line := range display.Wrap(text, max(width-4, 8)) {
			if j > 0 {
				line = line.Between("  ", "")
			}
			lines = append(lines, findingLine{of: ours, role: look, text: line.Between(" ", ""), to: &r})
		}
	}
	return lines
}

// aboutSentBack lists the outcomes of a call in later requests.
func aboutSentBack(c *stream.Call) string {
	var fates []string
	for _, r := range c.SentBack {
		fates = append(fates, r.Outcome)
	}
	return "sent back " + strings.Join(fates, ", then ")
}

// drawSentBack draws how a later request sent a call back. This event has no frame in the response. If
// which is set, the row also names the call.
func drawSentBack(p *screen.Pen, v *providers.View, e stream.Event, event int, g screen.Surface, which bool) {
	look, sign := SentBackLook(p, e.Text)
	p.TextOn(screen.Muted, g, p.Format("%-4s  ", e.Kind))
	resent := stream.PayloadOf[stream.SentBackReport](e)
	r := stream.SentBackCall{Exchange: resent.Exchange, Policies: resent.Policies, ResultCode: e.Code, KeptByProvider: resent.KeptByProvider, Event: event}
	if which {
		p.TextOn(screen.Plain, g, p.Format("call %d ", e.Slot))
	}
	p.TextOn(look, g, display.Join(sign, p.Name(e.Text)))
	p.TextOn(screen.Plain, g, p.Name(sentBackWords(v, r)).Between(" ", ""))
}
