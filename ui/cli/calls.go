package cli

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"toolscope/capture/fleet"
	"toolscope/stream"
	"toolscope/ui/display"
)

// callFlags select exchanges of a hub by its index. Other exchanges are not read.
type callFlags struct{ model, status string }

func (a *app) callFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringVar(&a.calls.model, "hub-model", "", "")
	to.StringVar(&a.calls.status, "hub-state", "", "")
}

// checkHubFlags returns an error if callFlags are used with a path that is not a hub.
func (a *app) checkHubFlags(paths []string) error {
	if a.calls != (callFlags{}) && !allAddresses(paths) {
		return usageErrorf("--hub-model and --hub-state: need a hub, whose index lists the calls\nfor files, use --filter 'model:NAME state:STATE'")
	}
	return nil
}

// allAddresses reports whether there are paths and all are addresses of hubs.
func allAddresses(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !fleet.IsAddress(path) })
}

// hubAddress parses the address of a hub, and applies callFlags to it.
func (a *app) hubAddress(path string) (of fleet.Address, err error) {
	if of, err = fleet.ParseAddress(path); err != nil {
		return of, usageErrorf("%s: %w", safeAddress(path), err)
	}
	of.Model, of.Status = cmp.Or(a.calls.model, of.Model), cmp.Or(a.calls.status, of.Status)
	if words := statusWords(); of.Status != "" && !slices.Contains(words, of.Status) {
		return of, usageErrorf("unknown state %q\nuse one of %s", of.Status, joinCommas(words...))
	}
	return of, nil
}

// statusWords returns the names of the states of a call, as in JSON lines.
func statusWords() (words []string) {
	for s := range stream.Status(stream.NumStatus) {
		words = append(words, s.String())
	}
	return words
}

// isIndexed reports whether a path selects calls by a hub's index. Such a path may match nothing.
func (a *app) isIndexed(path string) bool {
	if !fleet.IsAddress(path) {
		return false
	}
	of, err := a.hubAddress(path)
	return err == nil && of.IsIndexed()
}

// isIndexOnly reports whether the lines of a hub's index suffice, without its captures.
func (a *app) isIndexOnly(paths []string) bool {
	return a.format == "jsonl" && !a.summary && a.jq == "" && a.filter == "" && a.tracing == nil &&
		allAddresses(paths) && !slices.ContainsFunc(paths, func(path string) bool { return !a.isIndexed(path) })
}

// printLines prints the lines of calls in the indexes of hubs, of all hubs at the same time.
func (a *app) printLines(ctx context.Context, paths []string) error {
	ctx, stop := a.untilCaught(ctx)
	defer stop()
	defer a.endWithReader()()
	var wait sync.WaitGroup
	var mu sync.Mutex // protects to and failed
	to := a.stdout.withBuffer()
	var failed error
	for _, path := range paths {
		if _, err := a.openView(ctx, path); err != nil {
			return err
		}
	}
	for _, v := range a.views {
		wait.Go(func() {
			err := v.Lines(ctx, func(line []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				if failed == nil {
					to.writeParts(slices.Values([][]byte{display.AppendJSONText(nil, line)}))
					failed = to.flush()
				}
				return failed == nil
			})
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		})
	}
	wait.Wait()
	a.reportViews()
	return failed
}
