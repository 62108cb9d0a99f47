// Command toolscope inspects LLM tool calls while they stream.
package main

import (
	_ "embed"
	"os"

	"toolscope/ui/cli"
	"toolscope/ui/noprobe"
)

//go:embed THIRD_PARTY_NOTICES
var notices string

func main() {
	noprobe.Restore()
	cli.SteadyMemory()
	cli.Notices = notices
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
