package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// A ParseError describes a problem in a price list, with its location and a remedy. The error text has two lines.
type ParseError struct {
	Line    int    // line of the text, from 1
	Field   string // "" if the problem is not in a field
	Problem string
	Right   string
}

func (e *ParseError) Error() string {
	field := ""
	if e.Field != "" {
		field = e.Field + ": "
	}
	return fmt.Sprintf("line %d: %s%s\n%s", e.Line, field, e.Problem, e.Right)
}

const rightList = `use a list of prices in USD per million tokens: [{"provider":"openai","id":"gpt-x","input":2.5,"output":10,"as_of":"2026-08-21"}]`

// Parse reads a price list, which is a JSON list of objects like the rows in prices.json. Prices are in US dollars
// per million tokens. The fields provider, id, input, output and as_of are required. A price that is absent or null
// is unknown. A tier has different prices "over" a number of input tokens, or for a "service" tier. The field "since"
// contains different prices from a given day on, and "names" contains other names of the model. An unknown field is
// an error, because a misspelt price would otherwise be ignored.
func Parse(text []byte) ([]Price, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, syntaxError(text, err)
	}
	if list == nil {
		return nil, &ParseError{Line: 1, Problem: "null is not a list", Right: rightList}
	}
	r := reader{text: text, in: json.NewDecoder(bytes.NewReader(text))}
	_, _ = r.in.Token() // the opening bracket; it can be read, because the text is valid JSON
	var rows []Price
	at := map[rowKey]int{}
	for r.in.More() {
		p, line, err := r.readRow()
		if err != nil {
			return nil, err
		}
		k := p.key()
		if first, again := at[k]; again {
			return nil, &ParseError{line, "id", fmt.Sprintf("%s from %s is already on line %d", p.ID, p.Provider, first), "list each model from a provider only once"}
		}
		at[k] = line
		rows = append(rows, p)
	}
	return rows, nil
}

func syntaxError(text []byte, err error) error {
	e := &ParseError{Line: 1, Problem: err.Error(), Right: rightList}
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		e.Problem = "the file is empty"
	case errors.As(err, &syntax):
		e.Line, e.Problem = lineAt(text, syntax.Offset), "not JSON: "+syntax.Error()
	case errors.As(err, &mistyped):
		e.Problem = "a JSON " + mistyped.Value + " is not a list"
	}
	return e
}

// lineAt returns the number of the line that contains a byte, from 1.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(0, offset), int64(len(text)))], []byte("\n"))
}

// reader reads text that is known to be JSON.
type reader struct {
	text []byte
	in   *json.Decoder
	seen int64 // lines were counted up to this offset
	last int   // number of line breaks up to seen
}

// nextLine returns the number of the line with the next value or name.
func (r *reader) nextLine() int {
	at := r.in.InputOffset()
	for at < int64(len(r.text)) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	r.last += bytes.Count(r.text[r.seen:at], []byte("\n"))
	r.seen = at
	return 1 + r.last
}

// readObject reads an object and calls the function set for each field.
func (r *reader) readObject(field, right string, set func(name string, line int) error) error {
	line := r.nextLine()
	if t, _ := r.in.Token(); t != json.Delim('{') {
		return &ParseError{line, field, "not an object", right}
	}
	seen := map[string]bool{}
	for r.in.More() {
		line := r.nextLine()
		t, _ := r.in.Token()
		name, _ := t.(string)
		if seen[name] {
			return &ParseError{line, name, "appears twice", "use each field once"}
		}
		seen[name] = true
		if err := set(name, line); err != nil {
			return err
		}
	}
	_, _ = r.in.Token()
	return nil
}

// readValue reads a complete value.
func (r *reader) readValue() (raw json.RawMessage) {
	_ = r.in.Decode(&raw)
	return raw
}

const rateFields = "input, output, cache_read, cache_write, cache_write_hour, audio_input, audio_cache_read, audio_output, web_searches"

const rightDoubt = "explain in words why the price may differ"

const rowFields = "provider, id, " + rateFields + ", tiers, since, names, disputed, doubt, as_of"

// readRow reads one price.
func (r *reader) readRow() (p Price, line int, err error) {
	line = r.nextLine()
	err = r.readObject("", rightList, func(name string, line int) error {
		switch name {
		case "provider":
			return setText(&p.Provider, name, r.readValue(), line, `use a seller, e.g. "openai", or a host`)
		case "id":
			return setText(&p.ID, name, r.readValue(), line, `use the model's name as it appears in requests or responses, e.g. "gpt-x"`)
		case "as_of":
			return setDay(&p.AsOf, name, r.readValue(), line)
		case "disputed":
			return setDisputed(&p.Doubt, name, r.readValue(), line)
		case "doubt":
			return setText(&p.Doubt, name, r.readValue(), line, rightDoubt)
		case "tiers":
			return r.readTiers(&p.Tiers, name, line)
		case "since":
			return r.readChanges(&p.Since, name, line)
		case "names":
			return setNames(&p.Names, name, r.readValue(), line)
		}
		return p.Rates.setRate(name, r.readValue(), line, rowFields)
	})
	missing := ""
	switch {
	case err != nil:
		return p, line, err
	case p.Provider == "":
		missing = "provider"
	case p.ID == "":
		missing = "id"
	case !p.Input.Known:
		missing = "input"
	case !p.Output.Known:
		missing = "output"
	case p.AsOf == "":
		missing = "as_of"
	default:
		return p, line, nil
	}
	return p, line, &ParseError{line, missing, "is missing", "a price needs the fields provider, id, input, output and as_of"}
}

// setRate sets the rate with the given field name.
func (r *Rates) setRate(name string, value json.RawMessage, line int, fields string) error {
	all := r.fields()
	i := slices.IndexFunc(all, func(f rateField) bool { return f.name == name })
	if i < 0 {
		return &ParseError{line, name, "unknown field", "use " + fields}
	}
	if string(value) == "null" {
		return nil
	}
	var usd float64
	if err := json.Unmarshal(value, &usd); err != nil || usd < 0 || math.IsInf(usd, 0) {
		return &ParseError{line, name, shortValue(value) + " is not a price", "use US dollars per million tokens, 0 or more, e.g. 2.5; null if unknown"}
	}
	*all[i].rate = Rate{usd, true}
	return nil
}

func setText(to *string, name string, value json.RawMessage, line int, right string) error {
	if err := json.Unmarshal(value, to); err != nil || strings.TrimSpace(*to) == "" {
		return &ParseError{line, name, shortValue(value) + " is not a name", right}
	}
	*to = strings.TrimSpace(*to)
	return nil
}

func setDay(to *string, name string, value json.RawMessage, line int) error {
	err := json.Unmarshal(value, to)
	if _, notADay := time.Parse(time.DateOnly, *to); err != nil || notADay != nil {
		return &ParseError{line, name, shortValue(value) + " is not a day", "use the day on which the price was valid, e.g. \"2026-08-21\""}
	}
	return nil
}

func setDisputed(to *string, name string, value json.RawMessage, line int) error {
	var yes bool
	if err := json.Unmarshal(value, &yes); err != nil {
		return &ParseError{line, name, shortValue(value) + " is neither true nor false", "use true if sources disagree about the price"}
	}
	if yes {
		*to = "sources disagree about this price"
	}
	return nil
}

func setInteger(to *int64, name string, value json.RawMessage, line int) error {
	if err := json.Unmarshal(value, to); err != nil || *to <= 0 {
		return &ParseError{line, name, shortValue(value) + " is not a number of tokens", "use a whole number above 0, e.g. 200000"}
	}
	return nil
}

// shortValue returns a value for an error message, shortened if it is long.
func shortValue(value json.RawMessage) string {
	if len(value) > 40 {
		return string(value[:37]) + "…"
	}
	return string(value)
}

const (
	tierFields = "over, service, doubt, " + rateFields
	rightTier  = `list the prices above a number of input tokens, or for a service tier: [{"over":200000,"input":5},{"service":"fast","input":30}]`
)

func (r *reader) readTiers(to *[]Tier, field string, line int) error {
	if t, _ := r.in.Token(); t != json.Delim('[') {
		return &ParseError{line, field, "not a list", rightTier}
	}
	for r.in.More() {
		var t Tier
		line := r.nextLine()
		err := r.readObject(field, rightTier, func(name string, line int) error {
			switch name {
			case "over":
				return setInteger(&t.Over, name, r.readValue(), line)
			case "service":
				err := setText(&t.Service, name, r.readValue(), line, `use a service tier, e.g. "fast"`)
				t.Service = strings.ToLower(t.Service)
				return err
			case "doubt":
				return setText(&t.Doubt, name, r.readValue(), line, rightDoubt)
			}
			return t.Rates.setRate(name, r.readValue(), line, tierFields)
		})
		switch {
		case err != nil:
			return err
		case (t.Over == 0) == (t.Service == ""):
			return &ParseError{line, field, "a tier needs either the field over or the field service", rightTier}
		case t.Rates == Rates{}:
			return &ParseError{line, field, "a tier needs prices", rightTier}
		}
		*to = append(*to, t)
	}
	_, _ = r.in.Token()
	return nil
}

const (
	sinceFields = "day, " + rateFields + ", tiers"
	rightSince  = `list all prices that apply from each day on, with the earliest day first: [{"day":"2026-09-01","input":3,"output":15}]`
)

func (r *reader) readChanges(to *[]Change, field string, line int) error {
	if t, _ := r.in.Token(); t != json.Delim('[') {
		return &ParseError{line, field, "not a list", rightSince}
	}
	for r.in.More() {
		var s Change
		line := r.nextLine()
		err := r.readObject(field, rightSince, func(name string, line int) error {
			switch name {
			case "day":
				return setDay(&s.Day, name, r.readValue(), line)
			case "tiers":
				return r.readTiers(&s.Tiers, name, line)
			}
			return s.Rates.setRate(name, r.readValue(), line, sinceFields)
		})
		switch {
		case err != nil:
			return err
		case s.Day == "" || !s.Input.Known || !s.Output.Known:
			return &ParseError{line, field, "needs the fields day, input and output", rightSince}
		case len(*to) > 0 && (*to)[len(*to)-1].Day >= s.Day:
			return &ParseError{line, field, s.Day + " is not later than the previous day", rightSince}
		}
		*to = append(*to, s)
	}
	_, _ = r.in.Token()
	return nil
}

func setNames(to *[]string, field string, value json.RawMessage, line int) error {
	err := json.Unmarshal(value, to)
	if err != nil || slices.ContainsFunc(*to, func(name string) bool { return strings.Trim(name, "* ") == "" }) {
		return &ParseError{line, field, shortValue(value) + " is not a list of names", `list the model's other names: ["gpt-x-latest"]; "gpt-x*" also matches its snapshots`}
	}
	return nil
}

// The code below recognises and reads the price lists of other projects, in their original form. It omits missing
// prices, and prices for anything other than tokens.

const rightAny = "use a list in the form that 'toolscope help prices' shows, LiteLLM's model_prices_and_context_window.json, genai-prices' data.json, or models.dev's api.json"

// Read reads a price list from toolscope, LiteLLM, genai-prices or models.dev. It recognises the form of the
// list. The parameter day is the date of the prices if the list contains no date.
func Read(text []byte, day string) ([]Price, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	f := listReader{text: text, day: day}
	switch trimmed := bytes.TrimSpace(text); {
	case bytes.HasPrefix(trimmed, []byte("{")):
		return f.readObject()
	case bytes.HasPrefix(trimmed, []byte("[")):
		var first []struct{ Models json.RawMessage }
		if json.Unmarshal(text, &first) == nil && len(first) > 0 && first[0].Models != nil {
			return f.readGenAI()
		}
	}
	return Parse(text)
}

// listReader reads the price list of another project.
type listReader struct {
	text []byte
	day  string
	rows []Price
	at   int64 // offset of the model that is being read
	name string
}

func (f *listReader) readObject() ([]Price, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(f.text, &all); err != nil {
		return nil, syntaxError(f.text, err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var one map[string]json.RawMessage
		if json.Unmarshal(all[name], &one) != nil {
			continue
		}
		if _, ok := one["models"]; ok {
			return f.readModelsDev(all)
		}
		if _, ok := one["litellm_provider"]; ok {
			return f.readLiteLLM(all)
		}
	}
	return nil, &ParseError{Line: 1, Problem: "this object is not a known price list", Right: rightAny}
}

// enterModel sets the location for later errors: the line with the given name. It searches forward in a list, whose
// names are in order, but searches an object from the start.
func (f *listReader) enterModel(name string, ordered bool) {
	quoted, _ := json.Marshal(name)
	from := int64(0)
	if ordered {
		from = f.at
	}
	if i := bytes.Index(f.text[from:], quoted); i >= 0 {
		f.at = from + int64(i)
	}
	f.name = name
}

func (f *listReader) parseError(field, problem, right string) error {
	return &ParseError{lineAt(f.text, f.at), f.name + ": " + field, problem, right}
}

// addPriced adds a model if its prices for input and output are known.
func (f *listReader) addPriced(p Price) {
	if p.Input.Known && p.Output.Known {
		p.AsOf = f.day
		f.rows = append(f.rows, p)
	}
}

// perMillion sets a rate in dollars per million tokens. The given price is for a certain number of tokens.
func (f *listReader) perMillion(to *Rate, field string, value json.RawMessage, tokens float64) error {
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	var usd float64
	if err := json.Unmarshal(value, &usd); err != nil || usd < 0 || math.IsInf(usd, 0) {
		return f.parseError(field, shortValue(value)+" is not a price", "use US dollars, 0 or more")
	}
	const digits = 1e9 // rates are rounded to a billionth of a dollar
	*to = Rate{math.Round(usd*1e6/tokens*digits) / digits, true}
	return nil
}

// sellerNames maps the names of sellers in other lists to toolscope's names, if they differ.
var sellerNames = map[string]string{
	"aws": "amazon-bedrock", "bedrock": "amazon-bedrock", "bedrock_converse": "amazon-bedrock",
	"x-ai": "xai", "together": "togetherai", "together_ai": "togetherai", "cohere_chat": "cohere", "gemini": "google",
	"cloudflare": "cloudflare-workers-ai", "google-vertex": "vertex", "google-vertex-anthropic": "vertex", "azure_ai": "azure", "text-completion-openai": "openai",
	"fireworks-ai": "fireworks", "fireworks_ai": "fireworks", "novita-ai": "novita", "ollama-cloud": "ollama.com",
	"moonshot": "moonshotai", "dashscope": "alibaba", "github_copilot": "github-copilot", "chatgpt": subscription,
}

// SellerNamed returns toolscope's name for a seller that another list names differently.
func SellerNamed(name string) string {
	if behind, ok := strings.CutPrefix(name, huggingface+"_"); ok {
		return huggingface + "/" + behind
	}
	if strings.HasPrefix(name, "vertex_ai") {
		return "vertex"
	}
	if own, ok := sellerNames[name]; ok {
		return own
	}
	return name
}

// tierOver returns the tier above a number of tokens. If there is none, it adds the tier.
func tierOver(tiers *[]Tier, over int64, service string) *Tier {
	for i := range *tiers {
		if t := &(*tiers)[i]; t.Over == over && t.Service == service {
			return t
		}
	}
	*tiers = append(*tiers, Tier{Over: over, Service: service})
	return &(*tiers)[len(*tiers)-1]
}

// typeError returns the error for a value that is not an object of the expected form.
func (f *listReader) typeError(err error) error {
	return f.parseError("model", fmt.Sprintf("can't be read: %v", err), rightAny)
}
