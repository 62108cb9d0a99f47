package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// mergeJSON is objects in JSON made into one: where several have a member, the last one's counts, but
// for objects, which are merged in turn.
func mergeJSON(texts ...string) (string, error) {
	all := map[string]any{}
	for _, text := range texts {
		var one map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(&one); err != nil {
			return "", fmt.Errorf("no object in JSON: %w", err)
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
