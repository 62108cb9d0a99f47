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

// callFlags say which calls of a hub are wanted. Its index knows them; of everything else nothing is
// read.
type callFlags struct{ model, status string }

func (a *app) callFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringVar(&a.calls.model, "model", "", "of a hub: only exchanges with calls of the model `NAME`; nothing else is read")
	to.StringVar(&a.calls.status, "status", "", "of a hub: only exchanges with calls that are `STATUS`, as malformed; nothing else is read")
}

// checkHubFlags reports whether what is asked of a hub's index is asked of hubs.
func (a *app) checkHubFlags(paths []string) error {
	if a.calls != (callFlags{}) && !allAddresses(paths) {
		return usageErrorf("--model and --status are for a hub, whose index knows the calls\nof files --filter 'model:NAME state:WORD' prints the turns")
	}
	return nil
}

func allAddresses(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !fleet.IsAddress(path) })
}

// hubAddress is what a path says, and the flags.
func (a *app) hubAddress(path string) (of fleet.Address, err error) {
	if of, err = fleet.ParseAddress(path); err != nil {
		return of, usageErrorf("%s: %w", safeAddress(path), err)
	}
	of.Model, of.Status = cmp.Or(a.calls.model, of.Model), cmp.Or(a.calls.status, of.Status)
	if words := statusWords(); of.Status != "" && !slices.Contains(words, of.Status) {
		return of, usageErrorf("no call is %q: wanted is %s", of.Status, joinCommas(words...))
	}
	return of, nil
}

// statusWords are what may become of a call, in the words of its line.
func statusWords() (words []string) {
	for s := range stream.Status(stream.NumStatus) {
		words = append(words, s.String())
	}
	return words
}

// isIndexed reports whether of a path only some calls are wanted. There may be none.
func (a *app) isIndexed(path string) bool {
	if !fleet.IsAddress(path) {
		return false
	}
	of, err := a.hubAddress(path)
	return err == nil && of.IsIndexed()
}

// isIndexOnly reports whether the lines of a hub's index are all that is to be printed: nothing of the
// captures is read for them.
func (a *app) isIndexOnly(paths []string) bool {
	return a.format == "jsonl" && !a.summary && a.jq == "" && a.filter == "" && a.tracing == nil &&
		allAddresses(paths) && !slices.ContainsFunc(paths, func(path string) bool { return !a.isIndexed(path) })
}

// printLines prints the lines of calls that hubs have in their index, of all hubs at the same time.
func (a *app) printLines(ctx context.Context, paths []string) error {
	ctx, stop := a.untilCaught(ctx)
	defer stop()
	defer a.endWithReader()()
	var wait sync.WaitGroup
	var mu sync.Mutex // of what follows
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
