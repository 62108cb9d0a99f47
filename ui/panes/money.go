package panes

import (
	"fmt"
	"strings"

	"toolscope/providers/price"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// minAmount is the text of an amount too small for eight cells.
const minAmount = "<$0.0001"

// shortCost formats a cost for its column: three significant digits or, while it is not final, three
// decimals.
func shortCost(p *screen.Pen, f price.Figure) display.Text {
	if f.Source == price.Free {
		return p.Clean(f.String())
	}
	return p.Clean(dollarText(f.USD, f.Approximate))
}

// totalCost formats a sum in the same way, and the number of turns with unknown cost.
func totalCost(p *screen.Pen, t price.Sum) display.Text {
	if t.Paid == 0 {
		return p.Clean(t.String())
	}
	text := p.Clean(dollarText(t.USD, t.Approximate))
	if t.Unknown > 0 {
		text = display.Join(text, p.Format(" + %d unknown", t.Unknown))
	}
	return text
}

// dollarText formats an amount in eight cells.
func dollarText(usd float64, approximate bool) string {
	switch {
	case usd > 0 && (usd < 0.000005 || approximate && usd < 0.00005):
		return minAmount
	case approximate && usd >= 100:
		return fmt.Sprintf("~$%.0f", usd)
	case approximate && usd >= 0.00005 && usd < 0.001:
		return fmt.Sprintf("~$%.4f", usd)
	case approximate:
		return fmt.Sprintf("~$%.3f", usd)
	}
	decimals := 2
	for under := 0.995; usd < under && decimals < 5; under /= 10 { // three significant digits
		decimals++
	}
	text := fmt.Sprintf("$%.*f", decimals, usd)
	for decimals > 2 && strings.HasSuffix(text, "0") {
		text, decimals = text[:len(text)-1], decimals-1
	}
	return text
}
