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

// This file tells whose price list a text is. Others are read as they are; what they do not say,
// or say of what is no token, is left out.

const rightAny = "a list as 'toolscope help prices' shows, LiteLLM's model_prices_and_context_window.json, genai-prices' data.json, or models.dev's api.json"

// Read reads a price list, the program's own or that of LiteLLM, of genai-prices or of models.dev,
// by its shape. day is that of the prices where the list does not tell.
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

// listReader is a price list of others that is being read.
type listReader struct {
	text []byte
	day  string
	rows []Price
	at   int64 // where the model that is being read stands
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
	return nil, &ParseError{Line: 1, Problem: "this object is no price list that is known", Right: rightAny}
}

// enterModel is where errors are from now on: the line of that name. Names of a list stand in it in
// order, those of an object anywhere.
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

// addPriced takes a model that has prices; one without them is left out.
func (f *listReader) addPriced(p Price) {
	if p.Input.Known && p.Output.Known {
		p.AsOf = f.day
		f.rows = append(f.rows, p)
	}
}

// perMillion is a price of so many tokens as dollars for a million.
func (f *listReader) perMillion(to *Rate, field string, value json.RawMessage, tokens float64) error {
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	var usd float64
	if err := json.Unmarshal(value, &usd); err != nil || usd < 0 || math.IsInf(usd, 0) {
		return f.parseError(field, shortValue(value)+" is no price", "US dollars, 0 or more")
	}
	const digits = 1e9 // what a price per token is written with
	*to = Rate{math.Round(usd*1e6/tokens*digits) / digits, true}
	return nil
}

// sellerNames are what others call sellers, where that is not what they are called here.
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

// tierOver is the tier from so many tokens on, made if there is none.
func tierOver(tiers *[]Tier, over int64, service string) *Tier {
	for i := range *tiers {
		if t := &(*tiers)[i]; t.Over == over && t.Service == service {
			return t
		}
	}
	*tiers = append(*tiers, Tier{Over: over, Service: service})
	return &(*tiers)[len(*tiers)-1]
}

// typeError is an error of what is no object, or not such a one.
func (f *listReader) typeError(err error) error {
	return f.parseError("model", fmt.Sprintf("cannot be read: %v", err), rightAny)
}
