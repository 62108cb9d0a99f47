package redact

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// passwordAlphabets are the characters of random passwords.
var passwordAlphabets = map[string]string{
	"letters and digits": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "small letters": "abcdefghijklmnopqrstuvwxyz",
	"letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "signs": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#%^*_+-=.?",
	"all": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "small letters and digits": "abcdefghijklmnopqrstuvwxyz0123456789",
}

// TestPasswords checks that at least 99 % of random passwords after their names are replaced completely, as JSON
// fields at any depth or in a line of an environment, and that JSON stays valid.
func TestPasswords(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	missed, all := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(passwordAlphabets)) {
		alphabet := passwordAlphabets[kind]
		for _, size := range []int{8, 12, 16, 20, 24} {
			missedHere := 0
			const each = 60
			for range each {
				p := make([]byte, size)
				for i := range p {
					p[i] = alphabet[r.IntN(len(alphabet))]
				}
				password := string(p)
				texts := map[string]string{"field": `{"user":"u","password":` + quotedPlain(password) + `,"n":1}`, "deep": quotedPlain(`{"db_password": ` + quotedPlain(password) + "}")}
				if !strings.ContainsAny(password, "\"'\\`$%&") && strings.IndexByte(",;(", password[size-1]) < 0 && !strings.Contains(password, "(") {
					texts["line"] = "A=b\nDB_PASSWORD=" + password + "\nC=d"
					texts["export"] = quotedPlain("export APP_SECRET=" + password)
				}
				for how, text := range texts {
					got := redactor().Text(text)
					all++
					if !strings.Contains(got, "[redacted:") {
						missedHere++
						t.Logf("%s: %s", how, text)
					} else if rest := longestPart(replaced.ReplaceAllString(got, ""), password); rest > 3 {
						t.Errorf("%s, %s: %s became %s", kind, how, text, got)
					}
					if (how == "field" || how == "deep") && !json.Valid([]byte(got)) {
						t.Errorf("%s is not JSON: %s", text, got)
					}
				}
			}
			missed += missedHere
			if missedHere > 0 {
				t.Logf("%s of %d: %d of %d missed", kind, size, missedHere, 4*each)
			}
		}
	}
	if t.Logf("%d of %d missed", missed, all); missed*100 > all {
		t.Errorf("%d of %d missed", missed, all)
	}
}

// quotedPlain returns a JSON string with no more escapes than needed.
func quotedPlain(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSpace(b.String())
}

// longestPart returns the length of the longest part of a password that a text contains.
func longestPart(text, password string) (most int) {
	for i := range password {
		for j := i + most + 1; j <= len(password) && strings.Contains(text, password[i:j]); j++ {
			most = j - i
		}
	}
	return most
}

// TestNoPasswords checks that words, placeholders, references and code stay if they follow the name of a password.
func TestNoPasswords(t *testing.T) {
	for _, value := range strings.Fields(`required internationalization string|null changeme123 your-password-here <password> ${DB_PASSWORD} $DB_PASSWORD {{password}} %APP_PASSWORD%
		/run/secrets/db_password op://vault/item/field arn:aws:secretsmanager auth.login.password_label NewPassword123 readPassword undefined ********`) {
		for _, form := range []string{`{"password":"%s"}`, "DB_PASSWORD=%s", "password: %s", `{\"password\":\"%s\"}`} {
			text := fmt.Sprintf(form, value)
			if got := redactor().Text(text); got != text {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
	for _, text := range []string{
		"hasAccessKey := cfg.AWSAccessKeyID", "private_key: rsa.RSAPrivateKey,", "Pass = ASLLexer.PASS", "token := req.JWTToken2", "apiKey = c.APIKeyV2", "token=self.oauth2TokenB64)",
		"token = s3TokenProviderV2.token", `tool_call_token="toolu_01A09q90qw90lq917835lq9"`, "headers['x-goog-encryption-key'] = this.encryptionKeyBase64;", "password: hashPassword2(x),",
		"  password: String,", "password = getpass.getpass2()", `{"password":"The password of the user, at least 8 characters"}`, "secret: secretName2Of3Names.value", `{"type":"password","name":"password1"}`,
		"if password == hunter2Hunter2.x {", "private_key: PrivateKeyTypes.RSA2048Key", `{"sessionId":"5e8f0c1a-9b7d-4e6f-8a0b-2c4d6e8f0a1b"}`, `{"session_id":"ses_01J9ZQ3N5V8X2B4D6F8H0K2M4P"}`, `{"code":"invalid_api_key_2"}`,
		`{"code":"print(open('a1b2c3d4e5f6').read())"}`, `{"d":"M10.5 20.25h3.5v1.25l8.75-3.5z"}`, `{"k":"a9f8","d":1}`,
		"    --- PASS: TestAddrString/ipv4-in-ipv6+zone (0.00s)", "Secret: TPM2BEncryptedSecret{", "replace(`\"access_token\":\"`+x509SyntheticToken3+`\",`)", "replace('{\"password\":\"' + fakePassword2 + '\"}')",
		`SessionID: "sesn_02BXaLbZCnS4xNQEaznFEyv8"`, "password: p@ssw0rd", "password=longpasswordofmanycharacters1234567890", "password: P@ssw0rd1234", "ftp://user:p@ssword@h.example", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
		"Cookie: __utmz=000000000.0000000000.00.0.utmcsr=h.example|utmccn=(referral)|utmcmd=referral", "ABIAAQCATEIAAAAAADQAAAAAAAAAAycAABIAAQDATEIAAAAAAHYA", "+EAAAAAAAPHwBIgf4AAEAAD4MYAQAASIsU8kiJxkjB6A1IJf8fAABIi7zCAAAgAIQCildj",
		"clientSecret: SomeType2048;", "ClientRequestToken: NonEmptyMaxLength64String;", "    ownPass: !!ownPass", "https://codecov.io/gh/a/b/graph/badge.svg?token=lWZ9OBQ7GM", `"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY"`,
		"new URL('http://abc:xyz@h.example')", `set("page_token", "Aa1Bb2Cc3Dd4Ee5Ff6")`, `{ set("name", "Aa1Bb2Cc3Dd4Ee5Ff6") }`, `m["name"] = "Aa1Bb2Cc3Dd4Ee5Ff6"`, "name\x1b[0m: \x1b[33mAa1Bb2Cc3Dd4Ee5Ff6\x1b[0m",
		"a|" + strings.Repeat("x", tailSize-len("| | password |")) + " | password | kqzvhwxtjbmrplgd |",
		"in|inline|inout|interface|line|lineadj|linear|namespace|null|out|packoffset|packs|of|pass|pixelfragment|point|precise",
	} {
		for _, form := range []string{text, quotedPlain(text), quotedPlain(quotedPlain(text))} {
			if got := redactor().Text(form); got != form {
				t.Errorf("%s became %s", form, got)
			}
		}
	}
}

// armorForms are functions that write the lines of a private key as various programs do.
var armorForms = map[string]func(lines []string) string{
	"cat -n": numbered("%6d→%s\n"), "arrow": numbered("%d→%s\n"), "bar": numbered("%d | %s\n"), "zeros": numbered("%05d| %s\n"), "colon": numbered("%d: %s\n"), "L": numbered("L%d: %s\n"),
	"grep": numbered("id_rsa:%d:%s\n"), "grep context": numbered("id_rsa-%d-%s\n"), "mail": prefixed("> "), "comment": prefixed("# "), "block comment": prefixed(" * "), "box": prefixed("│ "),
	"removed": prefixed("-"), "added": prefixed("+"), "indented": prefixed("\t\t"), "plain": prefixed(""), "Go": func(l []string) string { return `key := "` + strings.Join(l, `\n" +`+"\n\t\"") + `\n"` },
	"JavaScript": func(l []string) string { return "const key = '" + strings.Join(l, `\n' +`+"\n  '") + `\n';` }, "Python": func(l []string) string { return `key = ("` + strings.Join(l, `\n"`+"\n    \"") + `\n")` },
	"HTML": func(l []string) string { return "<p>" + strings.Join(l, "<br>") + "</p>" }, "entity": func(l []string) string { return strings.Join(l, "&#10;") }, "CRLF": func(l []string) string { return strings.Join(l, "\r\n") },
	"one line": func(l []string) string { return `KEY="` + strings.Join(l, `\n`) + `"` }, "spaces": func(l []string) string { return strings.Join(l, " ") },
	"list": func(l []string) string { return `["` + strings.Join(l, `\n","`) + `"]` }, "field": func(l []string) string { return `{"private_key":"` + strings.Join(l, `\n`) + `\n","a":1}` },
}

func numbered(form string) func([]string) string {
	return func(lines []string) string {
		var b strings.Builder
		for i, line := range lines {
			fmt.Fprintf(&b, form, i+1, line)
		}
		return b.String()
	}
}

func prefixed(prefix string) func([]string) string {
	return func(lines []string) string { return prefix + strings.Join(lines, "\n"+prefix) + "\n" }
}

// armorHeads are the first and last lines of private keys.
var armorHeads = [][2]string{
	{"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"}, {"-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"},
	{"-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"}, {"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"},
	{"Private-Lines: 4", "Private-MAC: "},
}

// TestArmor checks that no part of a private key stays, whatever the form of its lines, and that everything between
// the parts stays.
func TestArmor(t *testing.T) {
	body := []string{sample("{64}"), sample("{64}v"), sample("{64}w"), sample("{18}==")}
	for form, write := range armorForms {
		for _, head := range armorHeads {
			lines := append(append([]string{head[0]}, body...), head[1])
			text := "before\n" + write(lines) + "\nafter it\n"
			marked := "before\n" + write([]string{head[0], "\x01", "", "", "", head[1]}) + "\nafter it\n"
			for how, got := range map[string]string{"text": redactor().Text(text), "bytes": through(redactor(), text, 1), "in JSON": unquoted(t, redactor().Text(quoted(text))), "deltas": argsSaid(t, redactor(), 5, text[:len(text)/2], text[len(text)/2:])} {
				tagged := replaced.ReplaceAllString(got, "\x01")
				if tagged != marked {
					t.Errorf("%s, %s, %s:\n%s\nwant\n%s", form, how, head[0], tagged, marked)
				}
			}
			if again := redactor().Text(redactor().Text(text)); again != redactor().Text(text) {
				t.Errorf("%s became %s", redactor().Text(text), again)
			}
		}
	}
}

// TestNoArmor checks that text after the first line of a private key stays if it isn't part of a key.
func TestNoArmor(t *testing.T) {
	for _, text := range []string{
		"if strings.Contains(data, \"-----BEGIN PRIVATE KEY-----\") { return parsePrivateKeyFromPEMEncodedData(data) }", "-----BEGIN PUBLIC KEY-----\n" + sample("{64}\n{64}") + "\n-----END PUBLIC KEY-----",
		"grep -r 'BEGIN PRIVATE KEY-----' /etc/ssl/" + sample("{64}"), `{"a":"-----BEGIN PRIVATE KEY-----","signature":"` + sample("{300}") + `"}`, "-----BEGIN PRIVATE KEY-----\nkept in the safe\n-----END PRIVATE KEY-----\n" + sample("{64}"),
		`key="-----BEGIN PRIVATE KEY-----\nXXXX\n-----END PRIVATE KEY-----" or :keyfile=/path/to/the/key.pem and ` + sample("{64}"), "-----BEGIN PRIVATE KEY----- is in the file :keyfile=/path/to/the/key",
	} {
		if got := redactor().Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestPasswordsWithSigns checks that a password with signs is found as a whole where a token or a password is named.
func TestPasswordsWithSigns(t *testing.T) {
	for _, text := range []string{
		"login --token 'V'", "aws configure set aws_secret_access_key 'V'", "docker run -e \"API_TOKEN=V\" img", "the password is \"V\", he said", "use the token V to log in", "pass: V", "API key: V",
		"Authorization: Bearer V", "Authorization: Token V", "X-Auth-Token: V", "token=V path=/x", "map[password:V user:bob]", "&{Host:h APIKey:V Port:1}", "<apiKey>V</apiKey>", "Unseal Key 1: V",
		"client_secret=ESC&a=b", "https://h.example/x?api_key=ESC&x=1", "postgres://bob:ESC@h/d", "jdbc:mysql://h/d?user=u&password=ESC", "nats://ESC@h:4222",
		"machine h.example\n  login bob\n  password V\n", "Login: bob / V", "Generated password: V", "const API_KEY: &str = \"V\";", "setenv API_SECRET 'V'", "secret_key_base: V", "id;token\n1;V\n",
	} {
		for _, value := range []string{"Gx4mk9gqi&7-z!", "Tr0ub4wex&3-k=", "Wq8lq3nuk#5-v?"} {
			filled := strings.NewReplacer("V", value, "ESC", url.QueryEscape(value)).Replace(text)
			if got := redactor().Text(filled); strings.Contains(got, value[:9]) || strings.Contains(got, url.QueryEscape(value)[10:]) {
				t.Errorf("%s became %s", filled, got)
			}
		}
	}
	for _, text := range []string{"a_token=b1&token=c2&api_key=d3", "token = flags1&mask2"} {
		if got := redactor().Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
