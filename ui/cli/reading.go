package cli

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"toolscope/providers"
	"toolscope/providers/dialect"
)

// readFlags say how what comes is read.
type readFlags struct {
	dialect string
	request string // file that holds the body of a request
}

func (r *readFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.dialect, "dialect", "auto", "the protocol of every response: auto, or a name from 'toolscope help dialects'")
	f.StringVar(&r.request, "request", "", "check calls against the tools of the request body in this `FILE`, where none was captured")
}

// prepare returns what sets an inspector up to read so.
func (r *readFlags) prepare() (func(*providers.Inspector), error) {
	var forced *dialect.Dialect
	if r.dialect != "" && r.dialect != "auto" {
		d, err := providers.Find(r.dialect)
		if err != nil {
			return nil, usagef("--dialect: %w, and auto", err)
		}
		forced = d
	}
	body, err := r.requestBody()
	if err != nil {
		return nil, err
	}
	return func(in *providers.Inspector) {
		in.Force(forced)
		in.Request = body
	}, nil
}

// requestBody is what --request names, nil without it.
func (r *readFlags) requestBody() ([]byte, error) {
	if r.request == "" {
		return nil, nil
	}
	body, err := os.ReadFile(r.request)
	if err != nil {
		return nil, fmt.Errorf("--request: %w", err)
	}
	s := dialect.Scan(body)
	isObject := s.Kind() == '{'
	s.Value()
	switch err := s.End(); {
	case err != nil:
		return nil, fmt.Errorf("--request %s: not JSON: %w\nwanted is the body that was sent, as in {\"model\": …, \"tools\": […]}", r.request, err)
	case !isObject || !providers.DeclaresTools(body):
		return nil, fmt.Errorf("--request %s: declares no tools of a known protocol\nwanted is the body that was sent, as in {\"model\": …, \"tools\": […]}", r.request)
	}
	return body, nil
}

// dialectTable is the dialects that can be forced, a line each.
func dialectTable() (text string) {
	for _, d := range providers.All {
		text += fmt.Sprintf("\n  %-20s %s", d.Name, d.Title)
	}
	return text
}
