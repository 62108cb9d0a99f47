package price

import (
	"slices"
	"strings"
)

// namesFor returns the ids that a model may have in the table, the exact one first. It only removes
// parts that don't change the price: a resource path, a date, a region, the host's version. A variant,
// e.g. ":free" or ":thinking", is another model. So is a name that merely has the same beginning.
func namesFor(model string) (ids []string) {
	id := withoutPath(model)
	for _, stem := range [...]string{id, withoutRegion(id)} {
		for _, s := range [...]string{stem, withoutVersion(stem)} {
			for _, name := range [...]string{s, withoutDate(s)} {
				if !slices.Contains(ids, name) {
					ids = append(ids, name)
				}
			}
		}
	}
	return ids
}

// withoutPath returns a model without the path of its resource: "models/x" of Gemini,
// "publishers/anthropic/models/x" of Vertex, a Bedrock ARN.
func withoutPath(model string) string {
	id := strings.ToLower(strings.TrimSpace(model))
	if strings.HasPrefix(id, "arn:") {
		return id[strings.LastIndexByte(id, '/')+1:]
	}
	if i := strings.LastIndex(id, "/models/"); i >= 0 {
		return id[i+len("/models/"):]
	}
	return strings.TrimPrefix(id, "models/")
}

// regions are the prefixes of Bedrock's inference profiles.
var regions = []string{"us.", "eu.", "apac.", "jp.", "au.", "ca.", "us-gov.", "global."}

func withoutRegion(id string) string {
	for _, r := range regions {
		if rest, ok := strings.CutPrefix(id, r); ok && strings.Contains(rest, ".") {
			return rest
		}
	}
	return id
}

// withoutVersion cuts Bedrock's "-v1:0".
func withoutVersion(id string) string {
	i := strings.LastIndex(id, "-v")
	if i < 0 {
		return id
	}
	major, minor, ok := strings.Cut(id[i+2:], ":")
	if !ok || !isDigits(major) || !isDigits(minor) {
		return id
	}
	return id[:i]
}

// isSnapshot reports whether the suffix of a model's name only identifies a snapshot: "-latest",
// "-preview-05-06", "@20250514", "-v1:0", "-001". Any other word makes another model, and so does a
// number as short as a version.
func isSnapshot(rest string) bool {
	count, version := 0, false
	for part := range strings.FieldsFuncSeq(rest, func(c rune) bool { return strings.ContainsRune("-@:.", c) }) {
		number := strings.TrimPrefix(part, "v")
		switch {
		case part == "latest" || part == "preview" || part == "exp" || part == "default":
		case !isDigits(number):
			return false
		case number != part:
			version = true
		default:
			count += len(part)
		}
	}
	return version || count == 0 || count > 2
}

// ownPrice are dated models whose price differs from that of the undated name.
var ownPrice = map[string]bool{"gpt-4o-2024-05-13": true}

// withoutDate cuts "-2026-03-17", "-20251001", and Vertex's "@20251001" and "@default".
func withoutDate(id string) string {
	if ownPrice[id[strings.LastIndexByte(id, '/')+1:]] {
		return id
	}
	if rest, ok := strings.CutSuffix(id, "@default"); ok {
		return rest
	}
	for _, form := range [...]string{"-2006-01-02", "-20060102", "@20060102"} {
		if i := len(id) - len(form); i > 0 && isDate(id[i:], form) {
			return id[:i]
		}
	}
	return id
}

// isDate reports whether s is a day of this century in that form.
func isDate(s, form string) bool {
	var day []byte
	for i := range len(s) {
		switch isDigit := '0' <= s[i] && s[i] <= '9'; {
		case isDigit && '0' <= form[i] && form[i] <= '9':
			day = append(day, s[i])
		case isDigit || s[i] != form[i]:
			return false
		}
	}
	month, date := string(day[4:6]), string(day[6:])
	return string(day[:2]) == "20" && "01" <= month && month <= "12" && "01" <= date && date <= "31"
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// makers maps the prefixes that resellers put before a model to makers whose models no other company
// runs.
var makers = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "google": "google", "x-ai": "xai", "xai": "xai", "cohere": "cohere",
}

// madeBy splits the maker from a name, e.g. "anthropic/claude-opus-4.8" of OpenRouter or
// "us.anthropic.claude-opus-4-8-v1:0" of Bedrock. The maker is "" if the name has none.
func madeBy(model string) (maker string, ids []string) {
	id := withoutRegion(withoutPath(model))
	prefix := id[:max(0, strings.IndexAny(id, "/."))]
	if maker = makers[prefix]; maker == "" {
		return "", nil
	}
	ids = namesFor(id[len(prefix)+1:])
	if maker == "anthropic" {
		for _, name := range ids { // OpenRouter writes 4.8 where Anthropic writes 4-8
			ids = append(ids, strings.ReplaceAll(name, ".", "-"))
		}
	}
	return maker, ids
}
