package redact

import (
	"bytes"
	"slices"
	"strings"
)

// shapes are the secrets that are recognised by their shape. The minimum lengths are those of the shortest keys
// that vendors issue, or shorter. More specific rules come first.
var shapes = []*rule{
	// Model providers.
	{name: "anthropic-key", shape: `sk-ant-[\w-]{20,}`, hit: "sk-ant-api03-{93}AA", miss: "sk-ant-colony-size", from: "platform.claude.com: Admin API"},
	{name: "openai-key", shape: `sk-proj-[\w-]{20,}`, hit: "sk-proj-{58}T3BlbkFJ{58}", miss: "sk-proj-alpha", from: "shape seen in gitleaks and trufflehog"},
	{name: "openai-key", shape: `sk-svcacct-[\w-]{20,}`, hit: "sk-svcacct-{58}T3BlbkFJ{58}", miss: "sk-svcacct-name", from: "shape seen in gitleaks and trufflehog"},
	{name: "openai-key", shape: `sk-admin-[\w-]{20,}`, is: isVaried, hit: "sk-admin-{58}T3BlbkFJ{58}", miss: "sk-admin-dashboard-sidebar-item", from: "platform.openai.com: admin API keys"},
	{name: "openrouter-key", shape: `sk-or-v1-[\w-]{20,}`, hit: "sk-or-v1-{x64}", miss: "sk-or-v1-beta", from: "openrouter.ai/docs: authentication"},
	{name: "langfuse-key", shape: `sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "sk-lf-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "sk-lf-{x8}", from: "langfuse.com/docs: API keys"},
	{name: "openai-key", shape: `sk-[A-Za-z0-9]{32,}`, is: isMixedOrShuffled, hit: "sk-{32}", miss: "sk-folding-cube-animation", from: "shape seen in trufflehog and in keys of DeepSeek, Moonshot, DashScope and OpenAI"},
	{name: "groq-key", shape: `gsk_\w{20,}`, hit: "gsk_{52}", miss: "gsk_window_new", from: "shape seen in trufflehog"},
	{name: "xai-key", shape: `xai-[\w-]{20,}`, is: isVaried, hit: "xai-{80}", miss: "xai-explainable-models-survey", from: "shape seen in trufflehog"},
	{name: "huggingface-token", shape: `hf_[A-Za-z0-9]{20,}`, ends: noName, hit: "hf_{34}", miss: "hf_hub_download_with_retries_2", from: "huggingface.co/docs: user access tokens"},
	{name: "huggingface-token", shape: `api_org_[A-Za-z0-9]{34}`, hit: "api_org_{34}", miss: "api_org_members", from: "shape seen in gitleaks and trufflehog"},
	{name: "replicate-token", shape: `r8_[\w-]{37,40}`, is: mixedCheck(3), hit: "r8_{37}", miss: "r8_unorm_texture_of_the_background_layer", from: "replicate.com/docs: API tokens"},
	{name: "nvidia-key", shape: `nvapi-[\w-]{60,70}`, hit: "nvapi-{64}", miss: "nvapi-sdk-headers", from: "docs.nvidia.com: NIM API keys"},
	{name: "perplexity-key", shape: `pplx-[A-Za-z0-9]{40,}`, hit: "pplx-{48}", miss: "pplx-70b-online", from: "shape seen in gitleaks"},
	{name: "cerebras-key", shape: `csk-[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "csk-{48}", miss: "csk-tournament-qualifier", from: "shape seen in keys"},
	{name: "fireworks-key", shape: `fw_[A-Za-z0-9]{20,40}`, is: isScattered, ends: noName, hit: "fw_{24}", miss: "fw_firmwareupdaterequested", from: "shape seen in keys"},
	{name: "tavily-key", shape: `tvly-(?:[a-z]{3,4}-)?[A-Za-z0-9-]{20,}`, is: isVaried, hit: "tvly-dev-{32}", miss: "tvly-search-results-page", from: "shape seen in keys"},
	{name: "bedrock-key", shape: `ABSK[A-Za-z0-9+/]{100,280}={0,2}`, hit: "ABSK{112}=", miss: "ABSKETCH", from: "shape seen in gitleaks"},
	{name: "bedrock-key", shape: `bedrock-api-key-[A-Za-z0-9+/=_-]{32,}`, is: mixedCheck(3), hit: "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{40}", miss: "bedrock-api-key-rotation-schedule-and-policies", from: "shape seen in gitleaks"},
	{name: "google-key", shape: `AIza[\w-]{35,}`, hit: "AIza{35}", miss: "AIzawa-Station", from: "cloud.google.com/docs: API keys"},
	{name: "google-key", shape: `AQ\.[\w-]{30,}`, is: mixedCheck(3), hit: "AQ.{50}", miss: "AQ.question-and-answer-session-of-2026", from: "shape seen in keys"},
	{name: "langsmith-key", shape: `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`, hit: "lsv2_pt_{x32}_{x10}", miss: "lsv2_pt_{x12}", from: "docs.smith.langchain.com: API keys"},
	{name: "pinecone-key", shape: `pcsk_\w{60,72}`, hit: "pcsk_{5}_{63}", miss: "pcsk_index_name", from: "shape seen in trufflehog"},
	{name: "elevenlabs-key", shape: `sk_[0-9a-f]{48}`, hit: "sk_{x48}", miss: "sk_{x16}", from: "shape seen in trufflehog"},
	{name: "posthog-key", shape: `phx_[A-Za-z0-9]{43,48}`, hit: "phx_{43}", miss: "phx_router", from: "posthog.com/docs: personal API keys"},

	{name: "openai-session", alone: true, shape: `sess-[A-Za-z0-9]{36,}`, is: mixedCheck(3), hit: "sess-{40}", miss: "sess-management-of-users", from: "shape seen in keys"},
	{name: "codex-token", shape: `rt_[\w.-]{40,}`, is: mixedCheck(3), hit: "rt_{60}", miss: "rt_priority_of_the_scheduler_in_the_kernel_2", from: "shape seen in keys"},
	{name: "litellm-key", shape: `sk-[\w-]{22}`, is: isShuffled, ends: noName, hit: "sk-{22}", miss: "sk-folding-cube-anim-12", from: "docs.litellm.ai: virtual keys"},
	{name: "helicone-key", alone: true, shape: `sk-helicone-[\w-]{20,}`, is: isVaried, hit: "sk-helicone-{7}-{7}-{7}-{7}", miss: "sk-helicone-dashboard-sidebar-item", from: "docs.helicone.ai: authentication"},
	{name: "together-key", shape: `tgp_v1_[\w-]{40,}`, hit: "tgp_v1_{43}", miss: "tgp_v1_models", from: "shape seen in keys"},
	{name: "jina-key", alone: true, shape: `jina_[\w-]{40,}`, is: mixedCheck(3), hit: "jina_{60}", miss: "jina_embeddings_v3", from: "shape seen in keys"},
	{name: "e2b-key", shape: `e2b_[0-9a-f]{40}`, hit: "e2b_{x40}", miss: "e2b_sandbox", from: "e2b.dev/docs: API key"},
	{name: "firecrawl-key", shape: `fc-[0-9a-f]{32}`, hit: "fc-{x32}", miss: "fc-{x8}", from: "docs.firecrawl.dev: API key"},
	{name: "voyage-key", shape: `pa-[\w-]{40,}`, is: isShuffled, hit: "pa-{43}", miss: "pa-rent-of-the-node-in-the-tree-of-all-nodes", from: "shape seen in keys"},
	{name: "browserbase-key", shape: `bb_(?:live|test)_[\w-]{20,}`, is: isVaried, hit: "bb_live_{27}", miss: "bb_live_sessions_of_the_team", from: "shape seen in keys"},
	{name: "runpod-key", shape: `rpa_[A-Z0-9a-z]{40,}`, is: mixedCheck(3), hit: "rpa_{u46}", miss: "rpa_workflow", from: "shape seen in keys"},
	{name: "modal-key", shape: `a[ks]-[A-Za-z0-9]{22}`, is: isShuffled, ends: noName, hit: "ak-{22}", miss: "as-{6}", from: "shape seen in keys"},
	{name: "apify-token", alone: true, shape: `apify_api_[A-Za-z0-9]{30,}`, hit: "apify_api_{36}", miss: "apify_api_client", from: "docs.apify.com: API tokens"},
	{name: "brave-key", shape: `BSA[\w-]{24,30}`, is: isShuffled, hit: "BSA{28}", miss: "BSA-accreditation-of-labs-2", from: "shape seen in keys"},
	{name: "vercel-token", shape: `vc[piark]_[A-Za-z0-9]{24,}`, is: mixedCheck(3), hit: "vcp_{56}", miss: "vcp_configuration", from: "shape seen in keys"},
	{name: "huggingface-token", shape: `hf_oauth_[\w.-]{40,}`, is: mixedCheck(3), hit: "hf_oauth_{60}", miss: "hf_oauth_redirect", from: "shape seen in keys"},

	// Clouds.
	{name: "aws-key-id", shape: `(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}`, is: noExample, hit: "AKIA{u16}", miss: "AKIAIOSFODNN7EXAMPLE", from: "docs.aws.amazon.com/IAM: unique identifiers"},
	{name: "google-token", shape: `ya29\.[\w.-]{20,}`, hit: "ya29.{60}", miss: "ya29.short", from: "shape seen in trufflehog"},
	{name: "google-refresh-token", shape: `1//0[\w-]{36,}`, is: mixedCheck(3), hit: "1//0{60}", miss: "1//0-this-is-a-comment-and-no-token-of-anybody", from: "shape seen in keys"},
	{name: "google-client-secret", shape: `GOCSPX-[\w-]{20,}`, hit: "GOCSPX-{28}", miss: "GOCSPX-prefix", from: "shape seen in keys"},
	{name: "digitalocean-token", shape: `do[opr]_v1_[0-9a-f]{64}`, hit: "dop_v1_{x64}", miss: "dop_v1_{x8}", from: "docs.digitalocean.com: API tokens"},
	{name: "cloudflare-token", shape: `cf[uao]t_[A-Za-z0-9]{40}[0-9a-f]{8}`, hit: "cfut_{40}{x8}", miss: "cfut_{10}", from: "shape seen in trufflehog"},
	{name: "cloudflare-token", shape: `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`, hit: "v1.0-{x24}-{x146}", miss: "v1.0-{x24}", from: "shape seen in gitleaks"},
	{name: "fly-token", shape: `fo1_[\w-]{43}`, hit: "fo1_{43}", miss: "fo1_{12}", from: "shape seen in gitleaks"},
	{name: "fly-token", shape: `fm[12][a-z]?_[A-Za-z0-9+/=,_]{100,}`, hit: "fm2_{120}", miss: "fm2_demodulator", from: "shape seen in gitleaks"},
	{name: "heroku-key", shape: `HRKU-AA[\w-]{58}`, hit: "HRKU-AA{58}", miss: "HRKU-AA{9}", from: "shape seen in gitleaks"},
	{name: "netlify-token", shape: `nfp_[A-Za-z0-9]{36}`, hit: "nfp_{36}", miss: "nfp_{9}", from: "shape seen in trufflehog"},
	{name: "supabase-token", shape: `sbp_[0-9a-z]{40}`, hit: "sbp_{x40}", miss: "sbp_{x8}", from: "supabase.com/docs: Management API"},
	{name: "planetscale-token", shape: `pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64}`, hit: "pscale_tkn_{43}", miss: "pscale_tkn_name", from: "shape seen in gitleaks"},
	{name: "databricks-token", shape: `dapi[0-9a-f]{32}(?:-[0-9])?`, hit: "dapi{x32}", miss: "dapi{x12}", from: "docs.databricks.com: personal access tokens"},
	{name: "pulumi-token", shape: `pul-[0-9a-f]{40}`, hit: "pul-{x40}", miss: "pul-{x9}", from: "shape seen in gitleaks"},

	{name: "aws-key-id", shape: `(?:APKA|AROA)[A-Z0-9]{16,17}`, is: mixedCheck(3), ends: noName, hit: "APKA{u16}", miss: "APKANDMORE", from: "docs.aws.amazon.com/IAM: unique identifiers"},
	{name: "supabase-key", shape: `sb_secret_[\w-]{20,}`, is: isVaried, hit: "sb_secret_{31}", miss: "sb_secret_of_the_whole_project", from: "supabase.com/docs: API keys"},
	{name: "vercel-blob-token", alone: true, shape: `vercel_blob_rw_\w{30,}`, hit: "vercel_blob_rw_{16}_{30}", miss: "vercel_blob_rw_token", from: "vercel.com/docs: Blob tokens"},
	{name: "render-key", shape: `rnd_[A-Za-z0-9]{24,}`, is: mixedCheck(3), hit: "rnd_{28}", miss: "rnd_generator", from: "shape seen in keys"},
	{name: "neon-key", shape: `napi_[a-z0-9]{40,}`, is: mixedCheck(3), hit: "napi_{x64}", miss: "napi_create_function", from: "shape seen in keys"},
	{name: "mongodb-atlas-secret", shape: `mdb_sa_sk_[\w-]{30,}`, is: isVaried, hit: "mdb_sa_sk_{40}", miss: "mdb_sa_sk_name", from: "mongodb.com/docs/atlas: service accounts"},
	{name: "aiven-password", shape: `AVNS_[\w-]{19}`, is: isVaried, hit: "AVNS_{19}", miss: "AVNS_{6}", from: "aiven.io/docs: service passwords"},
	{name: "alibaba-key-id", shape: `LTAI[A-Za-z0-9]{12,24}`, is: mixedCheck(2.5), ends: noName, hit: "LTAI{20}", miss: "LTAIRED", from: "alibabacloud.com/help: AccessKey"},
	{name: "tencent-key-id", shape: `AKID[A-Za-z0-9]{32}`, is: mixedCheck(3), ends: noName, hit: "AKID{32}", miss: "AKID{8}", from: "tencentcloud.com/document: SecretId"},
	{name: "volcengine-key-id", shape: `AKLT[A-Za-z0-9=]{30,}`, is: mixedCheck(3), hit: "AKLT{43}", miss: "AKLT{8}", from: "volcengine.com/docs: access keys"},
	{name: "yandex-token", shape: `t1\.[\w-]{10,}={0,2}\.[\w-]{80,}={0,2}`, hit: "t1.9euel{40}.{86}", miss: "t1.9euel", from: "yandex.cloud/docs: IAM tokens"},
	{name: "yandex-key", shape: `AQVN[\w-]{35,38}`, hit: "AQVN{36}", miss: "AQVN{8}", from: "shape seen in gitleaks"},
	{name: "yandex-secret", shape: `YC[\w-]{38}`, is: isShuffled, ends: noName, hit: "YC{38}", miss: "YC-and-other-accelerators-of-the-valley-1", from: "shape seen in gitleaks"},
	{name: "openshift-token", alone: true, shape: `sha256~[\w-]{43}`, hit: "sha256~{43}", miss: "sha256~{12}", from: "docs.openshift.com: OAuth tokens"},
	{name: "scalingo-token", shape: `tk-us-[\w-]{48}`, hit: "tk-us-{48}", miss: "tk-us-{8}", from: "shape seen in gitleaks"},
	{name: "clickhouse-key", shape: `4b1d[A-Za-z0-9]{38}`, is: mixedCheck(3), ends: noName, hit: "4b1d{38}", miss: "4b1d{4}", from: "shape seen in gitleaks"},

	// Code hosts and development tools.
	{name: "github-token", shape: `gh[pousr]_[A-Za-z0-9]{20,}`, hit: "ghp_{36}", miss: "ghp_{9}", from: "docs.github.com: token formats"},
	{name: "github-token", shape: `github_pat_\w{20,}`, hit: "github_pat_{22}_{59}", miss: "github_pat_name", from: "docs.github.com: token formats"},
	{name: "gitlab-token", shape: `glpat-[\w.-]{20,}`, fit: lenWithoutFullStop, hit: "glpat-{20}", miss: "glpat-{7}", from: "docs.gitlab.com: token prefixes"},
	{name: "gitlab-token", shape: `gl(?:ptt|dt|rt|ft|soat|ffct|imt|agent|oas|cbt)-[\w.-]{20,}`, fit: lenWithoutFullStop, is: isVaried, hit: "gldt-{20}", miss: "gldt-deployment-of-the-team", from: "docs.gitlab.com: token prefixes"},
	{name: "gitlab-token", shape: `GR1348941[\w-]{20}`, hit: "GR1348941{20}", miss: "GR1348941", from: "shape seen in gitleaks"},
	{name: "npm-token", shape: `npm_[A-Za-z0-9]{36}`, hit: "npm_{36}", miss: "npm_config_registry", from: "github.blog: npm access token format"},
	{name: "pypi-token", shape: `pypi-AgEIcHlwaS5vcmc[\w-]{50,}`, hit: "pypi-AgEIcHlwaS5vcmc{70}", miss: "pypi-AgEIcHlwaS5vcmc", from: "pypi.org/help: API tokens"},
	{name: "rubygems-key", shape: `rubygems_[0-9a-f]{48}`, hit: "rubygems_{x48}", miss: "rubygems_{x9}", from: "shape seen in gitleaks and trufflehog"},
	{name: "docker-token", shape: `dckr_(?:pat|oat)_[\w-]{27,}`, hit: "dckr_pat_{27}", miss: "dckr_pat_name", from: "docs.docker.com: access tokens"},
	{name: "doppler-token", shape: `dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}`, hit: "dp.pt.{43}", miss: "dp.pt.{12}", from: "docs.doppler.com: auth token formats"},
	{name: "linear-key", shape: `lin_(?:api|oauth)_[A-Za-z0-9]{40,}`, hit: "lin_api_{40}", miss: "lin_api_version", from: "shape seen in gitleaks"},
	{name: "sentry-token", shape: `sntryu_[0-9a-f]{64}`, hit: "sntryu_{x64}", miss: "sntryu_{x6}", from: "docs.sentry.io: auth tokens"},
	{name: "sentry-token", shape: `sntrys_eyJ[\w+/=-]{80,}`, hit: "sntrys_eyJ{120}", miss: "sntrys_eyJ", from: "docs.sentry.io: auth tokens"},
	{name: "grafana-token", shape: `glc_[A-Za-z0-9+/]{32,}={0,2}`, hit: "glc_{60}", miss: "glc_{9}", from: "grafana.com/docs: access policies"},
	{name: "grafana-token", shape: `glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}`, hit: "glsa_{32}_{x8}", miss: "glsa_{9}", from: "grafana.com/docs: service accounts"},
	{name: "postman-key", shape: `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`, hit: "PMAK-{x24}-{x34}", miss: "PMAK-{x24}", from: "shape seen in gitleaks"},
	{name: "vault-token", shape: `hv[sb]\.[\w-]{90,300}`, hit: "hvs.{95}", miss: "hvs.{9}", from: "developer.hashicorp.com/vault: tokens"},
	{name: "vault-token", shape: `s\.[A-Za-z0-9]{24}`, is: isScattered, ends: noCall, hit: "s.{24}", miss: "s.readUint16LengthPrefixed", from: "developer.hashicorp.com/vault: tokens"},
	{name: "tailscale-key", shape: `tskey-[a-z]{3,12}-[\w-]{16,}`, hit: "tskey-auth-{17}-{32}", miss: "tskey-auth-{4}", from: "tailscale.com/kb: key prefixes"},

	{name: "circleci-token", shape: `CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}`, hit: "CCIPAT_{22}_{x40}", miss: "CCIPAT_{22}", from: "circleci.com/docs: API tokens"},
	{name: "buildkite-token", shape: `bk(?:ua|at|ct)_[0-9A-Za-z]{32,}`, is: mixedCheck(3), hit: "bkua_{x40}", miss: "bkua_{x8}", from: "buildkite.com/docs: token formats"},
	{name: "sonar-token", shape: `sq[upa]_[0-9a-f]{40}`, hit: "squ_{x40}", miss: "squ_{x8}", from: "docs.sonarsource.com: tokens"},
	{name: "jfrog-key", shape: `AKCp[A-Za-z0-9]{60,}`, hit: "AKCp{69}", miss: "AKCp{9}", from: "shape seen in gitleaks"},
	{name: "jfrog-token", shape: `cmVmd[A-Za-z0-9]{59}`, is: isShuffled, ends: noName, hit: "cmVmd{59}", miss: "cmVmd{19}", from: "shape seen in gitleaks"},
	{name: "bitbucket-password", shape: `ATBB[A-Za-z0-9]{32}`, is: mixedCheck(3), hit: "ATBB{32}", miss: "ATBB{8}", from: "shape seen in keys"},
	{name: "sourcegraph-token", shape: `sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}`, hit: "sgp_{x16}_{x40}", miss: "sgp_{x16}", from: "sourcegraph.com/docs: access tokens"},
	{name: "octopus-key", shape: `API-[A-Z0-9]{26}`, is: mixedCheck(3), ends: noName, hit: "API-{u26}", miss: "API-DOCUMENTATIONOVERVIEWS", from: "octopus.com/docs: API keys"},
	{name: "clojars-token", shape: `CLOJARS_[0-9a-z]{60}`, hit: "CLOJARS_{x60}", miss: "CLOJARS_{x8}", from: "github.com/clojars: deploy tokens"},
	{name: "prefect-key", shape: `pn[ub]_[A-Za-z0-9]{36}`, hit: "pnu_{36}", miss: "pnu_{6}", from: "docs.prefect.io: API keys"},
	{name: "infracost-key", alone: true, shape: `ico-[A-Za-z0-9]{32}`, is: mixedCheck(3), ends: noName, hit: "ico-{32}", miss: "ico-{12}", from: "shape seen in gitleaks"},
	{name: "deno-token", shape: `dd[pw]_[A-Za-z0-9]{36}`, hit: "ddp_{36}", miss: "ddp_{6}", from: "shape seen in keys"},
	{name: "nuget-key", shape: `oy2[a-z0-9]{43}`, is: mixedCheck(3), ends: noName, hit: "oy2{x43}", miss: "oy2{x12}", from: "shape seen in gitleaks"},
	{name: "terraform-token", shape: `tfe_[A-Za-z0-9]{40,}`, is: mixedCheck(3), hit: "tfe_{48}", miss: "tfe_workspace", from: "shape seen in keys"},
	{name: "adobe-secret", shape: `p8e-[A-Za-z0-9]{32}`, is: mixedCheck(3), ends: noName, hit: "p8e-{x32}", miss: "p8e-{x8}", from: "shape seen in gitleaks"},

	// Services.
	{name: "slack-token", shape: `xox[a-z]-[A-Za-z0-9-]{20,}`, is: isVaried, hit: "xoxb-{d12}-{d12}-{24}", miss: "xoxb-kisses-and-hugs-from-me", from: "docs.slack.dev: token types"},
	{name: "slack-token", shape: `xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[0-9a-z]{20,}`, hit: "xapp-1-{u11}-{d13}-{x64}", miss: "xapp-1-store", from: "docs.slack.dev: token types"},
	{name: "slack-token", shape: `xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{100,}`, hit: "xoxe.xoxp-1-{166}", miss: "xoxe.xoxp-1-{9}", from: "docs.slack.dev: token types"},
	{name: "stripe-key", shape: `[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`, hit: "sk_live_{24}", miss: "sk_live_mode", from: "docs.stripe.com/keys"},
	{name: "stripe-webhook-secret", shape: `whsec_[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "whsec_{32}", miss: "whsec_verification", from: "docs.stripe.com/webhooks"},
	{name: "sendgrid-key", shape: `SG\.[\w-]{20,24}\.[\w-]{39,50}`, hit: "SG.{22}.{43}", miss: "SG.{22}", from: "shape seen in gitleaks and trufflehog"},
	{name: "twilio-key", shape: `SK[0-9a-f]{32}`, hit: "SK{x32}", miss: "SK{x8}", from: "twilio.com/docs: what is a SID"},
	{name: "shopify-token", shape: `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`, hit: "shpat_{x32}", miss: "shpat_{x8}", from: "shopify.dev: access tokens"},
	{name: "notion-token", shape: `ntn_[0-9]{11}[A-Za-z0-9]{35}`, hit: "ntn_{d11}{35}", miss: "ntn_{d11}", from: "developers.notion.com: changelog of token formats"},
	{name: "notion-token", shape: `secret_[A-Za-z0-9]{43}`, is: mixedCheck(3), hit: "secret_{43}", miss: "secret_{9}", from: "developers.notion.com: changelog of token formats"},
	{name: "figma-token", shape: `fig[doupr]r?_[\w-]{40}`, is: mixedCheck(3), hit: "figd_{40}", miss: "figd_{9}", from: "shape seen in gitleaks"},
	{name: "figma-token", shape: `figp_[\w-]{40}`, is: mixedCheck(3), hit: "figp_{40}", miss: "figp_{9}", from: "shape seen in trufflehog"},
	{name: "atlassian-token", shape: `ATATT3[\w=-]{60,}`, hit: "ATATT3{186}", miss: "ATATT3{9}", from: "shape seen in gitleaks"},
	{name: "atlassian-token", shape: `ATCTT3xFfG[\w=-]{60,}`, hit: "ATCTT3xFfG{171}", miss: "ATCTT3xFfG", from: "shape seen in trufflehog"},
	{name: "airtable-token", shape: `pat[A-Za-z0-9]{14}\.[0-9a-f]{64}`, hit: "pat{14}.{x64}", miss: "pat{14}.txt", from: "shape seen in trufflehog"},
	{name: "1password-token", shape: `ops_eyJ[\w+/=-]{250,}`, hit: "ops_eyJ{260}", miss: "ops_eyJ{9}", from: "developer.1password.com: service accounts"},
	{name: "age-key", shape: `AGE-SECRET-KEY-1[A-Z0-9]{58}`, hit: "AGE-SECRET-KEY-1{u58}", miss: "AGE-SECRET-KEY-1", from: "age-encryption.org: specification"},
	{name: "resend-key", shape: `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`, is: mixedCheck(3), ends: noName, hit: "re_{8}_{24}", miss: "re_compiled_expressionmatchesallofit", from: "resend.com/docs: API keys"},
	{name: "brevo-key", shape: `x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}`, hit: "xkeysib-{x64}-{16}", miss: "xkeysib-{x16}", from: "developers.brevo.com: API keys"},
	{name: "square-token", shape: `EAAA[\w-]{56,}`, is: isShuffledAfter(4), hit: "EAAA{60}", miss: "EAAA{12}", from: "shape seen in gitleaks"},
	{name: "square-token", shape: `sq0[a-z]{3}-[\w-]{22,43}`, is: isVaried, hit: "sq0atp-{22}", miss: "sq0atp-{8}", from: "shape seen in gitleaks"},
	{name: "facebook-token", shape: `EAA[A-Za-z0-9]{80,}`, is: isShuffledAfter(8), hit: "EAAC{120}", miss: "EAAC{12}", from: "shape seen in gitleaks"},
	{name: "hubspot-token", alone: true, shape: `pat-(?:na|eu|ap)[0-9]-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}`, hit: "pat-na1-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "pat-na1-{x8}", from: "developers.hubspot.com: private apps"},
	{name: "mailgun-key", alone: true, shape: `key-[0-9a-f]{32}`, is: mixedCheck(2), ends: noName, hit: "key-{x32}", miss: "key-{x8}", from: "documentation.mailgun.com: API keys"},
	{name: "mailgun-key", shape: `[0-9a-f][0-9a-f][0-9a-f][0-9a-f]{29}-[0-9a-f]{8}-[0-9a-f]{8}`, ends: noName, hit: "{x32}-{x8}-{x8}", miss: "{x32}-{x8}", from: "shape seen in gitleaks"},
	{name: "mailchimp-key", shape: `[0-9a-f][0-9a-f][0-9a-f][0-9a-f]{29}-us[0-9]{1,2}`, ends: noName, hit: "{x32}-us12", miss: "{x32}-usa", from: "mailchimp.com/developer: API keys"},
	{name: "mapbox-token", shape: `sk\.eyJ[\w-]{20,}\.[\w-]{20,}`, hit: "sk.eyJ{80}.{22}", miss: "sk.eyJ{8}", from: "docs.mapbox.com: access tokens"},
	{name: "dropbox-token", shape: `sl\.(?:u\.)?[\w=-]{60,}`, is: isShuffled, hit: "sl.{130}", miss: "sl.{12}", from: "shape seen in gitleaks"},
	{name: "discord-token", shape: `[MNO][DTjz][AEIMQUYcgk][0-9wxyz][\w-]{19,24}\.[\w-]{6}\.[\w-]{27,40}`, hit: "MTEx{22}.{6}.{38}", miss: "MTEx{22}.{6}", from: "discord.com/developers: authentication"},
	{name: "newrelic-key", shape: `NR(?:AK|II|RA)-[A-Za-z0-9-]{27,32}`, is: mixedCheck(3), hit: "NRAK-{u27}", miss: "NRAK-{u7}", from: "docs.newrelic.com: API keys"},
	{name: "newrelic-key", shape: `NRJS-[0-9a-f]{19}`, hit: "NRJS-{x19}", miss: "NRJS-{x6}", from: "docs.newrelic.com: API keys"},
	{name: "dynatrace-token", shape: `dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}`, hit: "dt0c01.{u24}.{u64}", miss: "dt0c01.{u24}", from: "docs.dynatrace.com: token format"},
	{name: "shippo-token", alone: true, shape: `shippo_(?:live|test)_[0-9a-fA-F]{40}`, hit: "shippo_live_{x40}", miss: "shippo_live_{x8}", from: "docs.goshippo.com: authentication"},
	{name: "easypost-key", shape: `EZ[AT]K[A-Za-z0-9]{54}`, hit: "EZAK{54}", miss: "EZAK{8}", from: "docs.easypost.com: authentication"},
	{name: "duffel-token", alone: true, shape: `duffel_(?:live|test)_[\w=-]{43}`, hit: "duffel_live_{43}", miss: "duffel_live_mode", from: "duffel.com/docs: access tokens"},
	{name: "flutterwave-key", shape: `FLWSECK(?:_TEST)?-[0-9a-z]{12,}(?:-X)?`, hit: "FLWSECK-{x32}-X", miss: "FLWSECK-{x6}", from: "developer.flutterwave.com: API keys"},
	{name: "razorpay-key", shape: `rzp_(?:live|test)_[A-Za-z0-9]{14}`, hit: "rzp_live_{14}", miss: "rzp_live_mode", from: "razorpay.com/docs: API keys"},
	{name: "plaid-token", alone: true, shape: `access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, hit: "access-production-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "access-production-{x8}", from: "plaid.com/docs: access tokens"},
	{name: "braintree-token", alone: true, shape: `access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`, hit: "access_token$production${x16}${x32}", miss: "access_token$production${x16}", from: "developer.paypal.com/braintree: access tokens"},
	{name: "contentful-token", shape: `CFPAT-[\w-]{43}`, hit: "CFPAT-{43}", miss: "CFPAT-{9}", from: "contentful.com/developers: management tokens"},
	{name: "clickup-token", shape: `pk_[0-9]{4,12}_[A-Z0-9]{32}`, hit: "pk_{d8}_{u32}", miss: "pk_{d8}", from: "developer.clickup.com: personal tokens"},
	{name: "asana-token", shape: `[12]/[0-9]{13,17}(?:/[0-9]{13,17})?:[0-9a-f]{32}`, hit: "1/{d16}:{x32}", miss: "1/{d16}", from: "shape seen in keys"},
	{name: "trello-token", shape: `ATTA[0-9A-Za-z]{60,}`, is: mixedCheck(3), hit: "ATTA{x64}", miss: "ATTA{x8}", from: "shape seen in keys"},
	{name: "typeform-token", shape: `tfp_[\w.-]{40,}`, is: isVaried, hit: "tfp_{44}_{14}", miss: "tfp_{12}", from: "shape seen in gitleaks"},
	{name: "readme-token", shape: `rdme_[a-z0-9]{60,}`, hit: "rdme_{x70}", miss: "rdme_{x9}", from: "shape seen in gitleaks"},
	{name: "1password-key", shape: `A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`, hit: "A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}", miss: "A3-{u6}-{u6}", from: "support.1password.com: Secret Key"},
	{name: "harness-token", shape: `[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`, hit: "pat.{22}.{24}.{20}", miss: "pat.{22}.{24}", from: "shape seen in gitleaks"},
	{name: "twilio-key", shape: `SK[0-9A-F]{32}`, ends: noName, hit: "SK{X32}", miss: "SK{X8}", from: "twilio.com/docs: what is a SID"},
	{name: "frameio-token", shape: `fio-u-[\w=-]{64}`, hit: "fio-u-{64}", miss: "fio-u-{8}", from: "shape seen in gitleaks"},
	{name: "intra42-secret", shape: `s-s4t2(?:ud|af)-[0-9a-f]{64}`, hit: "s-s4t2ud-{x64}", miss: "s-s4t2ud-{x8}", from: "shape seen in gitleaks"},
	{name: "lob-key", alone: true, shape: `(?:live|test)_[0-9a-f]{35}`, is: mixedCheck(2), ends: noName, hit: "live_{x35}", miss: "test_{x8}", from: "shape seen in gitleaks"},
	{name: "gocardless-token", alone: true, shape: `live_[\w=-]{40}`, is: isShuffled, ends: noName, hit: "live_{40}", miss: "live_reload_of_the_page_and_of_all_its_parts", from: "shape seen in gitleaks"},
	{name: "settlemint-token", shape: `sm_[aps]at_[A-Za-z0-9]{16}`, hit: "sm_pat_{16}", miss: "sm_pat_{4}", from: "shape seen in gitleaks"},
	{name: "dnkey", alone: true, shape: `dnkey-[\w=-]{26}-[\w=-]{52}`, hit: "dnkey-{26}-{52}", miss: "dnkey-{6}", from: "shape seen in gitleaks"},
	{name: "grafana-token", shape: `eyJrIjoi[A-Za-z0-9]{60,}={0,3}`, hit: "eyJrIjoi{90}", miss: "eyJrIjoi{9}", from: "shape seen in gitleaks"},

	// Formats that many programs use.
	{name: "jwt", shape: `eyJ[\w-]{8,}\.eyJ[\w.-]{2,}`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{30}.{43}", miss: "eyJhbGciOiJIUzI1NiJ9.and.more", from: "RFC 7519"},
	{name: "jwe", shape: `eyJ[\w-]{12,}\.\.[\w-]{10,}\.[\w.-]{20,}`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJkaXIi{20}..{16}.{80}.{22}", miss: "eyJhbGciOiJkaXIi..and.more", from: "RFC 7516"},
	{name: "jwe", shape: `eyJ[\w-]{12,}\.[\w-]{40,}\.[\w-]{10,}\.[\w.-]{20,}`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJSU0Et{20}.{120}.{16}.{80}.{22}", miss: "eyJhbGciOiJkaXIi.and.more.than", from: "RFC 7516"},
	{name: "jwt-in-base64", shape: `ZXlK[A-Za-z0-9+/_-]{60,}={0,2}`, hit: "ZXlKaGJHY2lPaU{120}", miss: "ZXlKaGJHY2lPaU", from: "RFC 7519, in base64"},
	{name: "paseto", shape: `v[1-4]\.(?:local|public)\.[\w.-]{40,}`, fit: lenWithoutFullStop, hit: "v4.local.{100}", miss: "v4.local.{12}", from: "github.com/paseto-standard: specification"},
	{name: "macaroon", shape: `MDAx[MNOYZ][0-9A-Za-z]xvY2F0aW9u[\w+/=-]{40,}`, hit: "MDAxY2xvY2F0aW9u{120}", miss: "MDAx{12}", from: "shape seen in keys"},
	{name: "bcrypt", shape: `\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}`, hit: "$2b$12${53}", miss: "$2b$12${12}", from: "man 5 crypt"},
	{name: "crypt", shape: `\$[56]\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}`, hit: "$6${16}${86}", miss: "$6${16}", from: "man 5 crypt"},
	{name: "crypt", shape: `\$(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}`, hit: "$apr1${8}${22}", miss: "$apr1${8}", from: "man 5 crypt"},
	{name: "crypt", shape: `\$y\$[./A-Za-z0-9]{2,6}\$[./A-Za-z0-9]{8,86}\$[./A-Za-z0-9]{43}`, hit: "$y$j9T${22}${43}", miss: "$y$j9T${8}", from: "man 5 crypt"},
	{name: "argon2", shape: `\$argon2(?:id|i|d)\$v=[0-9]{1,3}\$[a-z0-9=,]{5,40}\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{16,}`, hit: "$argon2id$v=19$m=65536,t=3,p=4${22}${43}", miss: "$argon2id$v=19$m=65536", from: "github.com/P-H-C: PHC string format"},
	{name: "pbkdf2", alone: true, shape: `pbkdf2_sha(?:256|512)\$[0-9]{1,9}\$[A-Za-z0-9+/=.]{4,64}\$[A-Za-z0-9+/=]{24,}`, hit: "pbkdf2_sha256$600000${22}${43}=", miss: "pbkdf2_sha256$600000${9}", from: "docs.djangoproject.com: passwords"},
	{name: "scrypt", shape: `(?:scrypt:|\$scrypt\$)[0-9a-z:=,]{5,40}\$[A-Za-z0-9+/=.]{4,64}\$[A-Za-z0-9+/=]{24,}`, hit: "scrypt:32768:8:1${16}${x128}", miss: "scrypt:32768:8:1", from: "werkzeug.palletsprojects.com: security"},
	{name: "private-key", shape: `LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURSB|BQUklWQVRFIE|BFQyBQUklWQVRFIE|BPUEVOU1NIIFBSSVZBVEUg|BFTkNSWVBURUQgUFJJVkFURSB)[A-Za-z0-9+/=]{40,}`, hit: "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t{200}", miss: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{200}", from: "RFC 7468, in base64"},
}

// rule describes one kind of secret: its shape, and the text required before it.
type rule struct {
	name  string                   // name of this kind of secret in the replacement
	after string                   // the text required before the secret, which is not replaced; "" if the shape suffices
	shape string                   // a regular expression; see parseShape
	fit   func(text []byte) int    // returns the length of the part to check, or 0 for none; if nil, the complete text is checked
	is    secretCheck              // reports whether that part is a secret; if nil, it always is
	alone bool                     // match only at the beginning of a word, because the ends of some words look like the beginning of the secret
	keep  bool                     // don't replace quotes, or the character after a backslash
	where func(before []byte) bool // reports whether the text before the secret is right (it ends with after); if nil, it always is

	// hit is a text that the rule finds, and miss is a similar text that it doesn't find. In both, {n} stands for n
	// random letters and digits, {xn} for hexadecimal digits, {un} for upper-case letters and digits, and {dn} for
	// digits. So this file contains no real key, and no text that a scanner mistakes for one. from is the source of
	// the rule: a standard, a vendor's page that shows the shape, or a note about where else the shape was seen.
	hit, miss, from string

	expects expectationKind // form of the value that is expected after the text in the field after

	parts []shapePart     // the parsed shape
	heads []string        // possible beginnings of the shape, up to four characters; empty for a digest
	ends  func(byte) bool // reports whether a character may follow; if nil, any character may
}

// secretCheck reports whether a string with a rule's shape is a secret.
type secretCheck func(text []byte) bool

// compileRules returns rules that are ready for use, one for each alternative of a shape.
func compileRules(rules []*rule) (list []*rule) {
	for _, r := range rules {
		for _, shape := range expandShape(r.shape) {
			one := *r
			one.shape, one.parts = shape, parseShape(shape)
			if !strings.HasPrefix(shape, digestHead) {
				one.heads = firstCharacters(one.parts, 4)
			}
			list = append(list, &one)
		}
	}
	return list
}

// canGlue reports whether the rule also finds secrets directly after a letter or a digit. It does if a secret begins
// with characters that no other word is likely to contain.
func (r *rule) canGlue() bool {
	sign := strings.IndexAny(r.shape, "-_")
	return len(r.heads[0]) == 4 && !r.alone && sign > 0 && sign < strings.IndexByte(r.shape+"[", '[')
}

// endsBefore reports whether c may follow the secret.
func (r *rule) endsBefore(c byte) bool { return r.ends == nil || r.ends(c) }

// noName excludes characters that continue an identifier. noCall also excludes characters that would make the
// identifier a call or the beginning of a field access.
func noName(c byte) bool { return !alnum[c] && c != '_' }
func noCall(c byte) bool { return noName(c) && c != '(' && c != '.' && c != '[' }

// expandShape returns all variants of a shape that has groups such as (?:a|b) or (?:a)?.
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

const (
	bearing = `[\w.~+/=-]`                                        // a token in a header
	visible = "[^\\x00-\\x20\"'`\\\\<>[\\](){}&;,|$^\\x7f-\\xff]" // a value in a line of text
)

// word, pgpassField and sqlText are shapes of values on a command line, in a PostgreSQL password file and in
// SQL.
const (
	word        = "[^\\x00-\\x20\"'`\\\\<>\\x7f-\\xff]"
	pgpassField = "[^:\\x00-\\x20\"'`\\\\]{0,62}"
	sqlText     = "[^\\x00-\\x1f\"'\\\\\\x7f]{8,}"
)

// contexts are the secrets that are recognised by the text before them. That text is public, so it is neither
// replaced nor held back.
var contexts = []*rule{
	{name: "bearer", after: "Bearer ", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Bearer  {40}", miss: "Bearer token-based-authentication", from: "RFC 6750"},
	{name: "bearer", after: "bearer ", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "bearer {40}", miss: "bearer of-bad-news-and-worse", from: "RFC 6750"},
	{name: "bearer", after: "BEARER ", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "BEARER {40}", miss: "BEARER OF-BAD-NEWS-AND-WORSE", from: "RFC 6750"},
	{name: "bearer", after: "Bearer\t", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Bearer\t{40}", miss: "Bearer\ttoken-based-authentication", from: "RFC 6750"},
	{name: "bearer", after: "bearer\t", expects: looseValue, shape: bearing + `{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "bearer\t{40}", miss: "bearer\tof-bad-news-and-worse", from: "RFC 6750"},
	{name: "basic", after: "Basic ", shape: `[A-Za-z0-9+/]{8,}={0,2}`, is: isBasicAuth, hit: "Authorization: Basic dXNlcjpodW50ZXIyaHVudGVyMg==", miss: "Basic authentication", from: "RFC 7617"},
	{name: "basic", after: "basic ", shape: `[A-Za-z0-9+/]{8,}={0,2}`, is: isBasicAuth, hit: "authorization: basic dXNlcjpodW50ZXIyaHVudGVyMg==", miss: "basic principles12", from: "RFC 7617"},
	{name: "token", after: "Authorization: token ", shape: `[\w.-]{16,}`, fit: lenWithoutFullStop, is: maybeCredential, hit: "Authorization: token {40}", miss: "Authorization: token required-for-everybody", from: "docs.github.com: REST API authentication"},
	{name: "userinfo", after: "://", shape: "[^\\x00-\\x20\"'`\\\\<>[\\]/?#@:\\x7f-\\xff]*:[^\\x00-\\x20\"'`\\\\<>[\\]/?#\\x7f-\\xff]+", fit: userinfoLen, hit: "postgres://app:{16}@db:5432/x", miss: "https://example.com:8080/a@b:c", from: "RFC 3986"},
	{name: "telegram-token", after: ":", shape: `A[\w-]{34}`, where: botID, is: mixedCheck(3), hit: "bot{d9}:A{34}", miss: "line:A{34}", from: "core.telegram.org/bots/api"},
	{name: "zai-key", after: ".", shape: `[A-Za-z0-9]{16}`, where: keyID, is: mixedCheck(2), hit: "{x32}.{16}", miss: "{x12}.{16}", from: "shape seen in keys"},
	{name: "azure-client-secret", after: "Q~", shape: `[\w~.-]{31,34}`, is: mixedCheck(3), hit: "{3}8Q~{34}", miss: "8Q~short", from: "shape seen in gitleaks"},
	{name: "slack-webhook", after: "hooks.slack.com/services/", shape: `[A-Za-z0-9+/]{30,60}`, hit: "https://hooks.slack.com/services/T{u8}/B{u8}/{24}", miss: "https://hooks.slack.com/services/new", from: "docs.slack.dev: incoming webhooks"},
	{name: "slack-webhook", after: "hooks.slack.com/workflows/", shape: `[A-Za-z0-9+/]{30,90}`, hit: "https://hooks.slack.com/workflows/T{u8}/A{u8}/{d18}/{24}", miss: "https://hooks.slack.com/workflows/a", from: "docs.slack.dev: incoming webhooks"},
	{name: "slack-webhook", after: "hooks.slack.com/triggers/", shape: `[A-Za-z0-9+/]{30,90}`, hit: "https://hooks.slack.com/triggers/T{u8}/{d13}/{32}", miss: "https://hooks.slack.com/triggers/a", from: "docs.slack.dev: incoming webhooks"},
	{name: "x-amz-signature", after: "X-Amz-Signature=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Signature={x64}", miss: "X-Amz-Signature=x", from: "docs.aws.amazon.com: signed requests"},
	{name: "x-amz-credential", after: "X-Amz-Credential=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Credential=GOOG1E{u30}/20260101/eu-west-1/s3/aws4_request", miss: "X-Amz-Credential=x", from: "docs.aws.amazon.com: signed requests"},
	{name: "x-amz-security-token", after: "X-Amz-Security-Token=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Security-Token={120}", miss: "X-Amz-Security-Token=x", from: "docs.aws.amazon.com: signed requests"},
	{name: "password", after: " password ", shape: visible + `{8,}`, where: isNetrcLine, fit: lenWithoutFullStop, is: looksRandom, hit: "machine h.example login u password {16}", miss: "the password must-be-at-least-8-characters-long", from: "gnu.org: .netrc"},
	{name: "userinfo", after: " -u ", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl -u \"admin:{16}\" https://h.example", miss: "sort -u names:of-all-the-things", from: "curl.se: man page"},
	{name: "userinfo", after: " --user ", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl --user 'admin:{16}' https://h.example", miss: "--user 1000:1000", from: "curl.se: man page"},
	{name: "userinfo", after: " --user=", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl --user=admin:{16} https://h.example", miss: "--user=1000:1000", from: "curl.se: man page"},
	{name: "userinfo", after: " -U ", expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "curl -U proxy:{16} https://h.example", miss: "psql -U postgres:of-all", from: "curl.se: man page"},
	{name: "userinfo", after: " -a ", where: commandOf("http "), expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "http -a admin:{16} h.example", miss: "ls -a names:of-all-the-things", from: "httpie.io/docs: authentication"},
	{name: "cookie", after: " -b ", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl -b sid={32} https://h.example", miss: "git checkout -b name=of-the-branch", from: "curl.se: man page"},
	{name: "cookie", after: " --cookie ", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl --cookie 'sid={32}' https://h.example", miss: "--cookie name=of-the-cookie", from: "shape seen in command lines"},
	{name: "cookie", after: " --cookie=", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl --cookie=sid={32} https://h.example", miss: "--cookie=name=of-the-cookie", from: "shape seen in command lines"},
	{name: "password", after: " -p", expects: looseQuote, shape: word + `{6,}`, where: commandOf("mysql", "mariadb"), is: looksPassword, hit: "mysql -u root -p{16} shop", miss: "mysql -u root -pinternationalization", from: "dev.mysql.com: options"},
	{name: "password", after: " -a ", expects: looseValue, shape: word + `{8,}`, where: commandOf("redis-cli"), is: looksPassword, hit: "redis-cli -h h.example -a {24} ping", miss: "redis-cli -a internationalization", from: "redis.io/docs: redis-cli"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("sshpass"), is: looksPassword, hit: "sshpass -p '{16}' ssh u@h.example", miss: "sshpass -p internationalization ssh u@h.example", from: "man sshpass"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("login"), is: looksPassword, hit: "docker login -u u -p {24} r.example", miss: "docker login -u u -p internationalization", from: "docs.docker.com: docker login"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("mongo"), is: looksPassword, hit: "mongosh -u u -p {24} db", miss: "mongosh -u u -p internationalization", from: "mongodb.com/docs: mongosh"},
	{name: "password", after: " -w ", expects: looseValue, shape: word + `{8,}`, where: commandOf("ldap"), is: looksPassword, hit: "ldapsearch -D cn=a -w {16} -b dc=b", miss: "ldapsearch -D cn=a -w internationalization", from: "man ldapsearch"},
	{name: "password", after: " -P ", expects: looseValue, shape: word + `{8,}`, where: commandOf("sqlcmd"), is: looksPassword, hit: "sqlcmd -S h -U sa -P {16}", miss: "sqlcmd -S h -U sa -P internationalization", from: "learn.microsoft.com: sqlcmd"},
	{name: "password", after: "PASSWORD '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u PASSWORD '{16}';", miss: "CREATE USER u PASSWORD 'internationalization'", from: "postgresql.org/docs: ALTER ROLE"},
	{name: "password", after: "password '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u password '{16}';", miss: "CREATE USER u password 'internationalization'", from: "postgresql.org/docs: ALTER ROLE"},
	{name: "password", after: "Password '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u Password '{16}';", miss: "CREATE USER u Password 'internationalization'", from: "postgresql.org/docs: ALTER ROLE"},
	{name: "password", after: "IDENTIFIED BY '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u IDENTIFIED BY '{16}';", miss: "CREATE USER u IDENTIFIED BY 'internationalization'", from: "dev.mysql.com: ALTER USER"},
	{name: "password", after: "identified by '", shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u identified by '{16}';", miss: "CREATE USER u identified by 'internationalization'", from: "dev.mysql.com: ALTER USER"},
	{name: "password", after: ":", where: isPgpassHost, shape: `[A-Za-z_*]` + pgpassField + `:[A-Za-z_]` + pgpassField + ":" + word + `{8,}`, is: isPgpassRest, hit: "db.example:5432:shop:app:{16}", miss: "db.example:5432:shop:app:internationalization", from: "postgresql.org/docs: password file"},
	{name: "ldap-hash", after: "{SSHA}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA}{38}==", miss: "{SSHA}{8}", from: "openldap.org: password storage"},
	{name: "ldap-hash", after: "{SSHA256}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA256}{38}==", miss: "{SSHA256}{8}", from: "openldap.org: password storage"},
	{name: "ldap-hash", after: "{SSHA512}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA512}{38}==", miss: "{SSHA512}{8}", from: "openldap.org: password storage"},
	{name: "terraform-token", after: ".atlasv1.", shape: `[\w=-]{60,70}`, is: mixedCheck(3), hit: "{14}.atlasv1.{67}", miss: "{14}.atlasv1.{9}", from: "developer.hashicorp.com/terraform: API tokens"},
	{name: "discord-webhook", after: "discord.com/api/webhooks/", shape: `[0-9]{17,20}/[\w-]{60,}`, is: isVaried, hit: "https://discord.com/api/webhooks/{d18}/{68}", miss: "https://discord.com/api/webhooks/{d18}/slack", from: "discord.com/developers: webhooks"},
	{name: "discord-webhook", after: "discordapp.com/api/webhooks/", shape: `[0-9]{17,20}/[\w-]{60,}`, is: isVaried, hit: "https://discordapp.com/api/webhooks/{d18}/{68}", miss: "https://discordapp.com/api/webhooks/{d18}/slack", from: "discord.com/developers: webhooks"},
	{name: "teams-webhook", after: "webhook.office.com/webhookb2/", shape: `[\w@/-]{60,}`, is: isVaried, hit: "https://a.webhook.office.com/webhookb2/{x8}-{x4}-{x4}-{x4}-{x12}@{x8}-{x4}-{x4}-{x4}-{x12}/IncomingWebhook/{x32}/{x36}", miss: "https://a.webhook.office.com/webhookb2/new", from: "learn.microsoft.com: incoming webhooks"},
	{name: "signature", after: "Signature=", shape: `[0-9a-f]{64}`, is: isVaried, hit: "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={x64}", miss: "Signature={x12}", from: "docs.aws.amazon.com: signed requests"},
	{name: "token", after: " --token ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --token {24}", miss: "login --token from-the-environment", from: "shape seen in command lines"},
	{name: "password", after: " --password ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --password {16}", miss: "login --password from-the-environment", from: "shape seen in command lines"},
	{name: "api_key", after: " --api-key ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --api-key {24}", miss: "login --api-key from-the-environment", from: "shape seen in command lines"},
}

// botID requires a bot's number before the colon.
func botID(tail []byte) bool {
	n := countTrailing(tail[:len(tail)-1], classOf("", "09"))
	return n >= 5 && n <= 16
}

// keyID requires exactly 32 lower-case hexadecimal digits before the full stop.
func keyID(tail []byte) bool {
	return countTrailing(tail[:len(tail)-1], classOf("", "09", "af")) == 32 && countTrailing(tail[:len(tail)-1], alnum) == 32
}

// isNetrcLine reports whether tail looks like a line of a .netrc file.
func isNetrcLine(tail []byte) bool {
	return bytes.Contains(tail, []byte("login ")) || bytes.Contains(tail, []byte("machine "))
}

// countTrailing returns the number of characters of a class at the end of a text.
func countTrailing(text []byte, class *[256]bool) (n int) {
	for n < len(text) && class[text[len(text)-1-n]] {
		n++
	}
	return n
}

// commandOf returns a function that checks the text before a secret. The text must have one of the programs on its
// last line, and end with an option such as -p.
func commandOf(programs ...string) func(tail []byte) bool {
	return func(tail []byte) bool {
		line := tail[bytes.LastIndexByte(tail, '\n')+1:]
		return slices.ContainsFunc(programs, func(p string) bool { return bytes.Contains(line, []byte(p)) }) &&
			bytes.IndexByte(line[:len(line)-2], ' ') >= 0 && bytes.HasSuffix(bytes.TrimRight(line, "apPw "), []byte(" -"))
	}
}

// isPgpassHost reports whether tail is host:port: at the beginning of a line.
func isPgpassHost(tail []byte) bool {
	port := countTrailing(tail[:len(tail)-1], digits)
	if port < 4 || port > 5 {
		return false
	}
	host := tail[:len(tail)-1-port]
	if len(host) < 2 || host[len(host)-1] != ':' {
		return false
	}
	n := countTrailing(host[:len(host)-1], inHost)
	before := host[:len(host)-1-n]
	return countTrailing(host[:len(host)-1], lowerHex) < n && (len(before) == 0 || strings.IndexByte("\n\"'`", before[len(before)-1]) >= 0)
}

var inHost = classOf("*._-", "az", "AZ", "09")

// isPgpassRest checks the password that follows database:user: in a password file.
func isPgpassRest(text []byte) bool {
	fields := bytes.SplitN(text, []byte(":"), 3)
	return isPasswordOrRandom(fields[2])
}

var digits = classOf("", "09")

func isQuote(c byte) bool { return c == '\'' }

// afterEquals requires a random value after a name and an equals sign.
func afterEquals(text []byte) bool {
	_, value, ok := bytes.Cut(text, []byte("="))
	return ok && looksRandom(value)
}
