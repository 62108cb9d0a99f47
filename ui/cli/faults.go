package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"toolscope/capture/fault"
)

// faultFlags are the faults that clients are given in place of what providers send.
type faultFlags struct{ faults []string }

func (f *faultFlags) add(to *pflag.FlagSet) {
	to.StringArrayVar(&f.faults, "fault", nil, "make `FAULT` happen to clients, as in cut@3; may be given several times")
}

func (f *faultFlags) parse() ([]fault.Fault, error) {
	faults, err := fault.ParseFaults(f.faults...)
	if err != nil {
		return nil, usageErrorf("--fault: %w", err)
	}
	return faults, nil
}

// announceFaults says so, where everybody can see it.
func (f *faultFlags) announceFaults(l *liveInput, a *app) {
	if len(f.faults) > 0 {
		l.faults = strings.Join(f.faults, " ")
		a.printNote("what clients are given is bent by toolscope: --fault %s", strings.Join(f.faults, " --fault "))
	}
}

// faultTable tells of the faults that a proxy or a mock provider makes happen.
func faultTable(l lineWriter) {
	l.writeWrapped("", "Faults, in the order in which those that are combined take effect:")
	l.writeWrapped("", "")
	for _, f := range fault.Faults() {
		l.writeWrapped(fmt.Sprintf("  %-16s ", f[0]), f[1])
	}
	l.writeWrapped("", "")
	l.writeWrapped("", fault.Which+". An event is a server-sent event with data, a line of JSON, or a message.")
}
