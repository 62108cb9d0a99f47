package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/protocol"
)

// openOptions returns the options for opening an input.
func (r *readFlags) openOptions(follow bool, stdin io.Reader) capture.Options {
	o := capture.Options{Follow: follow, Stdin: stdin, Formats: formats.All, GuessPayload: looksLike}
	switch r.as {
	case "", "auto":
	case "body":
		o.Formats, o.Forced = nil, true
	default:
		f, _ := formats.Find(r.as) // inspectorSetup checks the name
		o.Formats, o.Forced = []capture.Format{f}, true
	}
	return o
}

// readFlags are the flags for reading inputs.
type readFlags struct {
	places   bool // the command needs places in log files
	protocol string
	as       string // name of the format of all inputs
	request  string // file with the body of a request
}

func (r *readFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.protocol, "protocol", "auto", "")
	f.StringVar(&r.as, "from", "auto", "")
	f.StringVar(&r.request, "request", "", "")
}

// inspectorSetup returns a function that applies the flags to an inspector.
func (r *readFlags) inspectorSetup() (func(*providers.Inspector), error) {
	var forced *protocol.Protocol
	if r.protocol != "" && r.protocol != "auto" {
		d, err := providers.FindProtocol(r.protocol)
		if err != nil {
			return nil, usageErrorf("--protocol: %w, and auto%s", err, suggestCompletion(r.protocol, protocolCompletions()))
		}
		forced = d
	}
	if _, ok := formats.Find(r.as); !ok && !slices.Contains([]string{"", "auto", "body"}, r.as) {
		return nil, usageErrorf("--from %q: unknown format%s\nuse auto, body, or a name from 'toolscope help formats'", r.as, suggestCompletion(r.as, formatCompletions()))
	}
	body, err := r.requestBody()
	if err != nil {
		return nil, err
	}
	return func(in *providers.Inspector) {
		in.ForceProtocol(forced)
		in.Request = body
	}, nil
}

// requestBody returns the content of the file of --request, nil without the flag.
func (r *readFlags) requestBody() ([]byte, error) {
	if r.request == "" {
		return nil, nil
	}
	body, err := os.ReadFile(r.request)
	if err != nil {
		return nil, fmt.Errorf("--request: %w", err)
	}
	s := protocol.Scan(body)
	isObject := s.Kind() == '{'
	s.Value()
	switch err := s.End(); {
	case err != nil:
		return nil, fmt.Errorf("--request %s: not JSON: %w\nuse the body of a request, e.g. {\"model\": …, \"tools\": […]}", r.request, err)
	case !isObject || !providers.DeclaresTools(body):
		return nil, fmt.Errorf("--request %s: it declares no tools of a known protocol\nuse the body of a request, e.g. {\"model\": …, \"tools\": […]}", r.request)
	}
	return body, nil
}
