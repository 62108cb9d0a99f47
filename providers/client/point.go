package client

import "strings"

// A ProxySetup is how a client is sent to a proxy instead of to its provider. In what it holds, the name
// of a provider in braces stands for where the proxy has that provider: {anthropic} is
// http://127.0.0.1:8080/anthropic. What names a provider that a proxy does not have is left out.
type ProxySetup struct {
	*Client
	Commands []string // its program, and the package it comes in; none for a library
	Vars     []Var    // of its environment
	Args     []string // flags right behind its command
	Settings Settings // what it reads beside these
	Remarks  []string // what else there is to know, in sentences
	Known    Provenance
}

// A Var is a variable of the environment.
type Var struct {
	Name, Value string
	Why         string // where it does not say itself; one that the user has set stays
}

// Settings are a client's configuration in JSON.
type Settings struct {
	File string   // where its users keep it
	JSON []string // objects that have to be in it, all of them merged

	// Variable has the client read others, so that the user's own can stay as they are: JSON that
	// goes before them, if Inline, else what is in a folder that stands for the home.
	Variable string
	Inline   bool
	Needs    string // a variable without which they are not wanted; "" for none
}

// ReplaceAddresses puts addresses in place of what stands for them. It reports whether all are known: at is ""
// for a provider that the proxy does not have.
func ReplaceAddresses(text string, at func(host string) string) (filled string, ok bool) {
	var b strings.Builder
	for {
		from := strings.IndexByte(text, '{')
		if from < 0 {
			return b.String() + text, true
		}
		name, rest, closed := strings.Cut(text[from+1:], "}")
		if !closed || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" { // JSON
			b.WriteString(text[:from+1])
			text = text[from+1:]
			continue
		}
		address := at(name)
		if address == "" {
			return "", false
		}
		b.WriteString(text[:from])
		b.WriteString(address)
		text = rest
	}
}

// WithAddresses is the point at a proxy: without what that has no provider for. ok is whether anything of
// it is left that leads there.
func (p ProxySetup) WithAddresses(at func(host string) string) (f ProxySetup, ok bool) {
	f = p
	f.Vars, f.Args, f.Settings.JSON = nil, nil, nil
	for _, v := range p.Vars {
		if filled, known := ReplaceAddresses(v.Value, at); known {
			ok = ok || filled != v.Value
			v.Value = filled
			f.Vars = append(f.Vars, v)
		}
	}
	for _, text := range p.Settings.JSON {
		if filled, known := ReplaceAddresses(text, at); known {
			ok = ok || filled != text
			f.Settings.JSON = append(f.Settings.JSON, filled)
		}
	}
	for _, arg := range p.Args {
		filled, known := ReplaceAddresses(arg, at)
		if !known {
			f.Args = nil
			break
		}
		ok = ok || filled != arg
		f.Args = append(f.Args, filled)
	}
	f.Remarks = nil
	for _, text := range p.Remarks {
		if filled, known := ReplaceAddresses(text, at); known {
			ok = ok || filled != text
			f.Remarks = append(f.Remarks, filled)
		}
	}
	return f, ok
}

// ProxySetupOf is how the client of a program is sent, nil if it is none that is known.
func ProxySetupOf(command string) *ProxySetup {
	for i := range ProxySetups {
		for _, c := range ProxySetups[i].Commands {
			if c == command {
				return &ProxySetups[i]
			}
		}
	}
	return nil
}
