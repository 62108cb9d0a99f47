// Command prices updates the built-in price table. It reads two price lists and rewrites
// providers/price/prices.json with one row per line.
//
//	go run ./.github/prices GENAI DAY CATALOG DAY
//
// GENAI is data.json of genai-prices. CATALOG is pi's model catalogue: the folder dist/providers/data in its
// npm package, or a file with one model per line. Each DAY is the date of the list before it.
// .github/prices/update downloads both lists and runs the command.
//
// The newer list takes precedence. If the lists disagree about a price of a seller that runs other makers'
// models, the price is marked as doubtful. A row of the table that is in neither list keeps its date.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolscope/providers/price"
)

const tablePath = "providers/price/prices.json"

func main() {
	if len(os.Args) != 5 {
		fail(fmt.Errorf("usage: go run ./.github/prices GENAI DAY CATALOG DAY"))
	}
	text, err := os.ReadFile(os.Args[1])
	fail(err)
	older, err := price.Read(text, os.Args[2])
	fail(err)
	text, err = os.ReadFile(tablePath)
	fail(err)
	before, err := price.Parse(text)
	fail(err)
	rows := merge(clean(older), catalogue(os.Args[3], os.Args[4]))
	rows = keepOld(rows, before)
	slices.SortFunc(rows, func(a, b price.Price) int { return strings.Compare(a.Provider+"\x00"+a.ID, b.Provider+"\x00"+b.ID) })
	var table bytes.Buffer
	for n, p := range rows {
		table.WriteString([]string{",\n", "[\n"}[b2i(n == 0)])
		writeRow(&table, p)
	}
	table.WriteString("\n]\n")
	fail(os.WriteFile(tablePath, table.Bytes(), 0o644))
	fmt.Printf("%d prices\n", len(rows))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// wrongNames are names that a list uses for a model, although they belong to a model with other prices.
var wrongNames = []string{"gpt-4o-2024-05-13"}

// clean removes rows for models that don't answer requests or that their seller doesn't run: OpenAI publishes
// gpt-oss, but doesn't run it. It also removes wrong names and every duplicate of a row, and calls setHours.
func clean(rows []price.Price) (kept []price.Price) {
	seen := map[string]bool{}
	for _, p := range rows {
		key := strings.ToLower(p.Provider + "\x00" + p.ID)
		switch {
		case p.Provider == "voyageai", p.Output.USD == 0 && strings.Contains(p.ID, "embed"), seen[key]:
			continue
		case p.Provider == "openai" && strings.HasPrefix(p.ID, "gpt-oss"):
			continue
		}
		seen[key] = true
		p.Names = slices.DeleteFunc(p.Names, func(name string) bool { return slices.Contains(wrongNames, name) })
		setHours(&p)
		kept = append(kept, p)
	}
	return kept
}

// setHours adds Anthropic's price for cache writes that last an hour, which is twice the input price.
// https://docs.claude.com/en/docs/build-with-claude/prompt-caching
func setHours(p *price.Price) {
	if p.Provider != "anthropic" {
		return
	}
	set := func(r *price.Rates) {
		if r.CacheWrite.Known && r.Input.Known && !r.CacheWriteHour.Known {
			r.CacheWriteHour = price.Rate{USD: 2 * r.Input.USD, Known: true}
		}
	}
	tiers := func(list []price.Tier) {
		for i := range list {
			set(&list[i].Rates)
		}
	}
	set(&p.Rates)
	tiers(p.Tiers)
	for i := range p.Since {
		set(&p.Since[i].Rates)
		tiers(p.Since[i].Tiers)
	}
}

// catalogRates are the prices of a model, or of its requests with more than a given number of input tokens.
type catalogRates struct {
	Input, Output, CacheRead, CacheWrite float64
	InputTokensAbove                     int64
}

// catalogModel is a model of the catalogue.
type catalogModel struct {
	Provider, ID string
	Cost         struct {
		catalogRates
		Tiers []catalogRates
	}
}

// subscriptions are the sellers in the catalogue that are paid by the month.
var subscriptions = map[string]bool{
	"openai-codex": true, "opencode-go": true, "kimi-coding": true, "zai-coding-cn": true, "qwen-token-plan": true,
	"qwen-token-plan-cn": true, "qwen-token-plan-individual": true, "qwen-token-plan-individual-cn": true,
	"xiaomi-token-plan-ams": true, "xiaomi-token-plan-cn": true, "xiaomi-token-plan-sgp": true,
}

// doubts are reasons why the listed price of a seller might not apply.
var doubts = map[string]string{
	"huggingface":           "the router chooses the seller",
	"opencode":              "a subscription may pay for it",
	"github-copilot":        "a plan may pay for it",
	"cloudflare-ai-gateway": "the provider behind the gateway may charge a different price",
}

// catalogue reads the catalogue. It omits subscriptions, and models whose input and output prices are both 0:
// such a price is unknown, or the model is a trial.
func catalogue(path, day string) (rows []price.Price) {
	add := func(m catalogModel) {
		p := price.Price{Provider: price.SellerNamed(m.Provider), ID: m.ID, AsOf: day, Rates: m.Cost.asRates(), Doubt: doubts[m.Provider]}
		for _, t := range m.Cost.Tiers {
			p.Tiers = append(p.Tiers, price.Tier{Over: t.InputTokensAbove, Rates: t.asRates()})
		}
		if !subscriptions[m.Provider] && p.Input.USD+p.Output.USD > 0 {
			rows = append(rows, p)
		}
	}
	fail(filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var byAPI map[string]map[string]catalogModel
		if file != path && json.Unmarshal(text, &byAPI) == nil {
			for _, models := range byAPI {
				for name, m := range models {
					if strings.HasPrefix(name, "chat:") {
						add(m)
					}
				}
			}
			return nil
		}
		lines := json.NewDecoder(bytes.NewReader(text))
		for lines.More() {
			var m catalogModel
			if err := lines.Decode(&m); err != nil {
				return err
			}
			add(m)
		}
		return nil
	}))
	return rows
}

// asRates returns the rates. A cache price of 0 means that the price is unknown.
func (r catalogRates) asRates() price.Rates {
	known := func(usd float64) price.Rate {
		usd = math.Round(usd*1e9) / 1e9
		return price.Rate{USD: usd, Known: usd > 0}
	}
	return price.Rates{
		Input: price.Rate{USD: known(r.Input).USD, Known: true}, Output: price.Rate{USD: known(r.Output).USD, Known: true},
		CacheRead: known(r.CacheRead), CacheWrite: known(r.CacheWrite),
	}
}

const disputed = "sources disagree about this price"

// merge adds the rows in the newer list to the rows in the older list, and combines the rows for the same model.
func merge(rows, newer []price.Price) []price.Price {
	older := new(price.Table).With(slices.Clone(rows))
	for _, p := range newer {
		setHours(&p)
		at := -1
		if o, ok := older.At(p.Provider, p.ID); ok && !hasOtherRegion(p.ID, o.ID) {
			of := slices.IndexFunc(rows, func(r price.Price) bool { return r.Provider == o.Provider && r.ID == o.ID })
			if strings.EqualFold(o.ID, p.ID) {
				at = of
			}
			p = combine(p, o, &rows[of])
		}
		if at < 0 {
			rows = append(rows, p)
			continue
		}
		p.ID, p.Names = rows[at].ID, rows[at].Names
		rows[at] = p
	}
	return rows
}

// hasOtherRegion reports whether a Bedrock row is for a region that the other row doesn't cover.
func hasOtherRegion(id, other string) bool {
	region, rest, ok := strings.Cut(id, ".")
	return ok && len(region) < 8 && strings.Contains(rest, ".") && !strings.HasPrefix(other, region+".") && !strings.HasPrefix(other, "regional.")
}

// combine completes the newer price with the facts that only the older price has. If the two prices disagree, it may
// mark them as doubtful.
func combine(p, o price.Price, row *price.Price) price.Price {
	current := o
	for _, s := range o.Since {
		if s.Day <= p.AsOf {
			current.Rates, current.Tiers = s.Rates, s.Tiers
		}
	}
	if len(p.Tiers) == 0 && isSame(p.Rates, current.Rates) { // only one list contains the higher price of long requests
		for _, t := range current.Tiers {
			t.Doubt = disputed
			p.Tiers = append(p.Tiers, t)
		}
	}
	same := isSame(p.Rates, current.Rates) && slices.EqualFunc(p.Tiers, current.Tiers, func(a, b price.Tier) bool {
		return max(a.Over, b.Over)-min(a.Over, b.Over) <= 1 && isSame(a.Rates, b.Rates)
	})
	if same {
		row.AsOf = p.AsOf
		p.Doubt = join(p.Doubt, o.Doubt)
		if len(o.Since) > 0 { // a price history is preferred to a single current price
			p.Rates, p.Tiers, p.Since = o.Rates, o.Tiers, o.Since
			return p
		}
		p.Rates = o.Rates.Override(p.Rates)
		return p
	}
	p.Rates = current.Rates.Override(p.Rates)
	if p.ID != o.ID && row.AsOf != p.AsOf {
		row.Doubt = join(row.Doubt, disputed)
	}
	if price.IsReseller(p.Provider) {
		p.Doubt = join(p.Doubt, disputed)
	}
	p.Doubt = join(p.Doubt, o.Doubt)
	return p
}

func join(a, b string) string {
	if a == "" || b == "" || strings.Contains(a, b) {
		return a + strings.TrimPrefix(b, a)
	}
	return a + "; " + b
}

// isSame reports whether two sets of rates are equal, as far as both are known.
func isSame(a, b price.Rates) bool {
	same := func(a, b price.Rate) bool { return !a.Known || !b.Known || math.Abs(a.USD-b.USD) < 1e-6 }
	return same(a.Input, b.Input) && same(a.Output, b.Output) && same(a.CacheRead, b.CacheRead) && same(a.CacheWrite, b.CacheWrite)
}

// keepOld adds the rows of the table that are in neither list.
func keepOld(rows, before []price.Price) []price.Price {
	now := new(price.Table).With(slices.Clone(rows))
	for _, p := range before {
		if _, ok := now.At(p.Provider, p.ID); !ok {
			rows = append(rows, p)
		}
	}
	return rows
}

// writeRow writes a row of the table.
func writeRow(to *bytes.Buffer, p price.Price) {
	value := func(v any) string {
		text, err := json.Marshal(v)
		fail(err)
		return string(text)
	}
	fmt.Fprintf(to, `{"provider":%s,"id":%s`, value(p.Provider), value(p.ID))
	rates := func(r price.Rates) {
		for name, rate := range r.All() {
			if rate.Known {
				fmt.Fprintf(to, ",%s:%s", value(name), value(rate.USD))
			}
		}
	}
	tiers := func(list []price.Tier) {
		for n, t := range list {
			to.WriteString([]string{"},{", `,"tiers":[{`}[b2i(n == 0)])
			if fmt.Fprintf(to, `"over":%d`, t.Over); t.Service != "" {
				fail(fmt.Errorf("%s: a price of a service tier", p.ID))
			}
			rates(t.Rates)
			if t.Doubt != "" {
				fmt.Fprintf(to, `,"doubt":%s`, value(t.Doubt))
			}
		}
		if len(list) > 0 {
			to.WriteString("}]")
		}
	}
	rates(p.Rates)
	tiers(p.Tiers)
	for n, s := range p.Since {
		to.WriteString([]string{"},{", `,"since":[{`}[b2i(n == 0)])
		fmt.Fprintf(to, `"day":%s`, value(s.Day))
		rates(s.Rates)
		tiers(s.Tiers)
	}
	if len(p.Since) > 0 {
		to.WriteString("}]")
	}
	if len(p.Names) > 0 {
		fmt.Fprintf(to, `,"names":%s`, value(p.Names))
	}
	if p.Doubt != "" {
		fmt.Fprintf(to, `,"doubt":%s`, value(p.Doubt))
	}
	fmt.Fprintf(to, `,"as_of":%s}`, value(p.AsOf))
}
