package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/stream/json"
)

// toolURL is the environment variable that gives the tested program the address of the tools.
const toolURL = "TOOLSCOPE_TOOL_URL"

// mcpToolCommand returns the command that runs an MCP server with the tools of torture. The server calls the tools at
// an address of torture.
func (a *app) mcpToolCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use: "mcp-tool --url URL", Short: "Serve the test tools of 'torture' over MCP", Long: "The server has the tools 'note' and 'tick'. 'toolscope torture' starts it for the client that it tests.", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, out, _ := a.stdStreams()
			return serveTools(a.stdin, out, url)
		},
	}
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil } // as for mcp: an invalid configuration must not prevent a server from running
	cmd.Flags().StringVar(&url, "url", "", "")
	return cmd
}

// toolList describes the tools in the form of MCP.
const toolList = `[{"name":"note","description":"Notes a text.","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"the text"},"n":{"type":"integer","description":"a number"}},"required":["text"]},"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}},` +
	`{"name":"tick","description":"Notes that it was called.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}]`

// serveTools answers JSON-RPC messages until the input ends.
func serveTools(in io.Reader, out io.Writer, url string) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if message := json.Value(strings.TrimSpace(string(line))); message.Get("id").IsPresent() && message.Get("method").IsPresent() {
			if _, failed := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", message.Get("id"), toolAnswer(message, url)); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// toolAnswer returns the result or the error for a message.
func toolAnswer(message json.Value, url string) string {
	params := message.Get("params")
	switch method := message.Get("method").Text(); method {
	case "initialize":
		version := params.Get("protocolVersion")
		if !version.IsString() {
			version = json.Value(`"2025-06-18"`)
		}
		return fmt.Sprintf(`"result":{"protocolVersion":%s,"capabilities":{"tools":{}},"serverInfo":{"name":"torture","version":"1"}}`, version)
	case "ping":
		return `"result":{}`
	case "tools/list":
		return `"result":{"tools":` + toolList + `}`
	case "resources/list", "prompts/list", "resources/templates/list":
		name, _, _ := strings.Cut(method, "/list")
		return `"result":{"` + strings.ReplaceAll(name, "resources/templates", "resourceTemplates") + `":[]}`
	case "tools/call":
		text, err := callTool(url, params.Get("name").Text(), params.Get("arguments"))
		if err != nil {
			return `"result":{"content":[{"type":"text","text":` + jsonText(err.Error()) + `}],"isError":true}`
		}
		return `"result":{"content":[{"type":"text","text":` + jsonText(text) + `}]}`
	}
	return `"error":{"code":-32601,"message":"unknown method"}`
}

// callTool calls a tool at the address, and returns its result.
func callTool(url, name string, args []byte) (string, error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	res, err := http.Post(url+"/"+name, "application/json", strings.NewReader(string(args)))
	if err != nil {
		return "", errors.New("the tool can't be reached")
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New("no such tool: " + name)
	}
	return string(text), err
}
