package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"toolscope/capture/fault"
)

// faultFlags are the faults to inject into the responses.
type faultFlags struct{ faults []string }

func (f *faultFlags) add(to *pflag.FlagSet) {
	to.StringArrayVar(&f.faults, "fault", nil, "")
}

// parse parses the faults.
func (f *faultFlags) parse() ([]fault.Fault, error) {
	faults, err := fault.ParseFaults(f.faults...)
	if err != nil {
		return nil, usageErrorf("--fault: %w", err)
	}
	return faults, nil
}

// announceFaults prints that faults are injected, and marks the screen.
func (f *faultFlags) announceFaults(l *liveInput, a *app) {
	if len(f.faults) > 0 {
		l.faults = strings.Join(f.faults, " ")
		a.printNote("toolscope injects faults into the responses: --fault %s", strings.Join(f.faults, " --fault "))
	}
}

// faultTable writes the faults of a proxy and of a mock.
func faultTable(l lineWriter) {
	l.writeWrapped("", "Faults, in the order in which combined faults take effect:")
	l.writeWrapped("", "")
	for _, f := range fault.Faults() {
		l.writeWrapped(fmt.Sprintf("  %-16s ", f[0]), f[1])
	}
	l.writeWrapped("", "")
	l.writeWrapped("", fault.Which+". An event is a server-sent event with data, a line of JSON, or a message.")
}
