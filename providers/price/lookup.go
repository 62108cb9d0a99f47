package price

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// vendors maps wire protocols to the companies that made them. These companies also sell models over their protocols.
var vendors = map[string]string{
	"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai", "gemini": "google", "gemini-interactions": "google",
	"aistudio": "google", "cohere": "cohere", "bedrock": "amazon-bedrock", "claude-code": "anthropic", "codex-exec": "openai",
}

// resellers lists the sellers that run other makers' models.
var resellers = map[string]bool{
	"amazon-bedrock": true, "avian": true, "azure": true, "baseten": true, "cerebras": true, "cloudflare-ai-gateway": true,
	"cloudflare-workers-ai": true, "cursor": true, "doubleword": true, "fireworks": true, "github-copilot": true, "groq": true,
	"huggingface": true, "modal": true, "novita": true, "nvidia": true, "opencode": true, "openrouter": true, "ovhcloud": true,
	"quicksilverpro": true, "radius": true, "togetherai": true, "vercel-ai-gateway": true, "vertex": true,
}

// IsReseller reports whether a seller runs other makers' models. A router has a separate name for each seller that it
// uses, e.g. huggingface/novita.
func IsReseller(provider string) bool {
	return resellers[provider] || strings.HasPrefix(provider, huggingface+"/")
}

// huggingface passes requests on to other sellers. The model's name contains the name of the seller, as in
// org/model:novita.
const huggingface = "huggingface"

// passThrough lists the sellers that charge the maker's price for models that only the maker runs.
var passThrough = map[string]bool{"amazon-bedrock": true, "openrouter": true, "azure": true, "vertex": true}

// A sellerPattern maps hosts to a seller. It matches a host and its subdomains. A pattern that begins with a dash
// matches every host name that ends with the pattern.
type sellerPattern struct{ host, provider string }

var sellerPatterns = []sellerPattern{
	{"api.anthropic.com", "anthropic"},
	{"api.openai.com", "openai"},
	{"openai.azure.com", "azure"},
	{"cognitiveservices.azure.com", "azure"},
	{"services.ai.azure.com", "azure"},
	{"generativelanguage.googleapis.com", "google"},
	{"aiplatform.googleapis.com", "vertex"},
	{"-aiplatform.googleapis.com", "vertex"},
	{"clients6.google.com", "google"},
	{"openrouter.ai", "openrouter"},
	{"api.groq.com", "groq"},
	{"api.x.ai", "xai"},
	{"api.deepseek.com", "deepseek"},
	{"api.mistral.ai", "mistral"},
	{"codestral.mistral.ai", "mistral"},
	{"api.cohere.com", "cohere"},
	{"api.cohere.ai", "cohere"},
	{"api.together.xyz", "togetherai"},
	{"api.together.ai", "togetherai"},
	{"api.cerebras.ai", "cerebras"},
	{"api.z.ai", "zai"},
	{"api.moonshot.ai", "moonshotai"},
	{"dashscope-intl.aliyuncs.com", "alibaba"},
	{"api.fireworks.ai", "fireworks"},
	{"api.novita.ai", "novita"},
	{"api.perplexity.ai", "perplexity"},
	{"api.minimax.io", "minimax"},
	{"api.minimaxi.com", "minimax"},
	{"open.bigmodel.cn", "zhipuai"},
	{"api.avian.io", "avian"},
	{"api.doubleword.ai", "doubleword"},
	{"oai.endpoints.kepler.ai.cloud.ovh.net", "ovhcloud"},
	{"router.huggingface.co", huggingface},
	{"ollama.com", "ollama.com"},
	{"ai-gateway.vercel.sh", "vercel-ai-gateway"},
	{"api.ant-ling.com", "ant-ling"},
	{"api.arcee.ai", "arcee"},
	{"api.cloudflare.com", "cloudflare-workers-ai"},
	{"api.meta.ai", "meta"},
	{"api.moonshot.cn", "moonshotai-cn"},
	{"api.quicksilverpro.io", "quicksilverpro"},
	{"api.xiaomimimo.com", "xiaomi"},
	{"gateway.ai.cloudflare.com", "cloudflare-ai-gateway"},
	{"inference.baseten.co", "baseten"},
	{"opencode.ai", "opencode"},
	{"radius.pi.dev", "radius"},
	{"githubcopilot.com", "github-copilot"},
	{"chatgpt.com", subscription},
}

// subscription is the seller name for tokens that are not billed.
const subscription = "subscription"

// sellerAt returns the seller that uses a host, or "" if the seller is unknown.
func sellerAt(host string) string {
	if strings.HasPrefix(host, "bedrock-runtime") && strings.Contains(host, ".amazonaws.com") {
		return "amazon-bedrock"
	}
	for _, p := range sellerPatterns {
		if host == p.host || strings.HasSuffix(host, "."+p.host) || p.host[0] == '-' && strings.HasSuffix(host, p.host) {
			return p.provider
		}
	}
	return ""
}

// hostOf returns the host of a URL, with the port if there is one. It also reads broken URLs that a parser would
// refuse.
func hostOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if i := strings.IndexAny(address, "/?#"); i >= 0 {
		address = address[:i]
	}
	return address[strings.LastIndexByte(address, '@')+1:]
}

// isLocal reports whether host is this machine. A proxy may run on it.
func isLocal(host string) bool {
	switch host {
	case "localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal":
		return true
	}
	return false
}

const ollamaPort = "11434"

// Lookup returns the price of a model. The arguments are the name of a protocol, the host that sent the response, and
// the model's name as sent. The host may include a port; it is "" if unknown. If several sellers are possible, there
// is no price unless exactly one of them made the model. If the table has only a preview of the model, Lookup returns
// the preview's price, with a doubt.
func (t *Table) Lookup(dialect, host, model string) Price {
	t.once.Do(t.buildIndex)
	t.asking.Lock()
	defer t.asking.Unlock()
	q := lookupKey{dialect, host, model}
	p, known := t.cached[q]
	if known {
		return p
	}
	p = t.findWithPreview(q)
	p.addDoubt(p.regionalDoubt(host))
	if t.cached == nil || len(t.cached) >= maxAsked {
		t.cached = map[lookupKey]Price{}
	}
	t.cached[q] = p
	return p
}

// regionalDoubt returns the reason why the price at a host may be higher than in the table, or "". OpenAI,
// Google and Amazon have regional endpoints with other prices. At Azure, the price depends on the deployment.
func (p Price) regionalDoubt(host string) string {
	host = (&url.URL{Host: strings.ToLower(host)}).Hostname()
	seller := sellerAt(host)
	region, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(host, "bedrock-runtime-fips."), "bedrock-runtime."), ".")
	switch {
	case p.Why != "" || p.Free:
	case seller == "openai" && host != "api.openai.com",
		seller == "vertex" && strings.HasSuffix(host, "-aiplatform.googleapis.com"),
		seller == "amazon-bedrock" && !slices.Contains(usualRegions, region) && !hasRegion(p.ID):
		return "the price may be higher in this region"
	case seller == "azure":
		return "the price may be higher if the deployment is tied to a region"
	}
	return ""
}

// usualRegions lists the Amazon regions to which the prices in the table apply.
var usualRegions = []string{"us-east-1", "us-east-2", "us-west-2"}

// hasRegion reports whether a row for Bedrock is for an inference profile. A profile has the same price in all its
// regions.
func hasRegion(id string) bool { return withoutRegion(id) != id || strings.HasPrefix(id, "regional.") }

func (t *Table) findWithPreview(q lookupKey) Price {
	p := t.findPrice(q.protocol, q.host, q.model)
	if p.Why == "" || q.model == "" {
		return p
	}
	if preview := t.findPrice(q.protocol, q.host, q.model+"-preview"); preview.Why == "" && !preview.Free {
		preview.Doubt = "this is the price of " + preview.ID
		return preview
	}
	return p
}

func (t *Table) findPrice(dialect, host, model string) Price {
	u := url.URL{Host: strings.ToLower(host)}
	host = u.Hostname()
	seller := sellerAt(host)
	names := namesFor(model)
	switch {
	case t.hosts[u.Host]:
		return t.priceAt(u.Host, names, model)
	case t.hosts[host]:
		return t.priceAt(host, names, model)
	case seller == "" && (dialect == "ollama" || u.Port() == ollamaPort):
		if p, ok := t.findRow("ollama", names); ok {
			return p
		}
		if strings.HasSuffix(model, "-cloud") || strings.HasSuffix(model, ":cloud") {
			return Price{Why: "no price is known for " + model + ", which doesn't run locally"}
		}
		return Price{Provider: "ollama", ID: model, Free: true}
	case model == "":
		return Price{Why: "the model is unknown"}
	case seller == subscription:
		return Price{Why: host + " is billed by subscription, not per token"}
	case seller != "":
		return t.priceAt(seller, names, model)
	}
	p := t.byModel(vendors[dialect], names, model, isLocal(host))
	if host != "" && !isLocal(host) && p.Why == "" {
		return p.asEstimate(host)
	}
	return p
}

// priceAt returns the price of a model at a known seller.
func (t *Table) priceAt(seller string, names []string, model string) Price {
	if seller == huggingface {
		if i := strings.LastIndexByte(model, ':'); i >= 0 {
			seller, names = huggingface+"/"+strings.ToLower(model[i+1:]), namesFor(model[:i])
		}
	}
	if p, ok := t.findRow(seller, names); ok {
		return p
	}
	if passThrough[seller] {
		if p, ok := t.makersPrice(model); ok {
			return p.asEstimate(seller)
		}
		for _, maker := range closedMakers { // a name without the maker is sufficient if the model has only one maker
			if p, ok := t.findRow(maker, names); ok {
				return p.asEstimate(seller)
			}
		}
	}
	if seller == "openrouter" {
		name, word, _ := strings.Cut(model, ":")
		switch {
		case word == "free":
			return Price{Provider: "openrouter", ID: model, Free: true}
		case routing[word]:
			if p := t.priceAt("openrouter", namesFor(name), name); p.Why == "" {
				p.Doubt = fmt.Sprintf("this is the price of %s; the price with :%s may differ", name, word)
				return p
			}
		}
		return Price{Why: fmt.Sprintf("no price is known for %s from openrouter", model)}
	}
	return Price{Why: fmt.Sprintf("no price is known for %s from %s", model, seller)}
}

// routing lists the suffixes of OpenRouter's model names that only select the seller, or add a search before the
// request. They are described at https://openrouter.ai/docs/guides/routing/model-variants.
var routing = map[string]bool{"nitro": true, "floor": true, "exacto": true, "online": true}

// closedMakers lists the makers whose models no other company runs on its own account. Resellers therefore charge the
// maker's price.
var closedMakers = []string{"anthropic", "openai", "google", "xai", "cohere"}

// makersPrice returns the maker's own price for a model whose name includes the maker.
func (t *Table) makersPrice(model string) (Price, bool) {
	maker, names := madeBy(model)
	return t.findRow(maker, names)
}

// byModel returns the price of a model whose seller is unknown. This is the price of the protocol's vendor, of the
// only seller that has the model, or of the model's maker. A server on this machine is not a seller: it is a proxy in
// front of a seller, or it runs its own model.
func (t *Table) byModel(vendor string, names []string, model string, local bool) Price {
	if p, ok := t.findRow(vendor, names); ok {
		return p
	}
	p, sellers := t.uniqueRow(names)
	if len(sellers) == 1 && !local {
		if !IsReseller(p.Provider) {
			return p
		}
		if own, ok := t.makersPrice(model); ok {
			p = own
		}
		return p.asEstimate("the actual seller")
	}
	if p, ok := t.makersRow(sellers, names); ok && !local {
		return p.asEstimate("the actual seller")
	}
	if p, ok := t.makersPrice(model); ok {
		return p.asEstimate("the actual seller")
	}
	switch {
	case len(sellers) > 3:
		return Price{Why: fmt.Sprintf("%d sellers offer %s, and it is unknown which of them answered", len(sellers), model)}
	case len(sellers) > 1:
		return Price{Why: fmt.Sprintf("the sellers of %s are %s, and it is unknown which of them answered", model, strings.Join(sellers, " and "))}
	case local && len(sellers) == 1:
		return Price{Why: fmt.Sprintf("%s was served on this machine, so the model might not be from %s", model, p.Provider)}
	}
	return Price{Why: "no price is known for " + model}
}

// makersRow returns the price of the only seller in a list that doesn't run other makers' models. The result ok is
// false if there is no such price, or if there are several such sellers.
func (t *Table) makersRow(sellers, names []string) (p Price, ok bool) {
	makers := slices.DeleteFunc(slices.Clone(sellers), IsReseller)
	if makers = slices.Compact(makers); len(makers) != 1 {
		return p, false
	}
	return t.findRow(makers[0], names)
}

// asEstimate returns the price with the doubt that another seller may charge a different price. Google
// charges the same price on both its hosts.
func (p Price) asEstimate(to string) Price {
	if p.Provider == "google" && to == "vertex" {
		return p
	}
	p.Doubt = fmt.Sprintf("this is the price from %s; %s may charge a different price", p.Provider, to)
	return p
}

// namesFor returns the ids that a model may have in the table, beginning with the exact id. It removes only parts
// that don't change the price: a resource path, a date, a region, or the host's version. A variant, such as ":free"
// or ":thinking", is a different model. So is a name that merely begins in the same way.
func namesFor(model string) (ids []string) {
	id := withoutPath(model)
	if whole := strings.ToLower(strings.TrimSpace(model)); strings.HasPrefix(whole, "accounts/") {
		ids = append(ids, whole) // Fireworks lists accounts/fireworks/models/x
	}
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

// withoutPath returns a model without the path of its resource: Gemini's "models/x", Vertex's
// "publishers/anthropic/models/x", or a Bedrock ARN.
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

// regions lists the prefixes of Bedrock's inference profiles.
var regions = []string{"us.", "eu.", "apac.", "jp.", "au.", "ca.", "us-gov.", "global."}

func withoutRegion(id string) string {
	for _, r := range regions {
		if rest, ok := strings.CutPrefix(id, r); ok && strings.Contains(rest, ".") {
			return rest
		}
	}
	return id
}

// withoutVersion removes Bedrock's "-v1:0".
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

// isSnapshot reports whether the suffix of a model's name only identifies a snapshot: "-latest", "-preview-05-06",
// "@20250514", "-v1:0", "-001". With any other word, or with a number as short as a version number, the name belongs
// to a different model.
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

// ownPrice lists dated models whose prices differ from the prices under their undated names.
var ownPrice = map[string]bool{"gpt-4o-2024-05-13": true}

// withoutDate removes "-2026-03-17", "-20251001", and Vertex's "@20251001" and "@default".
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

// isDate reports whether s is a day of this century in the given form.
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

// makers maps the prefixes that resellers put before a model's name to the makers. It contains only makers whose
// models no other company runs.
var makers = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "google": "google", "x-ai": "xai", "xai": "xai", "cohere": "cohere",
}

// madeBy splits the maker from a name, such as OpenRouter's "anthropic/claude-opus-4.8" or Bedrock's
// "us.anthropic.claude-opus-4-8-v1:0". The maker is "" if the name contains none.
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
