package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"toolscope/capture/bend"
)

// faultFlags are the faults that clients are given in place of what providers send.
type faultFlags struct{ faults []string }

func (f *faultFlags) add(to *pflag.FlagSet) {
	to.StringArrayVar(&f.faults, "fault", nil, "make `FAULT` happen to clients, as in cut@3; may be given several times")
}

func (f *faultFlags) parse() ([]bend.Fault, error) {
	faults, err := bend.ParseFaults(f.faults...)
	if err != nil {
		return nil, usagef("--fault: %w", err)
	}
	return faults, nil
}

// tell says so, where everybody can see it.
func (f *faultFlags) tell(l *live, a *app) {
	if len(f.faults) > 0 {
		l.faults = strings.Join(f.faults, " ")
		a.notef("what clients are given is bent by toolscope: --fault %s", strings.Join(f.faults, " --fault "))
	}
}

// faultTable tells of the faults that a proxy or a mock provider makes happen.
func faultTable(l lines) {
	l.prose("", "Faults, in the order in which those that are combined take effect:")
	l.prose("", "")
	for _, f := range bend.Faults() {
		l.prose(fmt.Sprintf("  %-16s ", f[0]), f[1])
	}
	l.prose("", "")
	l.prose("", bend.Which+". An event is a server-sent event with data, a line of JSON, or a message.")
}
