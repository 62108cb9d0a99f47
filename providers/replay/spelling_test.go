package replay

import (
	"slices"
	"testing"

	"toolscope/providers/protocol"
)

// TestSpellings checks that idSpellings yields each form of an id: unchanged, joined with its item's id, and both of
// these as a digest or as their first characters. A caller may stop at any form.
func TestSpellings(t *testing.T) {
	rule := protocol.IDRule{Min: 9, Max: 9, Class: "a-zA-Z0-9"}
	both := "toolu_ABC|fc_1"
	want := []string{"toolu_ABC", both, digestID("toolu_ABC", rule), digestID("toolu_ABC", rule), digestID(both, rule), "tooluABCf"}
	for n := range want {
		var some []string
		for id := range idSpellings("toolu_ABC", "fc_1", rule) {
			if some = append(some, id); len(some) > n {
				break
			}
		}
		if !slices.Equal(some, want[:n+1]) {
			t.Errorf("%q, want %q", some, want[:n+1])
		}
	}
}

// TestIsCounter checks which ids are only numbers. The ids are like those that providers and gateways make.
func TestIsCounter(t *testing.T) {
	for id, want := range map[string]bool{
		"": true, "0": true, "call_1": true, "call_12345": true, "call12": true, "get_weather": true, "get_weather:0": true, "functions.get_weather:0": true,
		"call_REDACTED_3": true, "functionCall_2": true, "toolCall-get_weather-4": true, "000001": true,
		"toolu_01T1x1fJ34qAmk2tNTrN7Up6": false, "call_62136354Xrqpnmkjd8yTzLsA": false, "D681PevKs": false, "NtnhQKIbo": false,
		"tooluse_yxJZhtpzR5S9xqzZMV0kfA": false, "call_ab12cd34": false, "get_weather_nsz5zm3w56q3": false, "call_1718000000000": false,
		"chatcmpl-tool-8d9a4e2b1c0f4f6e9b3a7d5c2e1f0a9b": false, "1b7e2f3c-58a0-4d11-9c02-aa51e5d0a001": false, "call_function_0jfkwe8sd_1": false,
	} {
		if got := isCounter(id, "get_weather"); got != want {
			t.Errorf("%q: %t", id, got)
		}
	}
}
