package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/providers/price"
)

// pricedChat returns a response that has one chunk, with usage.
func pricedChat(model, usage string) []byte {
	return chat(`{"id":"c1","model":"`+model+`","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":`+usage+`}`, "[DONE]")
}

const tenAndFour = `{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14}`

// TestContractCost checks that a turn with a known cost reports the cost and its basis.
func TestContractCost(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ name, model, usage, want string }{
		{"table", "gpt-5", tenAndFour, `,"cost_usd":0.0000525,"cost_source":"table","prices_date":"2026-11-10","findings":`},
		{"provider", "x/y", strings.Replace(tenAndFour, "}", `,"cost":0.25}`, 1), `,"cost_usd":0.25,"cost_source":"provider","findings":`},
		{"approximate", "deepseek-chat", tenAndFour, `,"cost_usd":0.0000071,"cost_source":"table","cost_approximate":true,"prices_date":"2026-09-23","findings":`},
		{"unknown", "gpt-x", tenAndFour, `"usage":{"input":10,"output":4},"findings":`},
		{"no usage", "gpt-5", "null", `"usage":{},"findings":`},
	} {
		out := command(t, pricedChat(c.model, c.usage), "print", "--format", "jsonl", "-")
		if !strings.Contains(out.stdout, c.want) || out.code != 0 {
			t.Errorf("%s: exit code %d, %s\nwant %s", c.name, out.code, out.stdout, c.want)
		}
		out.decode(t)
	}
	for model, want := range map[string]string{"gpt-5": "stop · 0 calls · $0.0000525\n  usage    input=10 output=4\n\n1 turn, 0 calls; $0.0000525, prices as of 2026-11-10\n", "gpt-x": "stop · 0 calls · cost unknown\n", "deepseek-chat": "· ~$0.0000071\n"} {
		if out := command(t, pricedChat(model, tenAndFour), "print", "-"); !strings.Contains(out.stdout, want) {
			t.Errorf("%s: %q, want %q", model, out.stdout, want)
		}
	}
}

// TestPrices checks that the user's prices come from the flag, or else from the environment, or else from the
// configuration folder. They must override the built-in prices.
func TestPrices(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config) // used on systems that ignore XDG_CONFIG_HOME
	list := func(path, price string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := `[{"provider":"openai","id":"gpt-5","input":` + price + `,"output":0,"as_of":"2030-01-01"}]`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cost := func(args ...string) float64 {
		args = append([]string{"print", "--format", "jsonl"}, args...)
		_, turns := command(t, pricedChat("gpt-5", tenAndFour), append(args, "-")...).decode(t)
		return *turns[0].CostUSD
	}
	same(t, 0, "built in", cost(), 0.0000525)
	folder, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	list(filepath.Join(folder, "toolscope", "prices.json"), "1")
	same(t, 0, "configured", cost(), 0.00001)
	t.Setenv("TOOLSCOPE_PRICES", list(filepath.Join(config, "two.json"), "2"))
	same(t, 0, "environment", cost(), 0.00002)
	same(t, 0, "flag", cost("--prices", list(filepath.Join(config, "three.json"), "3")), 0.00003)
}

// TestBadPrices checks that an error has at most three lines and contains the file, the line, the field and the valid
// values.
func TestBadPrices(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte("[\n{\"provider\":\"p\",\n\"inptu\":1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	const wrong = "line 3: inptu: unknown field\nuse provider, id, input, output"
	missing := filepath.Join(dir, "missing.json")
	for _, c := range []struct {
		args []string
		env  string
		want string
	}{
		{[]string{"print", "--prices", bad, "-"}, "", "toolscope: --prices " + bad + ": " + wrong},
		{[]string{"open", "--prices", bad, "-"}, "", "toolscope: --prices " + bad + ": " + wrong},
		{[]string{"--prices", bad, "-"}, "", "toolscope: --prices " + bad + ": " + wrong},
		{[]string{"print", "-"}, bad, "toolscope: " + "TOOLSCOPE_PRICES" + "=" + bad + ": " + wrong},
		{[]string{"print", "--prices", missing, "-"}, "", "toolscope: --prices " + missing + ": no such file or directory\n"},
		{[]string{"print", "--prices", dir, "-"}, "", "toolscope: --prices " + dir + ": is a directory\n"},
	} {
		t.Setenv("TOOLSCOPE_PRICES", c.env)
		out := command(t, pricedChat("gpt-5", tenAndFour), c.args...)
		if out.code != 1 || out.stdout != "" || !strings.HasPrefix(out.stderr, c.want) || strings.Count(out.stderr, "\n") > 3 {
			t.Errorf("%v: exit code %d, stdout %q, stderr\n%s\nwant %s", c.args, out.code, out.stdout, out.stderr, c.want)
		}
	}
	t.Setenv("TOOLSCOPE_PRICES", "")
	folder, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "toolscope", "prices.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bad, path); err != nil {
		t.Fatal(err)
	}
	if out := command(t, nil, "demo", "cut"); out.code != 1 || !strings.HasPrefix(out.stderr, "toolscope: "+path+": "+wrong) {
		t.Errorf("configured: exit code %d, stderr %s", out.code, out.stderr)
	}
}

// TestPricesHelp checks that the example in the help is a valid price list.
func TestPricesHelp(t *testing.T) {
	_, example, _ := strings.Cut(pricesPage, "  [\n")
	example, _, _ = strings.Cut(example, "\n  ]")
	rows, err := price.Parse([]byte("[" + example + "]"))
	if err != nil || len(rows) != 2 {
		t.Error(rows, err)
	}
}
