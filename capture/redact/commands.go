package redact

import (
	"bytes"
	"slices"
	"strings"
)

// The tables hold the commands, calls and phrases after which a random value is a credential, wherever in the line, in
// the arguments or at the beginning of the next line it is. Each entry becomes a context. A pipe in it marks where four
// characters end that are rare in other texts: the search stops there, and compares the rest of the entry.

// secretCommands are commands that take credentials as arguments. A random word in the rest of such a line is one.
var secretCommands = []string{
	"htpasswd", "rabbitmqctl| add_user", "rabbitmqctl| change_password", "rabbitmqad|min", "mc a|dmin user add", "mc a|lias set", "mc config h|ost add",
	"networksetup -setairportnet|work", "wpa_passphr|ase", "nmcli dev wifi |connect", "nmcli device wifi |connect", "nmcli d wifi |connect", "nmcl|i con add", "nmcl|i connection add",
	"snowsql", "beel|ine", "bcp", "evil-w|inrm", "crackmapexe|c", "netexe|c", "hydra", "psexe|c", "ipmito|ol", "snmpge|t", "snmpwa|lk", "snmps|et", "smbcl|ient",
	"ldappas|swd", "ldapad|d", "ldapmo|dify", "ldapde|lete", "usermod", "ssh-k|eygen", "keyto|ol", "jarsig|ner", "poet|ry config",
	"nuge|t push", "nuge|t sources add", "nuget setapik|ey", "snyk |auth", "cloudfl|ared service install", "vaul|t operator unseal", "vault operator reke|y",
	"vaul|t write", "vault kv p|ut", "vault kv p|atch", "bw l|ogin", "bw u|nlock", "lftp", "ncftpge|t", "ncftppu|t", "etcdctl u|ser add", "swaks", "mqtt |sub", "mqtt |pub", "influx |config create", "influx |setup",
	"codecov", "rclone obscur|e", "rclo|ne config create", "supaba|se link", "openssl e|nc", "openssl s_c|lient", "openssl pkcs1|2", "openssl rsa", "openssl p|asswd",
	"aws secretsma|nager create-secret", "aws secretsma|nager put-secret-value", "llm |keys set", "security unlock-keych|ain", "security add-g|eneric-password",
	"security add-|internet-password", "impacket-psexe|c", "impacket-secretsdum|p", "impacket-wmiex|ec", "eas secret:cr|eate", "doppl|er secrets set", "consul kv p|ut", "pulumi c|onfig set",
	"sshpas|s", "ldapsea|rch", "redis-cli", "dock|er login", "podm|an login", "helm |registry login", "az l|ogin", "oc l|ogin", "wandb l|ogin", "gh s|ecret set", "heroku config:se|t", "fly secrets| set", "flyctl| secrets set",
	"npm config s|et", "yarn config s|et", "pip config s|et", "gem p|ush", "ansible-vaul|t encrypt_string", "hcloud c|ontext", "mysqlad|min", "dsque|ry", "rar |a", "rar x", "unra|r x", "iwctl", "ConvertTo-S|ecureString", "fastcgi_p|aram", "com2s|ec", "radius-|server host", "sp_addlo|gin",
	"net u|se", "poet|ry publish", "nuge|t add source", "bundl|e config set", "composer| config", "sonar-sc|anner", "kagg|le config set", "drus|h user:password", "drus|h upwd",
	"carg|o login", "sp_addli|nkedsrvlogin", "PASSWORD F|ROM", "net u|ser", "NickS|erv :IDENTIFY", "NickS|erv identify", "NickS|erv IDENTIFY", "ftp> u|ser",
	"twilio| login", "smbma|p", "glab a|uth login",
}

// listedCommands are more commands that take credentials, but only in a list of arguments, where the arguments are
// apart.
var listedCommands = []string{"vault login", "mysql", "mysqldump", "mariadb", "mongosh", "mongo", "psql", "sqlcmd", "7z", "plink", "pscp", "ansible-playbook"}

// commandWords holds the commands above in lists of arguments, with a null byte after each word: true for a complete
// command, and false for the first words of one.
var commandWords = func() map[string]bool {
	all := map[string]bool{}
	for _, c := range slices.Concat(secretCommands, listedCommands) {
		words := strings.Fields(strings.ReplaceAll(c, "|", ""))
		for i := range words {
			begun := strings.Join(words[:i+1], "\x00") + "\x00"
			all[begun] = all[begun] || i+1 == len(words)
		}
	}
	return all
}()

// commandStarts and commandEnds are the first and the last letters of words in commandWords.
var commandStarts, commandEnds = func() (starts, ends [256]bool) {
	for words := range commandWords {
		starts[words[0]] = true
		for _, word := range strings.Split(strings.TrimSuffix(words, "\x00"), "\x00") {
			ends[word[0]], ends[word[len(word)-1]] = true, true
		}
	}
	return starts, ends
}()

// listedValue is the rule for a credential in a list of arguments.
var listedValue = compileRules([]*rule{{name: "secret", after: "=", shape: commandValue, fit: lenWithoutFullStop, is: isUnlikely}})[0]

// readArgument notes that an array may be a list of arguments with credentials.
func (c *container) readArgument(word []byte) {
	if n := len(word); n == 0 || n > 32 || c.n > 0 && c.words == "" || !commandEnds[word[n-1]] || !commandEnds[word[0]] || c.n == 0 && !commandStarts[word[0]] {
		return
	}
	var begun [128]byte
	said := append(append(append(begun[:0], c.words...), word...), 0)
	whole, ok := commandWords[string(said)]
	if c.words = ""; ok && !whole {
		c.words = string(said)
	}
	c.command = c.command || whole
}

// secretCalls are the ends of calls that take credentials. A random string among their arguments is one.
var secretCalls = []string{
	"jwt.|sign(", "jwt.|verify(", "jwt.|encode(", "jwt.|decode(", "jwt.|Parse(", "SSHClient().conn|ect(", "ssh.conn|ect(", ".login(", "pymysql.|connect(", "psycopg2.c|onnect(", "mysqli_|connect(", "mysql_|real_connect(", "DBI->c|onnect(", "MySQLdb.|connect(", "pyodbc.|connect(", "oracledb|.connect(", "asyncpg.|connect(",
	"Driv|erManager.getConnection(", "PasswordAu|thentication(", "KeyCr|edential(", "SecretC|redential(", "NetworkCr|edential(", "TokenCr|edential(", "AwsBasicCr|edentials.create(", "UsernamePasswordCr|edentials(",
	"SecretKeySpe|c(", "hmacShaKeyFor(", "HMAC2|56(", "HMAC3|84(", "HMAC5|12(", "SecurityK|ey(", "createHmac(", "createCipheriv(", "createDecipheriv(", "AES.e|ncrypt(", "AES.d|ecrypt(",
	"hmac.n|ew(", "hmac|.New(", "Fern|et(", "AES.n|ew(", "TimedS|erializer(", "hashpw(", "checkpw(", "password_h|ash(", "password_v|erify(", "Hash::ma|ke(", "Hash::ch|eck(", "create_us|er(", "create_superu|ser(",
	"createUs|er(", "assword(", "mysqli(", "new PDO|(", "PDO(", "Sequeli|ze(", "WiFi.b|egin(", "SignedS|tring(", "NewDi|aler(", "from_|secret(", "Auth(", "_auth(", ":auth(", ".auth(", "Stripe|(",
	"ntSec|ret(", "nt_s|ecret(", "ookieSe|ssion(", "buildConfigFi|eld(", "ssword::n|ew(", "Secret::n|ew(", "set_|secret(", "setS|ecret(", "create_s|ecret(", "createSec|ret(", "put_s|ecret(", "putS|ecret(", "add_|secret(", "addSec|ret(", "TelegramC|lient(", "signWi|th(", "sym_e|ncrypt(", "sym_|decrypt(",
	"AES_ENCRYPT(", "AES_DECRYPT(", "boto3.|Session(", "client.ru|n(", "bot.|run(", "OpenAI(", "asswordHas|h(", "password_h|ash_check(", "encryptP|assword(",
}

// fieldCalls are the ends of calls that type a text into a field of a page. The text is a credential if the line names
// a field for one.
var fieldCalls = []string{".fill(", "send_k|eys(", "sendK|eys(", ".setV|alue(", ".press_seq|uentially(", ".pressSeq|uentially(", "fillFi|eld(", ".ty|pe(", ".typeT|ext("}

// secretPrinters are ends of commands and phrases after which the next line is a credential.
var secretPrinters = []string{
	"pass s|how ", "lpas|s show ", "op r|ead ", "find-g|eneric-password ", "find-i|nternet-password ", "secret-t|ool lookup ", "secrets| versions access ",
	"login on a CI| server:", "procee|d to installation:", "<<EOF", "<<'EO|F'", "<<-EO|F", "<<EOT", "<<~EOT", "vaul|t token lookup",
	"gopas|s show ", "bw g|et password ", "chambe|r read ", "credst|ash get ", "keyri|ng get ", "kube|ctl create token ", "-field=pa|ssword ", "-field=to|ken ", "-field=v|alue ", "--query SecretS|tring ", "--query P|arameter.Value ",
}

// secretLines are the beginnings of lines and phrases, in programs' files and in other languages. The next random word
// is a credential.
var secretLines = []string{
	"Passwort", "passwort", "Kennwor|t", "kennwor|t", "Geheimnis", "mot |de passe", "Mot |de passe", "Contraseña", "contraseña", "contrase|na", "Clav|e", "clav|e", "Clé ", "clé ", "Senh|a", "senh|a", "Wachtwoor|d", "wachtwoor|d",
	"Lösenord", "lösenord", "Hasło", "hasło", "Parol|a", "parol|a", "Hesl|o", "hesl|o", "Jeto|n", "jeto|n", "Пароль", "пароль", "Токен", "токен", "密码", "密碼", "口令", "令牌", "密钥", "密鑰", "パスワード", "トークン", "APIキー", "秘密鍵", "비밀번호", "암호", "토큰", "كلمة المرور", "पासवर्ड", "Mật khẩu", "mật khẩu",
	"isakmp k|ey ", "snmp-|server community ", "tacacs|-server key ", "radius-|server key ", "roco|mmunity ", "rwco|mmunity ", "rootpw ", "PRAGMA k|ey", "PRAGMA reke|y",
	"Key C|ontent ", "ldap_d|efault_authtok", "smtp_sasl_password_ma|ps", "wifi-sec.psk ", "bindp|w ", "pre-shared-k|ey ascii-text ", "add-mask::", "issecret=t|rue]",
}

// loginPhrases are words before the name and the password of an account.
var loginPhrases = []string{"Credentials:| ", "credentials:| ", "Zugangsdaten:| ", "Login:| ", "login:| ", "Log |in with ", "Log |in as "}

// A value in such a place is random and has a digit.
const (
	commandValue  = "[A-Za-z0-9!#$%*+=_.~^?@&-]{8,}"
	argumentValue = "[^\\x00-\\x20\"'`\\\\<>(){}[\\],;\\x7f]{8,}"
)

// tableRules returns the contexts for the entries of the tables. Entries that share the text before their marks are one
// context.
func tableRules() (list []*rule) {
	byText := map[string]*rule{}
	add := func(entry string, r rule) {
		after, rest, _ := strings.Cut(entry, "|")
		known := byText[after]
		if known == nil {
			r.after = after
			known = &r
			byText[after], list = known, append(list, known)
		}
		known.rests = append(known.rests, rest)
	}
	for _, c := range secretCommands {
		plain := strings.ReplaceAll(c, "|", "") + " "
		add(c+" ", rule{name: "secret", expects: lineWords, begins: true, shape: commandValue, fit: lenWithoutFullStop, is: isUnlikely,
			hit: plain + "-x {32}", miss: plain + "-x internationalization", from: "man " + plain})
	}
	marks := map[string]int{} // where the search stops in the first word of a command
	for _, c := range secretCommands {
		first, _, _ := strings.Cut(c, " ")
		if at := strings.IndexByte(first, '|'); at >= 0 {
			first = strings.Replace(first, "|", "", 1)
			if known, ok := marks[first]; !ok || at < known {
				marks[first] = at
			}
		}
	}
	for _, c := range slices.Concat(secretCommands, listedCommands) {
		for _, between := range []string{`","`, `", "`} {
			plain := strings.ReplaceAll(strings.ReplaceAll(c, "|", ""), " ", between) + `"`
			first, _, _ := strings.Cut(plain, `"`)
			at, ok := marks[first]
			if !ok {
				at = len(first) + 1
			}
			entry := plain[:at] + "|" + plain[at:]
			plain = `"` + plain + between[1:]
			add(entry, rule{name: "secret", expects: lineWords, begins: true, shape: commandValue, fit: lenWithoutFullStop, is: isUnlikely,
				hit: "see [" + plain + "-x" + between + "{32}\"]", miss: "see [" + plain + "internationalization\"]", from: "man " + c})
			if !strings.Contains(c, " ") {
				break
			}
		}
	}
	for _, c := range secretCalls {
		plain := strings.ReplaceAll(c, "|", "")
		add(c, rule{name: "secret", expects: arguments, shape: argumentValue, is: isUnlikely,
			hit: "x = " + plain + "a, '{32}')", miss: "x = " + plain + "a, 'internationalization')", from: "shape seen in programs"})
	}
	for _, c := range fieldCalls {
		plain := strings.ReplaceAll(c, "|", "")
		add(c, rule{name: "secret", expects: arguments, where: isSecretField, shape: argumentValue, is: isUnlikely,
			hit: "get('#password')" + plain + "'{32}')", miss: "get('#name')" + plain + "'Aa1Bb2Cc3Dd4Ee5Ff6')", from: "shape seen in programs"})
	}
	for _, c := range secretPrinters {
		plain := strings.ReplaceAll(c, "|", "")
		add(c, rule{name: "secret", expects: nextLine, shape: loose + `{8,}`, is: isUnlikely, ends: isLineEnd,
			hit: "x " + plain + "\n{32}\n", miss: "x " + plain + "\ninternationalization\n", from: "shape seen in terminals"})
	}
	for _, c := range secretLines {
		plain := strings.ReplaceAll(c, "|", "")
		add(c, rule{name: "secret", expects: spokenValue, begins: true, shape: loose + `{8,}`, fit: wordLen, is: isUnlikely,
			hit: plain + " {32}", miss: plain + " internationalization", from: "shape seen in files and texts"})
	}
	for _, c := range loginPhrases {
		plain := strings.ReplaceAll(c, "|", "")
		add(c, rule{name: "userinfo", expects: looseQuote, begins: true, shape: `[\w.@:/,+=~-]{2,} {0,1}[/:,]{0,1} {0,1}` + loose + `{0,}`, fit: lenWithoutFullStop, is: isLoginPair,
			hit: plain + "bob / {24}", miss: plain + "bob / internationalization", from: "shape seen in chats"})
	}
	return list
}

// isUnlikely requires a random value with digits, or with letters of both cases in random order.
func isUnlikely(text []byte) bool { return looksRandom(text) && (isSpoken(text) || isShuffled(text)) }

// startsCommand requires that an entry of a table begins a word at the end of a text.
func (r *rule) startsCommand(tail []byte) bool {
	before := tail[:len(tail)-len(r.after)]
	return len(before) == 0 || !alnum[before[len(before)-1]] && strings.IndexByte("-_.", before[len(before)-1]) < 0
}

// followsRest reports whether the characters since a context still belong to one of the rests of its table's entries.
// The result whole is true for the last one of a rest.
func (w *expectation) followsRest(c byte) (whole, ok bool) {
	n := int(w.matched)
	for i, rest := range w.rule.rests {
		if len(rest) > n && rest[n] == c && rest[:n] == w.rule.rests[w.rest][:n] {
			w.rest, w.matched = uint8(i), w.matched+1
			return len(rest) == n+1, true
		}
	}
	return false, false
}

// isSecretField reports whether the last line of a text names a field for a credential.
func isSecretField(tail []byte) bool {
	line := bytes.ToLower(lastLine(tail))
	return slices.ContainsFunc([]string{"passw", "pwd", "token", "secret", "passcode", "otp", "api_key", "apikey", "api key"}, func(w string) bool { return bytes.Contains(line, []byte(w)) })
}

// isLineEnd reports whether a character ends a line or a literal.
func isLineEnd(c byte) bool { return c < ' ' || strings.IndexByte("\"'`\\", c) >= 0 }

const maxGap = 160 // maximum number of characters between a command or a call and a credential

// nextWord returns the rule for a value at the beginning of one of the words in the rest of a command.
func (m *matcher) nextWord(c, last byte) *rule {
	w := &m.want
	switch {
	case w.gap > maxGap || c == '\n' || c == ']' || c == '|' || c == '>':
		*w = expectation{}
	case !alnum[c]:
	case strings.IndexByte("\"':%=", last) >= 0, !w.quoted && (last <= ' ' || last == ','), last == 0, isShortFlag(m.recentTail()):
		return w.rule
	}
	return nil
}

// isShortFlag reports whether a text ends with a flag of one letter, as before a password in -pPASSWORD.
func isShortFlag(text []byte) bool {
	n := len(text)
	return n > 1 && sortOf(text[n-1]) > 0 && text[n-2] == '-' && (n == 2 || strings.IndexByte(" \"'", text[n-3]) >= 0)
}

// nextArgument returns the rule for a value at the beginning of a string among the arguments of a call.
func (m *matcher) nextArgument(c, last byte) *rule {
	w := &m.want
	switch {
	case w.gap > maxGap || c == ';' || w.depth < 0 || w.depth == 0 && c != '(' && !inName[c]:
		*w = expectation{}
	case c == '(':
		w.depth++
	case c == ')':
		if w.depth--; w.depth == 0 {
			*w = expectation{}
		}
	case alnum[c] && (last == 0 || strings.IndexByte("\"'`:", last) >= 0):
		return w.rule
	}
	return nil
}

// isSecretMap reports whether a text ends with the beginning of the data of a Secret in Kubernetes. The version before
// it shows that the keys are sorted, so that the kind follows.
func isSecretMap(tail []byte) bool {
	return bytes.HasSuffix(tail, []byte("apiVersion: v1\ndata:\n")) || bytes.HasSuffix(tail, []byte("stringData:\n")) || bytes.Contains(tail, []byte("kind: Secret\n"))
}

// nextEntry returns the rule for a value of a map in YAML or JSON.
func (m *matcher) nextEntry(c, last byte) *rule {
	tail := m.recentTail()
	switch n := len(tail); {
	case last == '\n' && c != ' ' && c != '"' || c == '}':
		m.want = expectation{}
	case n > 2 && (last == ' ' || last == '"' || last == '\'') && alnum[c] && endsEntry(tail[n-3:]):
		return m.want.rule
	}
	return nil
}

// endsEntry reports whether a text ends with the sign after the name of an entry or the sign of a list, before a quote.
func endsEntry(text []byte) bool {
	text = bytes.TrimRight(text, " \"'")
	return bytes.HasSuffix(text, []byte(":")) || bytes.HasSuffix(text, []byte("-"))
}

// nextBelow returns the rule for a value at the beginning of the next line.
func (m *matcher) nextBelow(c byte) *rule {
	w := &m.want
	switch {
	case w.gap > maxGap:
		*w = expectation{}
	case c == '\n':
		w.folded = true
	case w.folded && c > ' ' && strings.IndexByte("\"'`=>", c) < 0:
		rule := w.rule
		*w = expectation{}
		return rule
	}
	return nil
}
