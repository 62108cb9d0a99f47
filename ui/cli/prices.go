package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

func (a *app) pricesFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.pricesFile, "prices", "", "")
	asPaths(cmd.Flags(), "prices")
	markSettings(cmd.Flags(), "", "prices")
}

// loadPrices returns the built-in table with the user's prices over it: those of the setting, else those in
// the configuration folder.
func (a *app) loadPrices() (*price.Table, error) {
	table := price.Embedded()
	path, optional := a.pricesFile, false
	name := a.origin["prices"].describeValue("prices", path)
	if path == "" {
		var err error
		if path, err = inConfigFolder("prices.json"); err != nil {
			return table, nil // without a home folder there is no configuration
		}
		name, optional = path, true
	}
	text, err := readFile(path)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return table, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w\nuse a JSON price list: see 'toolscope help prices'", name, err)
	}
	rows, err := price.Read(text, dayOfFile(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return table.With(rows), nil
}

// dayOfFile returns the day a file was written. It is the date of prices that have none.
func dayOfFile(path string) string {
	at := time.Now()
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime()
	}
	return at.UTC().Format(time.DateOnly)
}

// costOf returns the cost of a turn.
func costOf(prices *price.Table, x *providers.Exchange, t *stream.Turn) price.Figure {
	if x == nil {
		return prices.Turn(t, stream.Head{})
	}
	return prices.Turn(t, *x.Head)
}
