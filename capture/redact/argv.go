package redact

import (
	"path/filepath"
	"slices"
	"strings"
)

// credentialFlags are flags whose value has a credential in its own form: a name and a password, a header, or
// cookies.
var credentialFlags = map[string]string{
	"-u": "userinfo", "--user": "userinfo", "-U": "userinfo", "--proxy-user": "userinfo", "-H": "header", "--header": "header", "-b": "cookie", "--cookie": "cookie",
}

// passwordFlags are short flags for a password, by their program. A password may follow -p directly.
var passwordFlags = map[string]string{
	"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "sshpass": "-p", "docker": "-p", "mongosh": "-p", "mongo": "-p", "redis-cli": "-a",
	"ldapsearch": "-w", "sqlcmd": "-P",
}

// Argv returns a command line without its secrets: values after the name of a credential, as in --api-key
// VALUE, --api-key=VALUE and API_KEY=VALUE, values of credentialFlags and passwordFlags, and anything that
// looks like a secret. A short password is recognised only by its name, so here the name is enough.
func (r *Redactor) Argv(args []string) []string {
	if r.keep {
		return args
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	out := slices.Clone(args)
	program := ""
	for i, arg := range args {
		if flag := passwordFlags[filepath.Base(arg)]; flag != "" {
			program = filepath.Base(arg)
		}
		name, value, assigned := strings.Cut(arg, "=")
		known, secret := credentialName([]byte(strings.TrimLeft(name, "-")), inText)
		hasNext := i+1 < len(args) && !strings.HasPrefix(args[i+1], "-")
		flag := passwordFlags[program]
		switch {
		case secret && assigned && value != "":
			out[i] = name + "=" + r.replaceAndLearn(value, known.called)
		case secret && !assigned && strings.HasPrefix(arg, "-") && hasNext:
			out[i+1] = r.replaceAndLearn(args[i+1], known.called)
		case assigned && credentialFlags[name] != "":
			out[i] = name + "=" + r.redactFlag(credentialFlags[name], value)
		case credentialFlags[arg] != "" && hasNext:
			out[i+1] = r.redactFlag(credentialFlags[arg], args[i+1])
		case program != "" && arg == flag && hasNext && program != "mysql" && program != "mariadb":
			out[i+1] = r.replaceAndLearn(args[i+1], "password")
		case strings.HasPrefix(program, "m") && flag == "-p" && len(arg) > 2 && strings.HasPrefix(arg, flag):
			out[i] = flag + r.replaceAndLearn(arg[2:], "password")
		case out[i] == arg:
			out[i] = r.redactText(arg)
		}
	}
	return out
}

// redactFlag redacts the value of one of credentialFlags.
func (r *Redactor) redactFlag(form, value string) string {
	before, secret, ok := strings.Cut(value, map[string]string{"userinfo": ":", "header": ":", "cookie": "="}[form])
	space := secret[:len(secret)-len(strings.TrimLeft(secret, " "))]
	switch secret = strings.TrimSpace(secret); {
	case !ok || secret == "" || strings.Trim(secret, "0123456789") == "":
	case form == "userinfo":
		return before + ":" + r.replaceAndLearn(secret, "userinfo")
	case form == "cookie":
		return r.mapCredential("cookie", value, func(secret string) string { return r.replaceAndLearn(secret, "cookie") })
	default:
		lower := strings.ToLower(strings.TrimSpace(before))
		if replaced, _ := secretHeader(lower); replaced {
			return before + ":" + space + r.mapCredential(lower, secret, func(secret string) string { return r.replaceAndLearn(secret, lower) })
		}
	}
	return r.redactText(value)
}

// replaceAndLearn returns the replacement of a value, which counts as a secret from then on.
func (r *Redactor) replaceAndLearn(value, where string) string {
	r.learnParts(value, where, false)
	return r.replacementOf(value, where)
}
