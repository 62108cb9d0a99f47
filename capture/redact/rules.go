package redact

import (
	"slices"
	"strings"
)

// rule describes one kind of secret: a shape, and the text required before it.
type rule struct {
	name  string                   // in the replacement
	after string                   // the text required before the secret, which stays; "" if the shape suffices
	shape string                   // a regular expression, see parseShape
	fit   func(text []byte) int    // length of the part to check, 0 for none; nil: all of it
	is    secretCheck              // whether that part is a secret; nil: it is
	where func(before []byte) bool // whether the text before, which ends with after, is right; nil: it is

	// A text that the rule finds, a similar one that it doesn't, and the source of the facts. {n} stands
	// for n random letters and digits, {xn} for hexadecimal ones, {un} for upper case ones, {dn} for
	// digits. So this file contains no real key, and nothing that a scanner takes for one. G and T are
	// the rules of gitleaks and trufflehog, K is vendors' documentation or their keys.
	hit, miss, from string

	parts []shapePart     // of the shape
	heads []string        // its possible beginnings, up to four characters
	ends  func(byte) bool // what may follow; nil: anything
}

// secretCheck reports whether a text with a rule's shape is a secret.
type secretCheck func(text []byte) bool

// shapes are the secrets that are recognised by their shape. The lengths are the shortest that vendors
// issue, or shorter. More specific rules come first.
var shapes = []*rule{
	// Model providers.
	{name: "anthropic-key", shape: `sk-ant-[\w-]{20,}`, hit: "sk-ant-api03-{93}AA", miss: "sk-ant-colony-size", from: "G T"},
	{name: "openai-key", shape: `sk-proj-[\w-]{20,}`, hit: "sk-proj-{58}T3BlbkFJ{58}", miss: "sk-proj-alpha", from: "G T"},
	{name: "openai-key", shape: `sk-svcacct-[\w-]{20,}`, hit: "sk-svcacct-{58}T3BlbkFJ{58}", miss: "sk-svcacct-name", from: "G T"},
	{name: "openai-key", shape: `sk-admin-[\w-]{20,}`, is: isVaried, hit: "sk-admin-{58}T3BlbkFJ{58}", miss: "sk-admin-dashboard-sidebar-item", from: "G T"},
	{name: "openrouter-key", shape: `sk-or-v1-[\w-]{20,}`, hit: "sk-or-v1-{x64}", miss: "sk-or-v1-beta", from: "T"},
	{name: "langfuse-key", shape: `sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "sk-lf-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "sk-lf-{x8}", from: "T"},
	{name: "openai-key", shape: `sk-[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "sk-{32}", miss: "sk-folding-cube-animation", from: "T K: DeepSeek, Moonshot, DashScope, OpenAI's old ones"},
	{name: "groq-key", shape: `gsk_\w{20,}`, hit: "gsk_{52}", miss: "gsk_window_new", from: "T"},
	{name: "xai-key", shape: `xai-[\w-]{20,}`, is: isVaried, hit: "xai-{80}", miss: "xai-explainable-models-survey", from: "T"},
	{name: "huggingface-token", shape: `hf_[A-Za-z0-9]{20,}`, ends: noName, hit: "hf_{34}", miss: "hf_hub_download_with_retries_2", from: "G T"},
	{name: "huggingface-token", shape: `api_org_[A-Za-z0-9]{34}`, hit: "api_org_{34}", miss: "api_org_members", from: "G T"},
	{name: "replicate-token", shape: `r8_[\w-]{37,40}`, is: mixedCheck(3), hit: "r8_{37}", miss: "r8_unorm_texture_of_the_background_layer", from: "T"},
	{name: "nvidia-key", shape: `nvapi-[\w-]{60,70}`, hit: "nvapi-{64}", miss: "nvapi-sdk-headers", from: "T"},
	{name: "perplexity-key", shape: `pplx-[A-Za-z0-9]{40,}`, hit: "pplx-{48}", miss: "pplx-70b-online", from: "G"},
	{name: "cerebras-key", shape: `csk-[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "csk-{48}", miss: "csk-tournament-qualifier", from: "K"},
	{name: "fireworks-key", shape: `fw_[A-Za-z0-9]{20,40}`, is: isScattered, ends: noName, hit: "fw_{24}", miss: "fw_firmwareupdaterequested", from: "K"},
	{name: "tavily-key", shape: `tvly-(?:[a-z]{3,4}-)?[A-Za-z0-9-]{20,}`, is: isVaried, hit: "tvly-dev-{32}", miss: "tvly-search-results-page", from: "K"},
	{name: "bedrock-key", shape: `ABSK[A-Za-z0-9+/]{100,280}={0,2}`, hit: "ABSK{112}=", miss: "ABSKETCH", from: "G"},
	{name: "bedrock-key", shape: `bedrock-api-key-[A-Za-z0-9+/=_-]{32,}`, is: mixedCheck(3), hit: "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{40}", miss: "bedrock-api-key-rotation-schedule-and-policies", from: "G"},
	{name: "google-key", shape: `AIza[\w-]{35,}`, hit: "AIza{35}", miss: "AIzawa-Station", from: "G T"},
	{name: "google-key", shape: `AQ\.[\w-]{30,}`, is: mixedCheck(3), hit: "AQ.{50}", miss: "AQ.question-and-answer-session-of-2026", from: "K"},
	{name: "langsmith-key", shape: `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`, hit: "lsv2_pt_{x32}_{x10}", miss: "lsv2_pt_{x12}", from: "T"},
	{name: "pinecone-key", shape: `pcsk_\w{60,72}`, hit: "pcsk_{5}_{63}", miss: "pcsk_index_name", from: "T"},
	{name: "elevenlabs-key", shape: `sk_[0-9a-f]{48}`, hit: "sk_{x48}", miss: "sk_{x16}", from: "T"},
	{name: "posthog-key", shape: `phx_[A-Za-z0-9]{43,48}`, hit: "phx_{43}", miss: "phx_router", from: "T"},

	// Clouds.
	{name: "aws-key-id", shape: `(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}`, is: noExample, hit: "AKIA{u16}", miss: "AKIAIOSFODNN7EXAMPLE", from: "G T"},
	{name: "google-token", shape: `ya29\.[\w.-]{20,}`, hit: "ya29.{60}", miss: "ya29.short", from: "T"},
	{name: "google-refresh-token", shape: `1//0[\w-]{36,}`, is: mixedCheck(3), hit: "1//0{60}", miss: "1//0-this-is-a-comment-and-no-token-of-anybody", from: "K"},
	{name: "google-client-secret", shape: `GOCSPX-[\w-]{20,}`, hit: "GOCSPX-{28}", miss: "GOCSPX-prefix", from: "K"},
	{name: "digitalocean-token", shape: `do[opr]_v1_[0-9a-f]{64}`, hit: "dop_v1_{x64}", miss: "dop_v1_{x8}", from: "G T"},
	{name: "cloudflare-token", shape: `cf[uao]t_[A-Za-z0-9]{40}[0-9a-f]{8}`, hit: "cfut_{40}{x8}", miss: "cfut_{10}", from: "T"},
	{name: "cloudflare-token", shape: `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`, hit: "v1.0-{x24}-{x146}", miss: "v1.0-{x24}", from: "G"},
	{name: "fly-token", shape: `fo1_[\w-]{43}`, hit: "fo1_{43}", miss: "fo1_{12}", from: "G"},
	{name: "fly-token", shape: `fm[12][a-z]?_[A-Za-z0-9+/=,_]{100,}`, hit: "fm2_{120}", miss: "fm2_demodulator", from: "G"},
	{name: "heroku-key", shape: `HRKU-AA[\w-]{58}`, hit: "HRKU-AA{58}", miss: "HRKU-AA{9}", from: "G"},
	{name: "netlify-token", shape: `nfp_[A-Za-z0-9]{36}`, hit: "nfp_{36}", miss: "nfp_{9}", from: "T"},
	{name: "supabase-token", shape: `sbp_[0-9a-z]{40}`, hit: "sbp_{x40}", miss: "sbp_{x8}", from: "T"},
	{name: "planetscale-token", shape: `pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64}`, hit: "pscale_tkn_{43}", miss: "pscale_tkn_name", from: "G"},
	{name: "databricks-token", shape: `dapi[0-9a-f]{32}(?:-[0-9])?`, hit: "dapi{x32}", miss: "dapi{x12}", from: "G T"},
	{name: "pulumi-token", shape: `pul-[0-9a-f]{40}`, hit: "pul-{x40}", miss: "pul-{x9}", from: "G"},

	// Code and its tools.
	{name: "github-token", shape: `gh[pousr]_[A-Za-z0-9]{20,}`, hit: "ghp_{36}", miss: "ghp_{9}", from: "G T"},
	{name: "github-token", shape: `github_pat_\w{20,}`, hit: "github_pat_{22}_{59}", miss: "github_pat_name", from: "G T"},
	{name: "gitlab-token", shape: `glpat-[\w-]{20,}`, hit: "glpat-{20}", miss: "glpat-{7}", from: "G"},
	{name: "gitlab-token", shape: `gl(?:ptt|dt|rt|ft|soat|ffct|imt|agent|oas|cbt)-[\w-]{20,}`, is: isVaried, hit: "gldt-{20}", miss: "gldt-deployment-of-the-team", from: "G"},
	{name: "gitlab-token", shape: `GR1348941[\w-]{20}`, hit: "GR1348941{20}", miss: "GR1348941", from: "G"},
	{name: "npm-token", shape: `npm_[A-Za-z0-9]{36}`, hit: "npm_{36}", miss: "npm_config_registry", from: "G T"},
	{name: "pypi-token", shape: `pypi-AgEIcHlwaS5vcmc[\w-]{50,}`, hit: "pypi-AgEIcHlwaS5vcmc{70}", miss: "pypi-AgEIcHlwaS5vcmc", from: "G T"},
	{name: "rubygems-key", shape: `rubygems_[0-9a-f]{48}`, hit: "rubygems_{x48}", miss: "rubygems_{x9}", from: "G T"},
	{name: "docker-token", shape: `dckr_(?:pat|oat)_[\w-]{27,}`, hit: "dckr_pat_{27}", miss: "dckr_pat_name", from: "T"},
	{name: "doppler-token", shape: `dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}`, hit: "dp.pt.{43}", miss: "dp.pt.{12}", from: "G"},
	{name: "linear-key", shape: `lin_(?:api|oauth)_[A-Za-z0-9]{40,}`, hit: "lin_api_{40}", miss: "lin_api_version", from: "G"},
	{name: "sentry-token", shape: `sntryu_[0-9a-f]{64}`, hit: "sntryu_{x64}", miss: "sntryu_{x6}", from: "G"},
	{name: "sentry-token", shape: `sntrys_eyJ[\w+/=-]{80,}`, hit: "sntrys_eyJ{120}", miss: "sntrys_eyJ", from: "G"},
	{name: "grafana-token", shape: `glc_[A-Za-z0-9+/]{32,}={0,2}`, hit: "glc_{60}", miss: "glc_{9}", from: "G"},
	{name: "grafana-token", shape: `glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}`, hit: "glsa_{32}_{x8}", miss: "glsa_{9}", from: "G"},
	{name: "postman-key", shape: `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`, hit: "PMAK-{x24}-{x34}", miss: "PMAK-{x24}", from: "G"},
	{name: "vault-token", shape: `hv[sb]\.[\w-]{90,300}`, hit: "hvs.{95}", miss: "hvs.{9}", from: "G"},
	{name: "vault-token", shape: `s\.[A-Za-z0-9]{24}`, is: isScattered, ends: noCall, hit: "s.{24}", miss: "s.readUint16LengthPrefixed", from: "G"},
	{name: "tailscale-key", shape: `tskey-[a-z]{3,12}-[\w-]{16,}`, hit: "tskey-auth-{17}-{32}", miss: "tskey-auth-{4}", from: "T"},

	// Services.
	{name: "slack-token", shape: `xox[abeoprs]-[A-Za-z0-9-]{20,}`, is: isVaried, hit: "xoxb-{d12}-{d12}-{24}", miss: "xoxb-kisses-and-hugs-from-me", from: "G"},
	{name: "slack-token", shape: `xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[0-9a-z]{20,}`, hit: "xapp-1-{u11}-{d13}-{x64}", miss: "xapp-1-store", from: "G"},
	{name: "slack-token", shape: `xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{100,}`, hit: "xoxe.xoxp-1-{166}", miss: "xoxe.xoxp-1-{9}", from: "G"},
	{name: "stripe-key", shape: `[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`, hit: "sk_live_{24}", miss: "sk_live_mode", from: "G"},
	{name: "stripe-webhook-secret", shape: `whsec_[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "whsec_{32}", miss: "whsec_verification", from: "K"},
	{name: "sendgrid-key", shape: `SG\.[\w-]{20,24}\.[\w-]{39,50}`, hit: "SG.{22}.{43}", miss: "SG.{22}", from: "G T"},
	{name: "twilio-key", shape: `SK[0-9a-f]{32}`, hit: "SK{x32}", miss: "SK{x8}", from: "G T"},
	{name: "shopify-token", shape: `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`, hit: "shpat_{x32}", miss: "shpat_{x8}", from: "G T"},
	{name: "notion-token", shape: `ntn_[0-9]{11}[A-Za-z0-9]{35}`, hit: "ntn_{d11}{35}", miss: "ntn_{d11}", from: "G T"},
	{name: "notion-token", shape: `secret_[A-Za-z0-9]{43}`, is: mixedCheck(3), hit: "secret_{43}", miss: "secret_{9}", from: "T"},
	{name: "figma-token", shape: `fig[doupr]r?_[\w-]{40}`, is: mixedCheck(3), hit: "figd_{40}", miss: "figd_{9}", from: "G"},
	{name: "figma-token", shape: `figp_[\w-]{40}`, is: mixedCheck(3), hit: "figp_{40}", miss: "figp_{9}", from: "T"},
	{name: "atlassian-token", shape: `ATATT3[\w=-]{60,}`, hit: "ATATT3{186}", miss: "ATATT3{9}", from: "G"},
	{name: "atlassian-token", shape: `ATCTT3xFfG[\w=-]{60,}`, hit: "ATCTT3xFfG{171}", miss: "ATCTT3xFfG", from: "T"},
	{name: "airtable-token", shape: `pat[A-Za-z0-9]{14}\.[0-9a-f]{64}`, hit: "pat{14}.{x64}", miss: "pat{14}.txt", from: "T"},
	{name: "1password-token", shape: `ops_eyJ[\w+/=-]{250,}`, hit: "ops_eyJ{260}", miss: "ops_eyJ{9}", from: "G"},
	{name: "age-key", shape: `AGE-SECRET-KEY-1[A-Z0-9]{58}`, hit: "AGE-SECRET-KEY-1{u58}", miss: "AGE-SECRET-KEY-1", from: "G"},
	{name: "jwt", shape: `eyJ[\w-]{8,}\.eyJ[\w-]{2,}\.?[\w-]*`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{30}.{43}", miss: "eyJhbGciOiJIUzI1NiJ9.and.more", from: "G T"},
}

// compileRules returns rules that are ready for use, one for each alternative of a shape.
func compileRules(rules []*rule) (list []*rule) {
	for _, r := range rules {
		for _, shape := range expandShape(r.shape) {
			one := *r
			one.shape, one.parts = shape, parseShape(shape)
			one.heads = firstCharacters(one.parts, 4)
			list = append(list, &one)
		}
	}
	return list
}

// canGlue reports whether the rule also finds secrets directly after a letter or a digit: its beginning
// is too specific to be the end of another word.
func (r *rule) canGlue() bool {
	sign := strings.IndexAny(r.shape, "-_")
	return len(r.heads[0]) == 4 && sign > 0 && sign < strings.IndexByte(r.shape+"[", '[')
}

// canBegin reports whether c can be the first character.
func (r *rule) canBegin(c byte) bool {
	return slices.ContainsFunc(r.heads, func(head string) bool { return head[0] == c })
}

// endsBefore reports whether c may follow the secret.
func (r *rule) endsBefore(c byte) bool { return r.ends == nil || r.ends(c) }

// noName excludes characters that continue an identifier, noCall also those that make it a call or a
// field of a program.
func noName(c byte) bool { return !alnum[c] && c != '_' }
func noCall(c byte) bool { return noName(c) && c != '(' && c != '.' && c != '[' }

// expandShape returns all variants of a shape with groups, (?:a|b) or (?:a)?.
func expandShape(shape string) []string {
	before, rest, ok := strings.Cut(shape, "(?:")
	if !ok {
		return []string{shape}
	}
	group, rest, _ := strings.Cut(rest, ")")
	choices := strings.Split(group, "|")
	if after, ok := strings.CutPrefix(rest, "?"); ok {
		choices, rest = append(choices, ""), after
	}
	var list []string
	for _, choice := range choices {
		list = append(list, expandShape(before+choice+rest)...)
	}
	return list
}
