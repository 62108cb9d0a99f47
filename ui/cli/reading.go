package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"toolscope/providers"
	"toolscope/providers/dialect"
)

// readFlags say how what comes is read.
type readFlags struct {
	dialect string
}

func (r *readFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.dialect, "dialect", "auto", "the protocol of every response: auto, or a name from 'toolscope help dialects'")
}

// prepare returns what sets an inspector up to read so.
func (r *readFlags) prepare() (func(*providers.Inspector), error) {
	var forced *dialect.Dialect
	if r.dialect != "" && r.dialect != "auto" {
		d, err := providers.Find(r.dialect)
		if err != nil {
			return nil, usagef("--dialect: %w, and auto", err)
		}
		forced = d
	}
	return func(in *providers.Inspector) { in.Force(forced) }, nil
}

// dialectTable is the dialects that can be forced, a line each.
func dialectTable() (text string) {
	for _, d := range providers.All {
		text += fmt.Sprintf("\n  %-20s %s", d.Name, d.Title)
	}
	return text
}
