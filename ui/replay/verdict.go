package replay

import (
	"cmp"
	"slices"

	"toolscope/providers/replay"
	"toolscope/ui/screen"
)

// verdict is a preview in a few words.
type verdict struct {
	mute    bool // the client does not speak the target's protocol
	outcome replay.Outcome
	side    screen.Side
	taken   replay.Acceptance
	worst   rowSeverity
	losses  []lossCount // worst first
	refused string      // why the request would be, or why the client fails
}

// lossCount is the losses of one code.
type lossCount struct {
	code     string
	severity replay.Severity
	times    int
	other    string // the call that is in it too
}

// rowSeverity is how bad a row is: what its gutter says.
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

// lossSeverity is that of losses.
var lossSeverity = [...]rowSeverity{
	replay.Info: worthKnowing, replay.Low: worthKnowing, replay.Medium: worthCare, replay.High: bad, replay.Critical: bad,
}

// outcomeWord says what becomes of it.
func (v *verdict) outcomeWord() string {
	if v.mute {
		return "not sent"
	}
	return v.outcome.String()
}

// verdictOf is what a row says of a preview. A number that is rounded is no longer what it was,
// however alike it is written.
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

// valueChanges are the losses after which a value is another.
var valueChanges = []*replay.Kind{replay.IntPrecision, replay.NumRange, replay.DupKeys}

// counts is how many rows of a table there are of each sort.
type counts struct {
	sides    [screen.NumSides]int
	verdicts [replay.NumVerdicts]int
	mute     int // that do not ask the provider
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
