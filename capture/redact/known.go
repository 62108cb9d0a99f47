package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	maxRequestSecrets = 16 << 10 // secrets of requests that are searched for by value
	maxServerSecrets  = 4 << 10  // secrets set by servers: they can't crowd out those of requests
	maxKnownChars     = window   // characters of a secret that are compared
)

// knownValues holds the secrets that are searched for by value, in the form in which texts are compared:
// each as it is, and in each way in which base64, hexadecimal digits and HTML write it. They are never forgotten. The time to find
// one hardly depends on their number: four characters decide whether to look, and then a sorted list is
// searched.
type knownValues struct {
	sorted []*knownValue
	first  [256]bool
	grams  *fourGrams // of their beginnings
	held   [2]int     // secrets of requests and of responses
}

// knownValue is one spelling of one secret.
type knownValue struct {
	text   string // the characters that are compared
	rest   string // the remaining characters of a long one
	secret string // the secret that it spells
	where  string // where the secret was first seen
}

func (k *knownValues) find(text string) (at int, found bool) {
	return slices.BinarySearchFunc(k.sorted, text, func(v *knownValue, text string) int { return strings.Compare(v.text, text) })
}

// match reports whether a text is a known value, and whether it is the beginning of a longer one.
func (k *knownValues) match(text []byte) (exact *knownValue, longer bool) {
	at, found := k.find(string(text))
	if found {
		exact = k.sorted[at]
		at++
	}
	return exact, at < len(k.sorted) && strings.HasPrefix(k.sorted[at].text, string(text))
}

// findSecret returns the known value of a secret's literal spelling.
func (k *knownValues) findSecret(secret string) *knownValue {
	at, found := k.find(truncateValue(secret))
	if !found || k.sorted[at].secret != secret {
		return nil
	}
	return k.sorted[at]
}

// add adds a secret. It reports whether there was room.
func (k *knownValues) add(secret, where string, answered bool) bool {
	if k.findSecret(secret) != nil {
		return true
	}
	party, limit := 0, maxRequestSecrets
	if answered {
		party, limit = 1, maxServerSecrets
	}
	if k.held[party] == limit {
		return false
	}
	k.held[party]++
	for _, text := range spellings(secret) {
		k.insertValue(&knownValue{text: truncateValue(text), rest: text[len(truncateValue(text)):], secret: secret, where: where})
	}
	return true
}

func (k *knownValues) insertValue(v *knownValue) {
	at, found := k.find(v.text)
	switch {
	case !found:
		k.sorted = slices.Insert(k.sorted, at, v)
	case v.text == truncateValue(v.secret): // its literal spelling wins over an encoding of another
		k.sorted[at] = v
	}
	k.first[v.text[0]] = true
	if k.grams == nil {
		k.grams = new(fourGrams)
	}
	k.grams.add(gramHash(gramOf([]byte(v.text))))
}

// mayBegin reports whether a known value may begin with four characters.
func (k *knownValues) mayBegin(gram uint32) bool {
	return k.grams != nil && k.grams.has(gramHash(gram))
}

func truncateValue(text string) string { return text[:min(len(text), maxKnownChars)] }

// htmlForms are the ways in which programs write a text in HTML.
var htmlForms = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "/", "&#x2F;", "`", "&#x60;", "=", "&#x3D;"),
}

// spellings returns the texts that a secret is compared with: itself, form-encoded, in hexadecimal digits, in
// HTML, and in base64.
func spellings(secret string) []string {
	digits := hex.EncodeToString([]byte(secret))
	list := append(base64Forms(secret), secret, digits, strings.ToUpper(digits))
	for _, form := range htmlForms {
		if text := form.Replace(secret); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if strings.Contains(secret, " ") {
		list = append(list, strings.ReplaceAll(secret, " ", "+"))
	}
	return list
}

// base64Forms returns the characters that base64, in either alphabet, always has for a secret, whatever
// is before and after it. Three bytes become four characters, so there are three ways.
func base64Forms(secret string) (list []string) {
	for before := range 3 {
		padded := make([]byte, before, before+len(secret))
		coded := base64.RawStdEncoding.EncodeToString(append(padded, secret...))
		from := (before*8 + 5) / 6
		to := (before + len(secret)) * 8 / 6
		coded = coded[from:to]
		list = append(list, coded)
		if strings.ContainsAny(coded, "+/") {
			list = append(list, strings.NewReplacer("+", "-", "/", "_").Replace(coded))
		}
	}
	return list
}
