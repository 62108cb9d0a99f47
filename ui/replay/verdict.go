package replay

import (
	"cmp"
	"slices"

	"toolscope/providers/replay"
	"toolscope/ui/screen"
)

// verdict is the short form of a preview, for one row.
type verdict struct {
	mute    bool // the client does not speak the target's protocol
	outcome replay.Outcome
	side    screen.Side
	taken   replay.Acceptance
	worst   rowSeverity
	losses  []lossCount // worst first
	refused string      // why the request would be refused, or why the client fails
}

// lossCount counts the losses of one code.
type lossCount struct {
	code     string
	severity replay.Severity
	times    int
	other    string // the other call that has a part in the loss
}

// rowSeverity is the severity that a row's gutter shows.
type rowSeverity uint8

const (
	noSeverity rowSeverity = iota
	worthKnowing
	worthCare
	bad
)

func (g rowSeverity) sign() string { return [...]string{"  ", "i ", "! ", "!!"}[g] }

func (g rowSeverity) role() screen.Role {
	return [...]screen.Role{screen.Muted, screen.Muted, screen.Caution, screen.Bad}[g]
}

// lossSeverity maps the severities of losses.
var lossSeverity = [...]rowSeverity{
	replay.Info: worthKnowing, replay.Low: worthKnowing, replay.Medium: worthCare, replay.High: bad, replay.Critical: bad,
}

// outcomeWord returns the outcome in a word or two.
func (v *verdict) outcomeWord() string {
	if v.mute {
		return "not sent"
	}
	return v.outcome.String()
}

// verdictOf returns the short form of a preview. A rounded number counts as different, even if the text
// looks alike.
func verdictOf(p *replay.Preview) verdict {
	v := verdict{outcome: p.Outcome, side: screen.OutcomeSides[p.Outcome], taken: p.Acceptance, refused: p.Refused}
	at := map[string]int{}
	for _, l := range p.Losses {
		i, seen := at[l.Code]
		if !seen {
			i = len(v.losses)
			at[l.Code] = i
			v.losses = append(v.losses, lossCount{code: l.Code, severity: l.Severity, other: l.Other})
		}
		v.losses[i].times++
		v.losses[i].severity = max(v.losses[i].severity, l.Severity)
		v.worst = max(v.worst, lossSeverity[l.Severity])
		if v.side == screen.Alike && slices.Contains(valueChanges, l.Kind) {
			v.side = screen.Differs
		}
	}
	switch {
	case p.Acceptance.Verdict == replay.Refused, p.Outcome == replay.Throws:
		v.worst = bad
	case p.Outcome == replay.Unknown:
		v.worst = max(v.worst, worthCare)
	}
	slices.SortStableFunc(v.losses, func(a, b lossCount) int { return cmp.Compare(b.severity, a.severity) })
	return v
}

// valueChanges are the losses that change a value.
var valueChanges = []*replay.Kind{replay.IntPrecision, replay.NumRange, replay.DupKeys}

// counts are the numbers of rows of each kind.
type counts struct {
	sides    [screen.NumSides]int
	verdicts [replay.NumVerdicts]int
	mute     int // policies that don't use the provider
}

func (t *table) countRows() (c counts) {
	for i := range t.rows {
		c.sides[t.rows[i].side]++
		if t.rows[i].mute {
			c.mute++
			continue
		}
		c.verdicts[t.rows[i].taken.Verdict]++
	}
	return c
}
