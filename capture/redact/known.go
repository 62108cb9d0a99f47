package redact

import (
	"encoding/base64"
	"slices"
	"strings"
)

const (
	maxRequestSecrets = 16 << 10 // secrets of requests that are known by value
	maxServerSecrets  = 4 << 10  // secrets that servers have set: they cannot crowd out those of requests
	maxKnownChars     = window   // characters of a secret that are compared
)

// knownValues are the secrets that are known by value, in the form in which texts are compared:
// each as it is, and in each way in which base64 writes it. They are never forgotten. The time to
// find one hardly depends on how many there are: four characters tell whether to look, and then a
// sorted list is searched.
type knownValues struct {
	sorted []*knownValue
	first  [256]bool
	grams  *fourGrams // of what they begin with
	held   [2]int     // secrets of requests and of answers
}

// knownValue is one spelling of one secret.
type knownValue struct {
	text   string // what is compared
	rest   string // what follows, of a long one
	secret string // what it spells
	where  string // where the secret was seen first
}

func (k *knownValues) find(text string) (at int, found bool) {
	return slices.BinarySearchFunc(k.sorted, text, func(v *knownValue, text string) int { return strings.Compare(v.text, text) })
}

// match reports whether a text is a known value, and whether one begins with it and goes on.
func (k *knownValues) match(text []byte) (exact *knownValue, longer bool) {
	at, found := k.find(string(text))
	if found {
		exact = k.sorted[at]
		at++
	}
	return exact, at < len(k.sorted) && strings.HasPrefix(k.sorted[at].text, string(text))
}

// findSecret is the known value that is a secret, as it is.
func (k *knownValues) findSecret(secret string) *knownValue {
	at, found := k.find(truncateValue(secret))
	if !found || k.sorted[at].secret != secret {
		return nil
	}
	return k.sorted[at]
}

// add makes a secret known. It reports whether there was room.
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
	case v.text == truncateValue(v.secret): // itself, rather than what another one is coded as
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

// spellings are the texts that a secret is compared with: itself, as a form has it, and in base64.
func spellings(secret string) []string {
	list := append(base64Forms(secret), secret)
	if strings.Contains(secret, " ") {
		list = append(list, strings.ReplaceAll(secret, " ", "+"))
	}
	return list
}

// base64Forms are the characters that base64, in either alphabet, has for a secret whatever stands
// before and behind it. Three bytes are four characters, so there are three ways.
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
