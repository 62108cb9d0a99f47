package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// mergeJSON merges JSON objects into one. For a field in several objects the last value wins, but objects are
// merged recursively.
func mergeJSON(texts ...string) (string, error) {
	all := map[string]any{}
	for _, text := range texts {
		var one map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(&one); err != nil {
			return "", fmt.Errorf("not a JSON object: %w", err)
		}
		mergeObjects(all, one)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}

// mergeObjects merges from into into.
func mergeObjects(into, from map[string]any) {
	for name, value := range maps.All(from) {
		below, isObject := value.(map[string]any)
		there, wasObject := into[name].(map[string]any)
		if isObject && wasObject {
			mergeObjects(there, below)
			continue
		}
		into[name] = value
	}
}
