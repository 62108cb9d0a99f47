package redact

import (
	"slices"
	"strings"
)

// Argv returns a command line without its secrets: values after the name of a credential, as in --api-key
// VALUE, --api-key=VALUE and API_KEY=VALUE, and anything that looks like a secret. A short password is
// recognised only by its name, so here the name is enough.
func (r *Redactor) Argv(args []string) []string {
	if r.keep {
		return args
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	out := slices.Clone(args)
	for i, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		known, secret := credentialName([]byte(strings.TrimLeft(name, "-")))
		switch {
		case secret && assigned && value != "":
			out[i] = name + "=" + r.replaceAndLearn(value, known)
		case secret && !assigned && strings.HasPrefix(arg, "-") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			out[i+1] = r.replaceAndLearn(args[i+1], known)
		case out[i] == arg:
			out[i] = r.redactText(arg)
		}
	}
	return out
}

// replaceAndLearn returns the replacement of a value, which counts as a secret from then on.
func (r *Redactor) replaceAndLearn(value string, name secretName) string {
	r.learnParts(value, name.called, false)
	return r.replacementOf(value, name.called)
}
