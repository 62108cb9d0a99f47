package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/ui/display"
)

// built is the release. Builds from an archive set it, because an archive has no Git history:
// -ldflags "-X toolscope/ui/cli.built=1.2.3"
var built string

// reports is the URL for bug reports, if the build sets it:
// -ldflags "-X toolscope/ui/cli.reports=https://…/issues"
var reports string

// bugURL returns where to report bugs.
func bugURL() string {
	return cmp.Or(reports, "as an issue of the project where you got toolscope")
}

// Notices are the licences and notices of the modules that the program contains.
var Notices string

func (a *app) versionCommand() *cobra.Command {
	licenses := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Example: "toolscope version\ntoolscope version --licenses", Long: "The output also shows the commit, its date and the Go version.",
		Run: func(*cobra.Command, []string) {
			if licenses {
				for line := range strings.Lines(Notices) {
					a.stdout.writeLine(display.Clean(strings.TrimRight(line, "\n")))
				}
				return
			}
			a.stdout.printLine("toolscope %s", versionText())
		},
	}
	c.Flags().BoolVar(&licenses, "licenses", false, "")
	return c
}

// releaseVersion returns the version without build details.
func releaseVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(built, "unknown")
	}
	return cmp.Or(built, strings.Trim(info.Main.Version, "()"))
}

// versionText returns the version with build details: "1.2.3 (3f2a91c, 2026-11-23, go1.26.8)".
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
