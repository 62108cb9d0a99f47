package cli

import (
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

// announceFaults prints which faults are injected, and shows them on the screen.
func (f *faultFlags) announceFaults(l *liveInput, a *app) {
	if len(f.faults) > 0 {
		l.faults = strings.Join(f.faults, " ")
		a.printNote("toolscope injects faults into the responses: --fault %s", strings.Join(f.faults, " --fault "))
	}
}
