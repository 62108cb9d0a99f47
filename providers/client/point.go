package client

import "strings"

// A ProxySetup holds the settings that send a client to a proxy instead of to its provider. In them, the
// name of a provider in braces is a placeholder for its address at the proxy: {anthropic} is
// http://127.0.0.1:8080/anthropic. Settings for a provider that the proxy doesn't have are left out.
type ProxySetup struct {
	*Client
	Commands []string // its program and its package; none for a library
	Vars     []Var    // environment variables
	Args     []string // flags directly after its command
	Settings Settings // further settings
	Remarks  []string // further notes, in sentences
	Known    Provenance
}

// A Var is an environment variable.
type Var struct {
	Name, Value string
	Why         string // the reason, if it isn't obvious; then a value that the user has set stays
}

// Settings are a client's configuration in JSON.
type Settings struct {
	File string   // where its users keep it
	JSON []string // objects that have to be in it, all of them merged

	// Variable makes the client read other settings, so that the user's own stay unchanged: JSON that
	// overrides them if Inline, else a folder in place of the home folder.
	Variable string
	Inline   bool
	Needs    string // a variable without which the settings are not used; "" for none
}

// ReplaceAddresses replaces the placeholders of addresses. at returns "" for a provider that the proxy
// doesn't have; then ok is false.
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

// WithAddresses returns the setup for a proxy, without the settings for providers that it doesn't have.
// ok reports whether any remaining setting leads to the proxy.
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

// ProxySetupOf returns the setup for a program, nil if it is unknown.
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
