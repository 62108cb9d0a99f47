package price

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// This file recognises the price lists of other projects. They are read as they are. Missing prices,
// and prices for things other than tokens, are left out.

const rightAny = "use a list in the form that 'toolscope help prices' shows, LiteLLM's model_prices_and_context_window.json, genai-prices' data.json, or models.dev's api.json"

// Read reads a price list in the form of toolscope, LiteLLM, genai-prices or models.dev, which it
// recognises. day is the date of the prices if the list has none.
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
	at   int64 // offset of the model being read
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

// enterModel sets the place of the errors that follow: the line of that name. Names of a list are in
// order, names of an object are not.
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

// addPriced adds a model, unless it has no prices.
func (f *listReader) addPriced(p Price) {
	if p.Input.Known && p.Output.Known {
		p.AsOf = f.day
		f.rows = append(f.rows, p)
	}
}

// perMillion sets a rate in dollars per million tokens from a price for so many tokens.
func (f *listReader) perMillion(to *Rate, field string, value json.RawMessage, tokens float64) error {
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	var usd float64
	if err := json.Unmarshal(value, &usd); err != nil || usd < 0 || math.IsInf(usd, 0) {
		return f.parseError(field, shortValue(value)+" is not a price", "use US dollars, 0 or more")
	}
	const digits = 1e9 // the precision of prices per token
	*to = Rate{math.Round(usd*1e6/tokens*digits) / digits, true}
	return nil
}

// sellerNames maps the names of sellers in other lists to ours, where they differ.
var sellerNames = map[string]string{
	"aws": "amazon-bedrock", "bedrock": "amazon-bedrock", "bedrock_converse": "amazon-bedrock",
	"x-ai": "xai", "together": "togetherai", "together_ai": "togetherai", "cohere_chat": "cohere", "gemini": "google",
	"google-vertex": "vertex", "google-vertex-anthropic": "vertex", "azure_ai": "azure", "text-completion-openai": "openai",
	"fireworks-ai": "fireworks", "fireworks_ai": "fireworks", "novita-ai": "novita", "ollama-cloud": "ollama.com",
	"moonshot": "moonshotai", "dashscope": "alibaba", "github-copilot": subscription, "github_copilot": subscription, "chatgpt": subscription,
}

func sellerCalled(name string) string {
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

// tierOver returns the tier above so many tokens. It adds one if there is none.
func tierOver(tiers *[]Tier, over int64, service string) *Tier {
	for i := range *tiers {
		if t := &(*tiers)[i]; t.Over == over && t.Service == service {
			return t
		}
	}
	*tiers = append(*tiers, Tier{Over: over, Service: service})
	return &(*tiers)[len(*tiers)-1]
}

// typeError is the error for a value that is not an object of the expected form.
func (f *listReader) typeError(err error) error {
	return f.parseError("model", fmt.Sprintf("can't be read: %v", err), rightAny)
}
