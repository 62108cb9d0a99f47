package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// built is the release, where the one who builds says it: who builds from an archive has no
// history that the compiler could read it from. -ldflags "-X toolscope/ui/cli.built=1.2.3"
var built string

// reports is where bugs are reported, where the one who builds says it.
// -ldflags "-X toolscope/ui/cli.reports=https://…/issues"
var reports string

// bugURL says where bugs are reported.
func bugURL() string {
	return cmp.Or(reports, "as an issue of the project that you have toolscope from")
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Run: func(*cobra.Command, []string) { a.stdout.printLine("toolscope %s", versionText()) },
	}
}

// releaseVersion is the version without what it was built of and with.
func releaseVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(built, "unknown")
	}
	return cmp.Or(built, strings.Trim(info.Main.Version, "()"))
}

// versionText is what the program was built of and with: "1.2.3 (3f2a91c, 2026-11-23, go1.26.8)".
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return releaseVersion()
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	commit := said["vcs.revision"]
	commit = commit[:min(len(commit), 12)] + textIf(said["vcs.modified"] == "true", " and changes")
	day, _, _ := strings.Cut(said["vcs.time"], "T")
	return fmt.Sprintf("%s (%s)", releaseVersion(), joinCommas(commit, day, info.GoVersion))
}
