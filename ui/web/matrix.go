package web

import (
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/screen"
)

// writePreviews writes previews of the call in a later request: of each behaviour with each target, and of
// each known client with the call's own protocol.
func (h *writer) writePreviews(p *Page, t *Turn, c *stream.Call) {
	from := providers.TargetOf(t.Protocol)
	if from == nil {
		return
	}
	x := p.exchangeOf(t.Turn)
	src := replay.SourceOfCalls(t.Turn, from, c).InHistory(x.CarriedCalls(), t.Turn, c).WithEvidence(p.In.View().Witnesses(c))
	if replay.NumCalls(src.Messages) == 0 {
		return
	}
	h.raw("<details><summary>Sent back: what a later request would carry</summary>\n")
	for _, r := range c.SentBack {
		h.raw("<p>Seen in request ").writeInt(r.Exchange).raw(": <strong>").text(r.Outcome).raw("</strong>")
		if r.Policies != "" {
			h.raw(", as with ").text(strings.ReplaceAll(r.Policies, ",", ", "))
		}
		h.raw("</p>\n")
	}
	h.writeMatrix(src, providers.Targets())
	h.writeClients(src, from)
	h.raw("</details>\n")
}

// writeMatrix writes a table of targets and behaviours, with the losses below it.
func (h *writer) writeMatrix(src *replay.Source, targets []*protocol.Target) {
	h.raw(`<div class="wide" tabindex="0" role="group" aria-label="Targets and behaviours"><table><caption>What each behaviour sends to each target</caption><thead><tr><th scope="col">target</th>`)
	for i := range replay.Behaviours {
		h.raw(`<th scope="col">`).text(replay.Behaviours[i].Name).raw("</th>")
	}
	h.raw("</tr></thead><tbody>\n")
	var lost losses
	for _, to := range targets {
		h.raw(`<tr><th scope="row">`).text(to.Name).raw("</th>")
		for i := range replay.Behaviours {
			v := src.Preview(to, &replay.Behaviours[i])
			h.raw("<td>")
			h.writeOutcome(&v)
			h.raw("</td>")
			lost.add(&v)
		}
		h.raw("</tr>\n")
	}
	h.raw("</tbody></table></div>\n")
	h.writeLosses(&lost)
}

// writeClients writes a table of the clients that are known to use the call's protocol.
func (h *writer) writeClients(src *replay.Source, from *protocol.Target) {
	h.raw(`<div class="wide" tabindex="0" role="group" aria-label="Clients"><table><caption>What each client sends back to `).text(from.Name)
	h.raw(`</caption><thead><tr><th scope="col">client</th><th scope="col">how known</th><th scope="col">outcome</th><th scope="col">provider</th></tr></thead><tbody>` + "\n")
	for i := range replay.Clients {
		as := &replay.Clients[i]
		if !as.Knows(src.From, from) {
			continue
		}
		v := src.Preview(from, as)
		h.raw(`<tr><th scope="row">`).text(as.Client.Title).raw("</th><td>").text(as.Known.String()).raw("</td><td>")
		h.writeOutcome(&v)
		h.raw("</td><td>").text(v.Acceptance.String()).raw("</td></tr>\n")
	}
	h.raw("</tbody></table></div>\n")
}

// writeOutcome writes the outcome, and whether the provider is known to refuse it.
func (h *writer) writeOutcome(v *replay.Preview) {
	side := screen.OutcomeSides[v.Outcome]
	h.raw(`<span class="`).raw(roles[screen.SideRoles[side]]).raw(`">`).text(v.Outcome.String()).raw("</span>")
	if v.Acceptance.Verdict == replay.Refused {
		h.raw(`, <span class="bad">refused</span>`)
	}
}

// losses collects the kinds of loss in previews, each once. It leaves out losses of severity info.
type losses struct {
	seen map[string]bool
	all  []replay.Loss
}

func (l *losses) add(v *replay.Preview) {
	for _, loss := range v.Losses {
		if loss.Severity == replay.Info || l.seen[loss.Code] {
			continue
		}
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		l.seen[loss.Code] = true
		l.all = append(l.all, loss)
	}
}

func (h *writer) writeLosses(l *losses) {
	if len(l.all) == 0 {
		return
	}
	h.raw("<p>Losses in these previews:</p>\n<ul>")
	for _, loss := range l.all {
		h.raw("<li><code>").text(loss.Code).raw("</code> ").text(loss.Meaning).raw("</li>\n")
	}
	h.raw("</ul>\n")
}
