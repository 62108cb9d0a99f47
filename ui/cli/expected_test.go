package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"toolscope/providers"
)

// expectation is a line of a corpus's EXPECTED.jsonl. It has the calls that an independent reader found in a
// recorded stream.
type expectation struct {
	File, Dialect string
	Finish        any
	Ended         bool
	Errors        []any
	Calls         []struct {
		ID, Name, Kind *string
		Raw            string `json:"arguments_raw"`
		Value          any    `json:"arguments_json"`
		IsObject       bool   `json:"arguments_object"`
		IsText         bool   `json:"arguments_text"` // the arguments are not JSON by design, e.g. a program or a patch
		Status         string // status of the item itself
		Complete       bool
	}
}

// dialectOf returns the protocol for a folder of the corpus, which is sorted by provider. It returns "" if no
// protocol reads the folder.
func dialectOf(folder string) string {
	switch folder {
	case "mistral":
		return "openai-chat"
	case "bedrock-anthropic":
		return "anthropic" // inside Bedrock's envelope
	}
	for _, d := range providers.All {
		if d.Name == folder {
			return folder
		}
	}
	return ""
}

// TestExpected compares `print --format jsonl` with every expectation of the corpus whose protocol is known.
func TestExpected(t *testing.T) {
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	data, err := os.ReadFile(filepath.Join(corpus, "dev", "EXPECTED.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e expectation
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if dialect := dialectOf(e.Dialect); dialect != "" {
			compared++
			t.Run(e.File, func(t *testing.T) { e.compare(t, dialect, filepath.Join(corpus, e.File)) })
		}
	}
	if compared < 157 {
		t.Errorf("compared %d streams: is the corpus whole?", compared)
	}
}

func (e expectation) compare(t *testing.T, dialect, file string) {
	out := command(t, nil, "print", "--format", "jsonl", file)
	if out.code != 0 || out.stderr != "" {
		t.Fatalf("exit code %d, stderr %q", out.code, out.stderr)
	}
	calls, turns := out.decode(t)
	if len(calls) != len(e.Calls) {
		t.Fatalf("%d calls, want %d", len(calls), len(e.Calls))
	}
	for i, want := range e.Calls {
		got := calls[i]
		same(t, i, "dialect", got.Dialect, dialect)
		same(t, i, "id", got.ID, text(want.ID))
		same(t, i, "name", got.Name, text(want.Name))
		same(t, i, "kind", got.Kind, text(want.Kind))
		raw, status := got.Raw, got.Status
		switch {
		case want.IsObject && raw == "" && want.Raw == "{}" && status == "no arguments":
			// If the arguments must be an object but are absent, the other reader expects {}, because that is what
			// they mean. toolscope reports the bytes that arrived, and none did.
			raw, status = want.Raw, "complete"
		case want.IsObject:
			raw = compact(t, raw)
		}
		same(t, i, "arguments", raw, want.Raw)
		value, isObject := want.Value.(map[string]any)
		switch {
		case want.Raw == "":
			same(t, i, "no arguments", got.Status == "no arguments", e.Finish != "length" && e.Ended)
		case isObject:
			same(t, i, "value", reflect.DeepEqual(got.Arguments, any(value)), true)
			whole := want.IsObject || want.Complete // later events do not change this
			same(t, i, "complete", status == "complete", whole || e.Finish != nil && e.Ended)
		default:
			same(t, i, "complete", got.Status == "complete", want.IsText)
			same(t, i, "parsed", got.Arguments, nil)
		}
		if want.Complete && want.Status != "incomplete" { // final, but the token limit takes precedence
			same(t, i, "phase", got.Phase, "sealed")
		}
	}
	last := turns[len(turns)-1]
	finish := ""
	if e.Finish != nil {
		finish = fmt.Sprint(e.Finish) // a word, or a number that stands for a word
	}
	same(t, -1, "finish", last.Finish, finish)
	if len(e.Errors) > 0 || !e.Ended {
		same(t, -1, "turn phase", last.Phase, "aborted")
	} else {
		same(t, -1, "turn open or aborted", last.Phase == "open" || last.Phase == "aborted", false)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func compact(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
