package providers

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// maxDetails is how many events of a kind that takes much memory are kept of an exchange: findings and
// failures, unknown events with their names, and usage.
const maxDetails = 1 << 16

// details counts the events that maxDetails limits.
type details struct {
	x                          *Exchange
	findings, unknowns, usages int
	usage                      *stream.Event // stands for all usage events since the limit; nil if there were none
}

// isBeyondLimit counts an event, and reports whether the timeline does not get it. An unknown event beyond
// the limit loses its name. Usage beyond the limit is merged into one event.
func (d *details) isBeyondLimit(e *stream.Event) bool {
	switch e.Kind {
	case stream.Found, stream.Fault, stream.Failure:
		if e.Kind == stream.Found && stream.PayloadOf[stream.Finding](*e).Diagnosis == protocol.CountedOnly {
			return false
		}
		d.findings++
		return d.findings > maxDetails
	case stream.Unknown:
		if d.unknowns++; d.unknowns > maxDetails {
			e.Text = ""
		}
	case stream.UsageEvent:
		if d.usages++; d.usages <= maxDetails {
			return false
		}
		usage := stream.PayloadOf[stream.Usage](*e)
		if d.usage != nil && d.usage.Turn != e.Turn {
			d.emitLateUsage()
		} else if d.usage != nil {
			usage = stream.PayloadOf[stream.Usage](*d.usage).Merge(usage)
		}
		e.What = &usage
		late := *e
		d.usage = &late
		return true
	}
	return false
}

// emitLateUsage emits the usage since the limit.
func (d *details) emitLateUsage() {
	if e := d.usage; e != nil {
		d.usage, d.usages = nil, 0
		d.x.emit(*e)
		d.usages = maxDetails
	}
}

// reportExcess reports how many findings were not kept.
func (d *details) reportExcess() {
	if n := d.findings - maxDetails; n > 0 {
		d.x.emit(findingEvent(d.x.lastTurn(), protocol.CountedOnly,
			"%s more than the %d that toolscope keeps: they were only counted", stream.Own(count.Of(n, "finding")), maxDetails))
	}
}
