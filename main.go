// Command toolscope inspects LLM tool calls while they stream.
package main

import (
	"os"

	"toolscope/ui/cli"
	"toolscope/ui/noprobe"
)

func main() {
	noprobe.Restore()
	cli.SteadyMemory()
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
