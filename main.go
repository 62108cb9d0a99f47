// Command toolscope inspects LLM tool calls while they stream.
package main

import (
	"os"
	"runtime/debug"

	"toolscope/ui/cli"
	"toolscope/ui/quiet"
)

// gcPercent has the heap grow by half between collections, not to its double: what is kept is
// bytes, which cost the collector little.
const gcPercent = 50

func main() {
	quiet.Restore()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
