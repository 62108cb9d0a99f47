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
	{name: "fireworks-key", shape: `fw_[A-Za-z0-9]{20,40}`, is: isShuffled, ends: noName, hit: "fw_{24}", miss: "fw_firmwareupdaterequested", from: "shape seen in keys"},
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
	{name: "helicone-key", alone: true, shape: `sk-helicone-[\w-]{20,}`, is: isVaried, hit: "sk-helicone-{7}-{7}-{7}-{7}", miss: "sk-helicone-dashboard-sidebar-item", from: "docs.helicone.ai: authentication"},
	{name: "together-key", shape: `tgp_v1_[\w-]{40,}`, hit: "tgp_v1_{43}", miss: "tgp_v1_models", from: "shape seen in keys"},
	{name: "jina-key", alone: true, shape: `jina_[\w-]{40,}`, is: mixedCheck(3), hit: "jina_{60}", miss: "jina_embeddings_v3", from: "shape seen in keys"},
	{name: "e2b-key", shape: `e2b_[0-9a-f]{40}`, hit: "e2b_{x40}", miss: "e2b_sandbox", from: "e2b.dev/docs: API key"},
	{name: "firecrawl-key", shape: `fc-[0-9a-f]{32}`, hit: "fc-{x32}", miss: "fc-{x8}", from: "docs.firecrawl.dev: API key"},
	{name: "voyage-key", alone: true, shape: `pa-[\w-]{40,48}`, is: isShuffled, ends: noData, hit: "pa-{43}", miss: "pa-rent-of-the-node-in-the-tree-of-all-nodes", from: "shape seen in keys"},
	{name: "browserbase-key", shape: `bb_(?:live|test)_[\w-]{20,}`, is: isVaried, hit: "bb_live_{27}", miss: "bb_live_sessions_of_the_team", from: "shape seen in keys"},
	{name: "runpod-key", shape: `rpa_[A-Z0-9a-z]{40,}`, is: mixedCheck(3), hit: "rpa_{u46}", miss: "rpa_workflow", from: "shape seen in keys"},
	{name: "modal-key", shape: `a[ks]-[A-Za-z0-9]{22}`, is: isShuffled, ends: noName, hit: "ak-{22}", miss: "as-{6}", from: "shape seen in keys"},
	{name: "apify-token", alone: true, shape: `apify_api_[A-Za-z0-9]{30,}`, hit: "apify_api_{36}", miss: "apify_api_client", from: "docs.apify.com: API tokens"},
	{name: "brave-key", alone: true, shape: `BSA[\w-]{24,40}`, is: isShuffled, ends: noData, hit: "BSA{28}", miss: "BSA-accreditation-of-labs-2", from: "shape seen in keys"},
	{name: "vercel-token", shape: `vc[piark]_[A-Za-z0-9]{24,}`, is: mixedCheck(3), hit: "vcp_{56}", miss: "vcp_configuration", from: "shape seen in keys"},
	{name: "huggingface-token", shape: `hf_oauth_[\w.-]{40,}`, is: mixedCheck(3), hit: "hf_oauth_{60}", miss: "hf_oauth_redirect", from: "shape seen in keys"},

	{name: "openai-key", alone: true, shape: `sk-[\w-]{40,}`, is: hasOpenAIMark, hit: "sk-my-service-{20}T3BlbkFJ{20}", miss: "sk-folding-cube-of-the-page-with-many-colours-{6}", from: "shape seen in trufflehog"},
	{name: "openai-key", alone: true, shape: `ek_[A-Za-z0-9]{32,}`, is: mixedCheck(3), ends: noName, hit: "ek_{x32}", miss: "ek_{6}", from: "platform.openai.com: ephemeral keys"},
	{name: "kimi-key", alone: true, shape: `sk-kimi-[A-Za-z0-9]{32,}`, hit: "sk-kimi-{64}", miss: "sk-kimi-{6}", from: "shape seen in keys"},
	{name: "letta-key", alone: true, shape: `sk-let-[A-Za-z0-9+/]{40,}={0,2}`, hit: "sk-let-{100}==", miss: "sk-let-{6}", from: "shape seen in keys"},
	{name: "api-key", alone: true, shape: `sk-[a-z]{48}`, is: maybeCredential, ends: noName, hit: "sk-{l48}", miss: "sk-{6}", from: "cloud.siliconflow.cn: API keys"},
	{name: "cartesia-key", alone: true, shape: `sk_car_[A-Za-z0-9]{20,}`, hit: "sk_car_{22}", miss: "sk_car_{6}", from: "shape seen in keys"},
	{name: "e2b-key", alone: true, shape: `sk_e2b_[0-9a-f]{40}`, hit: "sk_e2b_{x40}", miss: "sk_e2b_{6}", from: "e2b.dev/docs: access tokens"},
	{name: "fireworks-key", alone: true, shape: `fpk_[A-Za-z0-9]{20,}`, is: mixedCheck(3), hit: "fpk_{32}", miss: "fpk_{6}", from: "shape seen in keys"},
	{name: "qianfan-key", alone: true, shape: `bce-v3/ALTAK-[A-Za-z0-9]{16,32}/[0-9a-f]{40}`, hit: "bce-v3/ALTAK-{21}/{x40}", miss: "bce-v3/ALTAK-{6}", from: "cloud.baidu.com/doc: Qianfan API keys"},
	{name: "langsmith-key", alone: true, shape: `ls__[0-9a-f]{32}`, hit: "ls__{x32}", miss: "ls__{6}", from: "shape seen in keys"},
	{name: "wandb-key", alone: true, shape: `wandb_v1_\w{60,}`, hit: "wandb_v1_{77}", miss: "wandb_v1_{6}", from: "shape seen in betterleaks"},
	{name: "modal-key", alone: true, shape: `w[ks]-[A-Za-z0-9]{22}`, is: isShuffled, ends: noName, hit: "wk-{22}", miss: "ws-{6}", from: "modal.com/docs: proxy auth tokens"},
	{name: "warp-key", alone: true, shape: `wk-1\.[0-9a-f]{64}`, hit: "wk-1.{x64}", miss: "wk-1.{6}", from: "docs.warp.dev: API keys"},
	{name: "anyscale-key", alone: true, shape: `esecret_[a-z0-9]{24,}`, is: mixedCheck(3), hit: "esecret_{x26}", miss: "esecret_{6}", from: "docs.anyscale.com: credentials"},
	{name: "anyscale-key", alone: true, shape: `aph0_[\w-]{40,}`, is: mixedCheck(3), hit: "aph0_{60}", miss: "aph0_{6}", from: "shape seen in keys"},
	{name: "lambda-key", alone: true, shape: `secret_[a-z0-9-]{1,40}_[0-9a-f]{32}\.[A-Za-z0-9]{32}`, hit: "secret_mykey_{x32}.{32}", miss: "secret_mykey_{6}", from: "docs.lambda.ai: API keys"},
	{name: "voyage-key", alone: true, shape: `al-[\w-]{43}`, is: isShuffled, ends: noData, hit: "al-{43}", miss: "al-{6}", from: "mongodb.com/docs/voyageai: API keys"},
	{name: "mixedbread-key", alone: true, shape: `mxb_[\w-]{32,}`, is: mixedCheck(3), hit: "mxb_{43}", miss: "mxb_{6}", from: "shape seen in keys"},
	{name: "nomic-key", alone: true, shape: `nk-[\w-]{40,48}`, is: isShuffled, ends: noData, hit: "nk-{43}", miss: "nk-{6}", from: "docs.nomic.ai: API keys"},
	{name: "llamacloud-key", alone: true, shape: `llx-[\w-]{40,}`, is: mixedCheck(3), hit: "llx-{48}", miss: "llx-{6}", from: "docs.cloud.llamaindex.ai: API keys"},
	{name: "llama-key", alone: true, shape: `LLM\|[0-9]{10,20}\|[\w-]{20,}`, hit: "LLM|{d16}|{27}", miss: "LLM|{6}", from: "llama.developer.meta.com: API keys"},
	{name: "luma-key", alone: true, shape: `luma-[0-9a-f]{8}-[0-9a-f-]{27,}`, hit: "luma-{x8}-{x4}-{x4}-{x4}-{x12}-{x8}", miss: "luma-{6}", from: "docs.lumalabs.ai: API keys"},
	{name: "api-key", alone: true, shape: `key_[0-9a-f]{28,}`, is: mixedCheck(2.5), ends: noName, hit: "key_{x64}", miss: "key_{6}", from: "docs.cursor.com: API keys"},
	{name: "cursor-key", alone: true, shape: `crsr_[0-9a-f]{40,}`, hit: "crsr_{x64}", miss: "crsr_{6}", from: "shape seen in keys"},
	{name: "upstage-key", alone: true, shape: `up_[A-Za-z0-9]{26,40}`, is: isMixedOrShuffled, ends: noName, hit: "up_{29}", miss: "up_{6}", from: "console.upstage.ai: API keys"},
	{name: "friendli-token", alone: true, shape: `flp_[A-Za-z0-9]{40,}`, is: mixedCheck(3), hit: "flp_{46}", miss: "flp_{6}", from: "friendli.ai/docs: tokens"},
	{name: "predibase-token", alone: true, shape: `pb_[\w-]{22}`, is: isShuffled, ends: noName, hit: "pb_{22}", miss: "pb_message_of_the_kind_12", from: "docs.predibase.com: API tokens"},
	{name: "you-key", alone: true, shape: `ydc-sk-[0-9a-f]{16}-[A-Za-z0-9]{32}-[0-9a-f<>_-]{8,}`, hit: "ydc-sk-{x16}-{32}-{x8}", miss: "ydc-sk-{6}", from: "shape seen in keys"},
	{name: "context7-key", alone: true, shape: `ctx7sk-[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "ctx7sk-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "ctx7sk-{6}", from: "context7.com/docs: API keys"},
	{name: "api-key", alone: true, shape: `ak_[0-9a-f]{32,}`, is: mixedCheck(3), ends: noName, hit: "ak_{x32}", miss: "ak_{6}", from: "clerk.com/docs: API keys"},
	{name: "composio-key", alone: true, shape: `(?:ak|uak)_[\w-]{20,40}`, is: isMixedOrShuffled, ends: noData, hit: "ak_{20}", miss: "ak_message_of_the_kind_12", from: "docs.composio.dev: API keys"},
	{name: "mem0-key", alone: true, shape: `m0-[A-Za-z0-9]{36,48}`, is: mixedCheck(3), ends: noData, hit: "m0-{40}", miss: "m0-{6}", from: "docs.mem0.ai: API keys"},
	{name: "arize-key", alone: true, shape: `ak-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-[\w-]{20,}`, hit: "ak-{x8}-{x4}-{x4}-{x4}-{x12}-{32}", miss: "ak-{6}", from: "arize.com/docs: API keys"},
	{name: "promptlayer-key", alone: true, shape: `pl_[0-9a-f]{32}`, is: mixedCheck(3), ends: noName, hit: "pl_{x32}", miss: "pl_{6}", from: "docs.promptlayer.com: API keys"},
	{name: "traceloop-key", alone: true, shape: `tl_[0-9a-f]{40,}`, is: mixedCheck(3), ends: noName, hit: "tl_{x64}", miss: "tl_{6}", from: "traceloop.com/docs: API keys"},
	{name: "logfire-token", alone: true, shape: `pylf_v[0-9]_[a-z]{2}_[A-Za-z0-9]{30,}`, hit: "pylf_v1_us_{43}", miss: "pylf_v1_us_{6}", from: "pydantic.dev/docs/logfire: tokens"},
	{name: "dify-key", alone: true, shape: `app-[A-Za-z0-9]{24}`, is: isShuffled, ends: noName, hit: "app-{24}", miss: "app-configuration2Overview1", from: "docs.dify.ai: API keys"},
	{name: "n8n-key", alone: true, shape: `n8n_api_[0-9a-f]{40,}`, hit: "n8n_api_{x80}", miss: "n8n_api_{6}", from: "docs.n8n.io: API authentication"},
	{name: "agentmail-key", alone: true, shape: `am_(?:[a-z]{2}_)?[0-9a-f]{40,}`, is: mixedCheck(3), ends: noName, hit: "am_{x64}", miss: "am_{6}", from: "docs.agentmail.to: API keys"},
	{name: "steel-key", alone: true, shape: `ste-[A-Za-z0-9]{50,}`, is: mixedCheck(3), hit: "ste-{65}", miss: "ste-{6}", from: "docs.steel.dev: API keys"},
	{name: "hyperbrowser-key", alone: true, shape: `hb_[0-9a-f]{28,}`, is: mixedCheck(3), ends: noName, hit: "hb_{x28}", miss: "hb_{6}", from: "docs.hyperbrowser.ai: API keys"},
	{name: "browser-use-key", alone: true, shape: `bu_[\w-]{36,48}`, is: isShuffled, ends: noData, hit: "bu_{43}", miss: "bu_{6}", from: "docs.browser-use.com: API keys"},
	{name: "scrapfly-key", alone: true, shape: `scp-(?:live|test)-[0-9a-f]{32}`, hit: "scp-live-{x32}", miss: "scp-live-{6}", from: "scrapfly.io/docs: API keys"},
	{name: "daytona-key", alone: true, shape: `dtn_[0-9a-f]{40,}`, hit: "dtn_{x64}", miss: "dtn_{6}", from: "daytona.io/docs: API keys"},
	{name: "relace-key", alone: true, shape: `rlc-[A-Za-z0-9]{30,}`, is: mixedCheck(3), hit: "rlc-{36}", miss: "rlc-{6}", from: "docs.relace.ai: API keys"},
	{name: "devin-key", alone: true, shape: `apk_(?:user_)?[A-Za-z0-9+/]{60,}={0,2}`, is: isShuffled, hit: "apk_user_{130}==", miss: "apk_user_{6}", from: "shape seen in betterleaks"},
	{name: "devin-key", alone: true, shape: `cog_[a-z2-7]{52}`, hit: "cog_{b52}", miss: "cog_{6}", from: "shape seen in betterleaks"},
	{name: "factory-key", alone: true, shape: `fk-[\w-]{40,120}`, is: isShuffled, ends: noData, hit: "fk-{80}", miss: "fk-{6}", from: "docs.factory.ai: API keys"},
	{name: "amp-token", alone: true, shape: `sgamp_user_\w{20,}`, is: isVaried, hit: "sgamp_user_{26}_{x64}", miss: "sgamp_user_settings_of_the_team", from: "ampcode.com: access tokens"},
	{name: "v0-key", alone: true, shape: `v1:[A-Za-z0-9]{24}:[A-Za-z0-9]{24}`, is: isShuffled, hit: "v1:{24}:{24}", miss: "v1:{6}", from: "vercel.com/docs/v0: API keys"},
	{name: "turbopuffer-key", alone: true, shape: `tpuf_[\w-]{28,}`, is: mixedCheck(3), hit: "tpuf_{32}", miss: "tpuf_{6}", from: "turbopuffer.com/docs: authentication"},
	{name: "chroma-key", alone: true, shape: `ck-[A-Za-z0-9]{40,48}`, is: mixedCheck(3), ends: noData, hit: "ck-{44}", miss: "ck-{6}", from: "docs.trychroma.com: cloud"},
	{name: "braintrust-key", alone: true, shape: `bt-st-[A-Za-z0-9]{40,}`, hit: "bt-st-{48}", miss: "bt-st-{6}", from: "braintrust.dev/docs: service tokens"},
	{name: "supermemory-key", alone: true, shape: `sm_[A-Za-z0-9]{20,}_[A-Za-z0-9]{20,}`, is: isScattered, hit: "sm_{22}_{40}", miss: "sm_{6}", from: "supermemory.ai/docs: API keys"},
	{name: "openpipe-key", alone: true, shape: `opk_[0-9a-f]{36,}`, hit: "opk_{x42}", miss: "opk_{6}", from: "shape seen in keys"},
	{name: "copilot-token", alone: true, shape: `tid=[0-9a-f]{32};exp=[0-9]{10};[\w=;:.-]{20,}`, hit: "tid={x32};exp=1790000000;sku=copilot;8kp=1:{x64}", miss: "tid={x32}", from: "shape seen in traffic"},
	{name: "google-code", alone: true, shape: `4/0A[\w-]{40,}`, is: isShuffled, hit: "4/0A{70}", miss: "4/0A{6}", from: "developers.google.com/identity: OAuth 2.0"},
	{name: "google-key", alone: true, shape: `AAAA[\w-]{7}:APA91b[\w-]{100,}`, hit: "AAAA{7}:APA91b{134}", miss: "AAAA{6}", from: "firebase.google.com/docs: server keys"},
	{name: "google-hmac-id", alone: true, shape: `GOOG(?:1E[A-Z0-9]{57}|[A-Z0-9]{20})`, is: mixedCheck(3), ends: noName, hit: "GOOG1E{u57}", miss: "GOOG1E{6}", from: "cloud.google.com/storage/docs: HMAC keys"},
	{name: "api-key", alone: true, shape: `sk-[\w-]{28,180}`, is: isMixedOrShuffled, ends: noData, hit: "sk-api-{119}", miss: "sk-circle-fade-dot-with-12-parts-and-more", from: "shape seen in keys of MiniMax, Windsurf, DashScope, Spider and Dify"},
	{name: "litellm-key", shape: `sk-[\w-]{22}`, is: isMixedOrShuffled, ends: noData, hit: "sk-{22}", miss: "sk-folding-cube-anim-12", from: "docs.litellm.ai: virtual keys"},

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

	{name: "aws-key-id", shape: `APKA[A-Z0-9]{16,17}`, is: mixedCheck(3), ends: noName, hit: "APKA{u16}", miss: "APKANDMORE", from: "docs.aws.amazon.com/IAM: unique identifiers"},
	{name: "supabase-key", shape: `sb_secret_[\w-]{20,}`, is: isVaried, hit: "sb_secret_{31}", miss: "sb_secret_of_the_whole_project", from: "supabase.com/docs: API keys"},
	{name: "vercel-blob-token", alone: true, shape: `vercel_blob_rw_\w{30,}`, hit: "vercel_blob_rw_{16}_{30}", miss: "vercel_blob_rw_token", from: "vercel.com/docs: Blob tokens"},
	{name: "render-key", shape: `rnd_[A-Za-z0-9]{24,}`, is: isMixedOrShuffled, hit: "rnd_{28}", miss: "rnd_generator", from: "shape seen in keys"},
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

	{name: "aws-session-token", alone: true, shape: `IQoJb3JpZ2luX2Vj[\w+/=-]{60,}`, hit: "IQoJb3JpZ2luX2Vj{300}", miss: "IQoJb3JpZ2luX2Vj{6}", from: "docs.aws.amazon.com/STS: session tokens"},
	{name: "aws-session-token", alone: true, shape: `(?:FwoGZXIvYXdzE|FQoGZXIvYXdzE|AQoDYXdzE)[\w+/=-]{60,}`, hit: "FwoGZXIvYXdzE{300}", miss: "FwoGZXIvYXdzE{6}", from: "docs.aws.amazon.com/STS: session tokens"},
	{name: "aws-mws-token", alone: true, shape: `amzn\.mws\.[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "amzn.mws.{x8}-{x4}-{x4}-{x4}-{x12}", miss: "amzn.mws.{6}", from: "shape seen in keys"},
	{name: "amazon-secret", alone: true, shape: `amzn1\.oa2-cs\.v[0-9]\.[0-9a-f]{64}`, hit: "amzn1.oa2-cs.v1.{x64}", miss: "amzn1.oa2-cs.v1.{6}", from: "developer.amazon.com/docs: Login with Amazon"},
	{name: "amazon-token", alone: true, shape: `Atz[ar]\|[\w-]{60,}`, hit: "Atza|{180}", miss: "Atza|{6}", from: "developer.amazon.com/docs: Login with Amazon"},
	{name: "appsync-key", alone: true, shape: `da2-[a-z0-9]{26}`, is: mixedCheck(3), ends: noName, hit: "da2-{x26}", miss: "da2-{6}", from: "docs.aws.amazon.com/appsync: API keys"},
	{name: "digitalocean-spaces-id", alone: true, shape: `DO00[A-Z0-9]{16}`, is: mixedCheck(2.5), ends: noName, hit: "DO00{u16}", miss: "DO00{6}", from: "docs.digitalocean.com: Spaces keys"},
	{name: "cloudflare-key", alone: true, shape: `cfk_[A-Za-z0-9]{40,}`, is: mixedCheck(3), hit: "cfk_{40}{x8}", miss: "cfk_{6}", from: "developers.cloudflare.com/fundamentals: token formats"},
	{name: "turnstile-secret", alone: true, shape: `0x4AAAAAAA[\w-]{22,}`, hit: "0x4AAAAAAA{28}", miss: "0x4AAAAAAA{6}", from: "developers.cloudflare.com/turnstile: secret keys"},
	{name: "netlify-token", alone: true, shape: `nf[cou]_[A-Za-z0-9]{36}`, is: mixedCheck(3), hit: "nfc_{36}", miss: "nfc_{6}", from: "docs.netlify.com: tokens"},
	{name: "supabase-token", alone: true, shape: `sbp_(?:oauth|v0)_[0-9a-z]{40}`, hit: "sbp_oauth_{x40}", miss: "sbp_oauth_{6}", from: "supabase.com/docs: Management API"},
	{name: "neon-password", alone: true, shape: `npg_[A-Za-z0-9]{12,16}`, is: isVaried, ends: noName, hit: "npg_{12}", miss: "npg_connection", from: "neon.com/docs: connection strings"},
	{name: "planetscale-secret", alone: true, shape: `pscale_app_[0-9a-f]{40,}`, hit: "pscale_app_{x64}", miss: "pscale_app_{6}", from: "planetscale.com/docs: OAuth applications"},
	{name: "xata-key", alone: true, shape: `x(?:au|db)_[A-Za-z0-9]{30,}`, is: mixedCheck(3), hit: "xau_{36}", miss: "xau_{6}", from: "xata.io/docs: API keys"},
	{name: "cockroach-key", alone: true, shape: `CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}`, hit: "CCDB1_{22}_{40}", miss: "CCDB1_{6}", from: "shape seen in betterleaks"},
	{name: "databricks-token", alone: true, shape: `d(?:ose|kea)[0-9a-f]{32}`, ends: noName, hit: "dose{x32}", miss: "dose{6}", from: "docs.databricks.com: OAuth secrets"},
	{name: "dbt-token", alone: true, shape: `dbt[cu]_[\w-]{36,}`, is: mixedCheck(3), hit: "dbtc_{46}", miss: "dbtc_{6}", from: "docs.getdbt.com: tokens"},
	{name: "infisical-token", alone: true, shape: `st\.[\w-]{20,40}\.[0-9a-f]{32}\.[0-9a-f]{32}`, hit: "st.{x24}.{x32}.{x32}", miss: "st.{6}", from: "infisical.com/docs: service tokens"},
	{name: "vault-token", alone: true, shape: `hv[sbr]\.[\w-]{24,}`, is: isShuffled, hit: "hvs.{24}", miss: "hvs.{6}", from: "developer.hashicorp.com/vault: tokens"},
	{name: "bitwarden-token", alone: true, shape: `0\.[0-9a-f][0-9a-f][0-9a-f]{6}-[0-9a-f-]{27}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{20,}={0,2}`, hit: "0.{x8}-{x4}-{x4}-{x4}-{x12}.{30}:{22}==", miss: "0.{x8}", from: "bitwarden.com/help: Secrets Manager"},
	{name: "scaleway-key-id", alone: true, shape: `SCW[A-Z0-9]{17}`, is: mixedCheck(3), ends: noName, hit: "SCW{u17}", miss: "SCW{6}", from: "scaleway.com/docs: API keys"},
	{name: "exoscale-key-id", alone: true, shape: `EXO[0-9a-f]{24,30}`, is: mixedCheck(3), ends: noName, hit: "EXO{x26}", miss: "EXO{6}", from: "shape seen in betterleaks"},
	{name: "upcloud-token", alone: true, shape: `ucat_[A-Za-z0-9]{24,}`, hit: "ucat_{26}", miss: "ucat_{6}", from: "shape seen in betterleaks"},
	{name: "alibaba-sts-id", alone: true, shape: `STS\.[A-Za-z0-9]{20,}`, is: isShuffled, hit: "STS.N{24}", miss: "STS.N{6}", from: "alibabacloud.com/help: STS"},
	{name: "yandex-token", alone: true, shape: `y[0-3]_[\w-]{50,}`, is: isShuffled, hit: "y0_{55}", miss: "y0_{6}", from: "yandex.com/dev/id: OAuth tokens"},
	{name: "akamai-token", alone: true, shape: `akab-[a-z0-9]{16}-[a-z0-9]{16}`, hit: "akab-{x16}-{x16}", miss: "akab-{6}", from: "techdocs.akamai.com: EdgeGrid"},
	{name: "nebius-token", alone: true, shape: `v1\.C[\w+/=-]{100,}\.[\w+/=-]{40,}`, hit: "v1.CmM{300}.{80}", miss: "v1.CmM{6}", from: "docs.nebius.com: access tokens"},
	{name: "elastic-key", alone: true, shape: `ess[ua]_[\w+/-]{40,}={0,2}`, is: isShuffled, hit: "essu_{80}==", miss: "essu_{6}", from: "elastic.co/docs: API keys"},

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

	{name: "gitlab-token", alone: true, shape: `gl(?:rtr|wt)-[\w.-]{20,}`, fit: lenWithoutFullStop, is: isVaried, hit: "glrtr-{27}", miss: "glrtr-{6}", from: "docs.gitlab.com: token prefixes"},
	{name: "pypi-token", alone: true, shape: `pypi-AgENdGVzdC5weXBpLm9yZw[\w-]{50,}`, hit: "pypi-AgENdGVzdC5weXBpLm9yZw{70}", miss: "pypi-AgENdGVzdC5weXBpLm9yZw{6}", from: "test.pypi.org/help: API tokens"},
	{name: "crates-token", alone: true, shape: `cio[A-Za-z0-9]{32}`, is: isScattered, ends: noName, hit: "cio{32}", miss: "cio{6}", from: "doc.rust-lang.org/cargo: API tokens"},
	{name: "buildkite-token", alone: true, shape: `bk[a-z][a-z]_[\w-]{32,}`, is: isShuffled, hit: "bkct_{43}", miss: "bkct_{6}", from: "buildkite.com/docs: token formats"},
	{name: "sonar-token", alone: true, shape: `sqco_[0-9a-f]{40}`, hit: "sqco_{x40}", miss: "sqco_{6}", from: "docs.sonarsource.com: tokens"},
	{name: "snyk-token", alone: true, shape: `snyk_[us]at\.[0-9a-f]{8}\.[\w.-]{40,}`, fit: lenWithoutFullStop, hit: "snyk_uat.{x8}.{60}", miss: "snyk_uat.{6}", from: "docs.snyk.io: authentication"},
	{name: "socket-token", alone: true, shape: `sktsec_[\w-]{40,}`, hit: "sktsec_{43}_api", miss: "sktsec_{6}", from: "docs.socket.dev: API tokens"},
	{name: "endor-key", alone: true, shape: `endr\+[A-Za-z0-9-]{16}`, hit: "endr+{16}", miss: "endr+{6}", from: "shape seen in betterleaks"},
	{name: "stackhawk-key", alone: true, shape: `hawk\.[\w-]{20}\.[\w-]{20}`, is: isShuffled, hit: "hawk.{20}.{20}", miss: "hawk.{6}", from: "docs.stackhawk.com: API keys"},
	{name: "aikido-token", alone: true, shape: `AIK_(?:CI|SECRET)_[A-Za-z0-9]{20,}`, is: isMixedOrShuffled, hit: "AIK_SECRET_{64}", miss: "AIK_SECRET_{6}", from: "shape seen in betterleaks"},
	{name: "deno-token", alone: true, shape: `ddo_[A-Za-z0-9]{36}`, hit: "ddo_{36}", miss: "ddo_{6}", from: "shape seen in keys"},
	{name: "postman-key", alone: true, shape: `PMAT-[A-Z0-9]{26}`, hit: "PMAT-{u26}", miss: "PMAT-{6}", from: "learning.postman.com: access keys"},
	{name: "gitbook-token", alone: true, shape: `gb_api_[A-Za-z0-9]{36,}`, hit: "gb_api_{40}", miss: "gb_api_{6}", from: "gitbook.com/docs: API tokens"},
	{name: "zuplo-key", alone: true, shape: `zpka_[0-9a-z]{20,}_[0-9a-f]{8}`, hit: "zpka_{x32}_{x8}", miss: "zpka_{6}", from: "zuplo.com/docs: API keys"},
	{name: "konnect-token", alone: true, shape: `[ks]pat_[A-Za-z0-9]{40,}`, is: mixedCheck(3), hit: "kpat_{48}", miss: "kpat_{6}", from: "developer.konghq.com: access tokens"},
	{name: "unkey-key", alone: true, shape: `unkey_[A-Za-z0-9]{20,}`, is: mixedCheck(3), hit: "unkey_{22}", miss: "unkey_{6}", from: "unkey.com/docs: root keys"},
	{name: "chromatic-token", alone: true, shape: `chpt_[0-9a-f]{12,}`, ends: noName, hit: "chpt_{x16}", miss: "chpt_{x6}", from: "chromatic.com/docs: project tokens"},
	{name: "chief-tools-token", alone: true, shape: `ctp_[A-Za-z0-9]{36}`, is: mixedCheck(3), ends: noName, hit: "ctp_{36}", miss: "ctp_{6}", from: "chief.app/docs: tokens"},
	{name: "adobe-secret", alone: true, shape: `p8e-[\w-]{32}`, is: mixedCheck(3), ends: noName, hit: "p8e-{32}", miss: "p8e-{6}", from: "shape seen in gitleaks"},
	{name: "launchdarkly-key", alone: true, shape: `(?:api|sdk)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, ends: noName, hit: "api-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "api-{x8}", from: "launchdarkly.com/docs: API access tokens"},
	{name: "statsig-key", alone: true, shape: `secret-[A-Za-z0-9]{40,50}`, is: isShuffled, ends: noName, hit: "secret-{43}", miss: "secret-{6}", from: "docs.statsig.com: keys"},
	{name: "growthbook-key", alone: true, shape: `secret_[a-z]{4,10}_[A-Za-z0-9]{30,}`, is: mixedCheck(3), hit: "secret_admin_{32}", miss: "secret_admin_{6}", from: "docs.growthbook.io: API keys"},
	{name: "mergefreeze-token", alone: true, shape: `mf[bo]_[A-Za-z0-9]{24}`, is: isShuffled, ends: noName, hit: "mfb_{24}", miss: "mfb_{6}", from: "mergefreeze.com: API tokens"},
	{name: "jenkins-token", alone: true, shape: `11[0-9a-f][0-9a-f][0-9a-f]{30}`, is: mixedCheck(3), ends: noName, hit: "11{x32}", miss: "11{x8}", from: "jenkins.io/doc: API tokens"},
	{name: "teamcity-token", alone: true, shape: `eyJ0eXAiOiAiVENWMiJ9\.[\w-]{36}\.[\w-]{48}`, hit: "eyJ0eXAiOiAiVENWMiJ9.{36}.{48}", miss: "eyJ0eXAiOiAiVENWMiJ9.{6}", from: "jetbrains.com/help/teamcity: access tokens"},

	// Services.
	{name: "slack-token", alone: true, shape: `xoxd-[\w%+/=-]{40,}`, is: isVaried, hit: "xoxd-{120}", miss: "xoxd-{6}", from: "shape seen in betterleaks"},
	{name: "slack-token", shape: `xox[a-z]-[A-Za-z0-9-]{20,}`, is: isVaried, hit: "xoxb-{d12}-{d12}-{24}", miss: "xoxb-kisses-and-hugs-from-me", from: "docs.slack.dev: token types"},
	{name: "slack-token", shape: `xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[0-9a-z]{20,}`, hit: "xapp-1-{u11}-{d13}-{x64}", miss: "xapp-1-store", from: "docs.slack.dev: token types"},
	{name: "slack-token", shape: `xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{100,}`, hit: "xoxe.xoxp-1-{166}", miss: "xoxe.xoxp-1-{9}", from: "docs.slack.dev: token types"},
	{name: "stripe-key", alone: true, shape: `[sr]k_(?:live|test|prod|dev)_[\w-]{40,}`, hit: "sk_live_{60}", miss: "sk_live_{6}", from: "docs.stripe.com/keys"},
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
	{name: "zai-key", alone: true, shape: `[0-9a-f][0-9a-f][0-9a-f][0-9a-f]{29}\.[\w-]{16,24}`, is: isShuffledAfterDigest, ends: noName, hit: "{x32}.{16}", miss: "{x32}.{6}", from: "docs.z.ai: API keys"},
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

	{name: "discord-token", alone: true, shape: `mfa\.[\w-]{84}`, is: isShuffled, hit: "mfa.{84}", miss: "mfa.{6}", from: "shape seen in keys"},
	{name: "stripe-key", alone: true, shape: `[sr]k_org_(?:live|test)_[A-Za-z0-9]{20,}`, hit: "sk_org_live_{40}", miss: "sk_org_live_{6}", from: "docs.stripe.com/keys"},
	{name: "stripe-key", alone: true, shape: `ek_(?:live|test)_[A-Za-z0-9]{20,}`, is: mixedCheck(3), hit: "ek_live_{60}", miss: "ek_live_{6}", from: "docs.stripe.com/api: ephemeral keys"},
	{name: "stripe-client-secret", alone: true, shape: `(?:pi|seti|cs)_[A-Za-z0-9]{16,30}_secret_[A-Za-z0-9]{20,}`, hit: "pi_{24}_secret_{25}", miss: "pi_{6}", from: "docs.stripe.com/api: payment intents"},
	{name: "paddle-key", alone: true, shape: `pdl_[a-z]{4,8}_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}`, hit: "pdl_live_apikey_{x26}_{22}_{3}", miss: "pdl_live_apikey_{6}", from: "developer.paddle.com: API keys"},
	{name: "paddle-secret", alone: true, shape: `pdl_ntfset_[a-z0-9]{26}_[\w+/=-]{20,}`, hit: "pdl_ntfset_{x26}_{32}", miss: "pdl_ntfset_{6}", from: "developer.paddle.com: webhooks"},
	{name: "polar-token", alone: true, shape: `polar_[a-z]{2,4}_[\w-]{32,}`, is: mixedCheck(3), hit: "polar_oat_{43}", miss: "polar_oat_{6}", from: "polar.sh/docs: access tokens"},
	{name: "paypal-token", alone: true, shape: `A21AA[\w-]{60,}`, is: isShuffled, hit: "A21AA{92}", miss: "A21AA{6}", from: "developer.paypal.com: access tokens"},
	{name: "adyen-key", alone: true, shape: `AQE[a-z0-9]hmfx[\w+/=-]{60,}`, hit: "AQEyhmfx{120}-{40}=-{16}", miss: "AQEyhmfx{6}", from: "docs.adyen.com: API credentials"},
	{name: "mollie-key", alone: true, shape: `(?:live|test)_[A-Za-z0-9]{30}`, is: isShuffled, ends: noName, hit: "live_{30}", miss: "live_{6}", from: "docs.mollie.com: authentication"},
	{name: "brex-token", alone: true, shape: `bxt_[A-Za-z0-9]{30,}`, is: mixedCheck(3), hit: "bxt_{36}", miss: "bxt_{6}", from: "developer.brex.com: tokens"},
	{name: "klarna-key", alone: true, shape: `klarna_(?:live|test)_api_[\w+/=-]{40,}`, hit: "klarna_live_api_{100}", miss: "klarna_live_api_{6}", from: "docs.klarna.com: API keys"},
	{name: "checkout-key", alone: true, shape: `sk_(?:sbox_)?[a-z0-9]{27}`, is: mixedCheck(3), ends: noName, hit: "sk_sbox_{x27}", miss: "sk_sbox_{6}", from: "checkout.com/docs: API keys"},
	{name: "mandrill-key", alone: true, shape: `md-[\w-]{22}`, is: isShuffled, ends: noName, hit: "md-{22}", miss: "md-button-of-the-form-12", from: "mailchimp.com/developer: transactional API keys"},
	{name: "mailersend-key", alone: true, shape: `mlsn\.[0-9a-f]{64}`, hit: "mlsn.{x64}", miss: "mlsn.{6}", from: "developers.mailersend.com: tokens"},
	{name: "telnyx-key", alone: true, shape: `KEY[0-9A-F]{32}_[\w-]{22}`, hit: "KEY{X32}_{22}", miss: "KEY{6}", from: "developers.telnyx.com: API keys"},
	{name: "telnyx-key", alone: true, shape: `KEY[0-9a-f]{32}_[\w-]{22}`, hit: "KEY{x32}_{22}", miss: "KEY{6}", from: "developers.telnyx.com: API keys"},
	{name: "onesignal-key", alone: true, shape: `os_v2_[a-z]{3}_[a-z2-7]{80,}`, hit: "os_v2_app_{b103}", miss: "os_v2_app_{6}", from: "documentation.onesignal.com: API keys"},
	{name: "pubnub-key", alone: true, shape: `sec-c-[A-Za-z0-9+/=]{40,}`, hit: "sec-c-{48}", miss: "sec-c-{6}", from: "pubnub.com/docs: keys"},
	{name: "courier-key", alone: true, shape: `[dp]k_prod_[A-Z0-9]{28}`, is: mixedCheck(3), ends: noName, hit: "pk_prod_{u28}", miss: "pk_prod_{6}", from: "courier.com/docs: API keys"},
	{name: "svix-key", alone: true, shape: `testsk_[\w.-]{24,}`, fit: lenWithoutFullStop, is: mixedCheck(3), hit: "testsk_{32}", miss: "testsk_{6}", from: "docs.svix.com: API keys"},
	{name: "trigger-key", alone: true, shape: `tr_(?:dev|prod|stg|preview|pat)_[A-Za-z0-9]{20,}`, is: isMixedOrShuffled, hit: "tr_prod_{20}", miss: "tr_prod_{6}", from: "trigger.dev/docs: API keys"},
	{name: "stytch-secret", alone: true, shape: `secret-(?:live|test)-[\w-]{30,}=?`, is: isVaried, hit: "secret-live-{35}=", miss: "secret-live-{6}", from: "stytch.com/docs: authentication"},
	{name: "okta-token", alone: true, shape: `00[\w-][\w-]{39}`, is: isScattered, ends: noData, hit: "00{40}", miss: "00{6}", from: "developer.okta.com/docs: API tokens"},
	{name: "authress-key", alone: true, shape: `(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}`, hit: "sc_{10}.{x5}.acc-{x16}.{60}", miss: "sc_{6}", from: "shape seen in gitleaks"},
	{name: "salesforce-session", alone: true, shape: `00D[A-Za-z0-9]{12,15}![\w.-]{60,}`, fit: lenWithoutFullStop, hit: "00D{12}!{90}", miss: "00D{6}", from: "developer.salesforce.com/docs: session ids"},
	{name: "intercom-token", alone: true, shape: `dG9rO[A-Za-z0-9+/_-]{40,}={0,2}`, hit: "dG9rO{54}=", miss: "dG9rO{6}", from: "developers.intercom.com: access tokens"},
	{name: "close-key", alone: true, shape: `api_[A-Za-z0-9]{22}\.[A-Za-z0-9]{22}`, is: isShuffled, hit: "api_{22}.{22}", miss: "api_{6}", from: "developer.close.com: API keys"},
	{name: "linear-secret", alone: true, shape: `lin_wh_[A-Za-z0-9]{30,}`, hit: "lin_wh_{40}", miss: "lin_wh_{6}", from: "linear.app/developers: webhooks"},
	{name: "airtable-token", alone: true, shape: `oaa[A-Za-z0-9]{14}\.v1\.[\w-]{20,}\.[0-9a-f]{20,}`, hit: "oaa{14}.v1.{80}.{x64}", miss: "oaa{6}", from: "airtable.com/developers: OAuth"},
	{name: "cal-key", alone: true, shape: `cal_(?:live_|test_)?[0-9a-f]{32}`, is: mixedCheck(3), ends: noName, hit: "cal_live_{x32}", miss: "cal_live_{6}", from: "cal.com/docs: API keys"},
	{name: "canva-secret", alone: true, shape: `cnvca[\w-]{51}`, is: isShuffled, hit: "cnvca{51}", miss: "cnvca{6}", from: "shape seen in betterleaks"},
	{name: "sanity-token", alone: true, shape: `sk[A-Za-z0-9][A-Za-z0-9]{79,}`, is: isScattered, hit: "sk{178}", miss: "sk{6}", from: "sanity.io/docs: API tokens"},
	{name: "woocommerce-key", alone: true, shape: `c[ks]_[0-9a-f]{40}`, is: mixedCheck(3), ends: noName, hit: "cs_{x40}", miss: "cs_{6}", from: "woocommerce.github.io: REST API keys"},
	{name: "shopify-token", alone: true, shape: `(?:shprt|shpua|shptka|prtapi|shpit)_[0-9a-fA-F]{32}`, hit: "shprt_{x32}", miss: "shprt_{6}", from: "shopify.dev: access tokens"},
	{name: "klaviyo-key", alone: true, shape: `pk_[0-9a-f]{34}`, is: mixedCheck(3), ends: noName, hit: "pk_{x34}", miss: "pk_{6}", from: "developers.klaviyo.com: API keys"},
	{name: "segment-token", alone: true, shape: `sgp_[A-Za-z0-9]{64}`, is: mixedCheck(3), hit: "sgp_{64}", miss: "sgp_{6}", from: "segment.com/docs: Public API"},
	{name: "posthog-key", alone: true, shape: `ph[xs]_[\w-]{40,}`, is: isVaried, hit: "phs_{40}", miss: "phs_{6}", from: "posthog.com/docs: API keys"},
	{name: "sentry-token", alone: true, shape: `sntryi_[0-9a-f]{64}`, hit: "sntryi_{x64}", miss: "sntryi_{6}", from: "docs.sentry.io: auth tokens"},
	{name: "newrelic-key", alone: true, shape: `NRII-[\w-]{32}`, is: isVaried, hit: "NRII-{32}", miss: "NRII-{6}", from: "docs.newrelic.com: API keys"},
	{name: "newrelic-key", alone: true, shape: `eu01xx[0-9a-f]{30}NRAL`, hit: "eu01xx{x30}NRAL", miss: "eu01xx{6}", from: "docs.newrelic.com: license keys"},
	{name: "grafana-token", alone: true, shape: `eyJrIjoi[A-Za-z0-9+/]{40,}={0,3}`, hit: "eyJrIjoi{90}", miss: "eyJrIjoi{6}", from: "shape seen in gitleaks"},
	{name: "honeycomb-key", alone: true, shape: `hc[a-z][il]k_[a-z0-9]{50,}`, is: mixedCheck(3), hit: "hcaik_{x58}", miss: "hcaik_{6}", from: "docs.honeycomb.io: API keys"},
	{name: "honeycomb-key", alone: true, shape: `hc[a-z]mk_[a-z0-9]{50,}`, is: mixedCheck(3), hit: "hcamk_{x58}", miss: "hcamk_{6}", from: "docs.honeycomb.io: API keys"},
	{name: "axiom-token", alone: true, shape: `xa[ap]t-[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "xaat-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "xaat-{6}", from: "axiom.co/docs: tokens"},
	{name: "axiom-token", alone: true, shape: `xapt-[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "xapt-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "xapt-{6}", from: "axiom.co/docs: tokens"},
	{name: "dynatrace-token", alone: true, shape: `dt0[a-z][0-9]{2}\.[A-Z0-9]{8}\.[A-Z0-9]{64}`, hit: "dt0s16.{u8}.{u64}", miss: "dt0s16.{6}", from: "docs.dynatrace.com: token format"},
	{name: "pagerduty-key", alone: true, shape: `u\+[\w-][\w-]{17}`, is: isShuffled, ends: noData, hit: "u+{18}", miss: "u+{6}", from: "developer.pagerduty.com: API access keys"},
	{name: "pagerduty-token", alone: true, shape: `pdus\+[\w-]{20,}`, is: isVaried, hit: "pdus+{60}", miss: "pdus+{6}", from: "developer.pagerduty.com: OAuth tokens"},
	{name: "incident-io-key", alone: true, shape: `inc_(?:live|test)_[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "inc_live_{x64}", miss: "inc_live_{6}", from: "api-docs.incident.io: API keys"},
	{name: "firehydrant-token", alone: true, shape: `fhb-[0-9a-f]{32}`, hit: "fhb-{x32}", miss: "fhb-{6}", from: "docs.firehydrant.com: API keys"},
	{name: "honeybadger-key", alone: true, shape: `hbp_[A-Za-z0-9]{36}`, is: mixedCheck(3), hit: "hbp_{36}", miss: "hbp_{6}", from: "docs.honeybadger.io: API keys"},
	{name: "mapbox-token", alone: true, shape: `tk\.eyJ[\w-]{20,}\.[\w-]{20,}`, hit: "tk.eyJ{80}.{22}", miss: "tk.eyJ{6}", from: "docs.mapbox.com: access tokens"},
	{name: "meta-token", alone: true, shape: `(?:IGQV|IGAA|THAA|THQV)[\w-]{80,}`, is: isShuffledAfter(8), hit: "IGQVJ{150}", miss: "IGQVJ{6}", from: "developers.facebook.com/docs: access tokens"},
	{name: "linkedin-secret", alone: true, shape: `WPL_AP[0-9]\.[A-Za-z0-9]{10,24}\.[A-Za-z0-9+/=]{6,}`, hit: "WPL_AP1.{16}.{8}==", miss: "WPL_AP1.{6}", from: "shape seen in keys"},
	{name: "twitter-bearer", alone: true, shape: `AAAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%+/=]{60,}`, is: isTwitterBearer, hit: "AAAAAAAAAAAAAAAAAAAAA{44}={50}", miss: "AAAAAAAAAAAAAAAAAAAAA{80}", from: "docs.x.com: app-only authentication"},
	{name: "tiktok-token", alone: true, shape: `act\.[A-Za-z0-9]{40,80}![0-9]{4}\.[a-z]{2}`, hit: "act.{60}!{d4}.va", miss: "act.{6}", from: "developers.tiktok.com: access tokens"},
	{name: "xprv", alone: true, shape: `[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}`, is: isShuffled, hit: "xprv9{B106}", miss: "xprv9{6}", from: "github.com/bitcoin: BIP 32"},
	{name: "bitcoin-key", alone: true, shape: `K[w-z][1-9A-HJ-NP-Za-km-z][1-9A-HJ-NP-Za-km-z]{49}`, is: isScattered, ends: noData, hit: "Kw{B50}", miss: "Kw{6}", from: "en.bitcoin.it: wallet import format"},
	{name: "bitcoin-key", alone: true, shape: `L[1-5][1-9A-HJ-NP-Za-km-z][1-9A-HJ-NP-Za-km-z]{49}`, is: isScattered, ends: noData, hit: "L3{B50}", miss: "L3{6}", from: "en.bitcoin.it: wallet import format"},
	{name: "bitcoin-key", alone: true, shape: `5[HJK][1-9A-HJ-NP-Za-km-z][1-9A-HJ-NP-Za-km-z]{48}`, is: isScattered, ends: noData, hit: "5J{B49}", miss: "5J{6}", from: "en.bitcoin.it: wallet import format"},
	{name: "stellar-seed", alone: true, shape: `S[A-D][A-Z2-7][A-Z2-7]{53}`, is: mixedCheck(3), ends: noData, hit: "SA{u54}", miss: "SA{6}", from: "developers.stellar.org: keys"},
	{name: "nkey-seed", alone: true, shape: `S[ACNOUX][A-Z2-7][A-Z2-7]{55}`, is: mixedCheck(3), ends: noData, hit: "SU{u56}", miss: "SU{6}", from: "docs.nats.io: nkeys"},
	{name: "nostr-key", alone: true, shape: `nsec1[02-9ac-hj-np-z]{58}`, hit: "nsec1{k58}", miss: "nsec1{6}", from: "github.com/nostr-protocol: NIP 19"},
	{name: "age-key", alone: true, shape: `AGE-SECRET-KEY-PQ-1[A-Z0-9]{40,}`, hit: "AGE-SECRET-KEY-PQ-1{u58}", miss: "AGE-SECRET-KEY-PQ-1{6}", from: "age-encryption.org: specification"},
	{name: "age-key", alone: true, shape: `AGE-PLUGIN-[A-Z0-9]{1,20}-1[A-Z0-9]{30,}`, is: mixedCheck(3), hit: "AGE-PLUGIN-YUBIKEY-1{u40}", miss: "AGE-PLUGIN-YUBIKEY-1", from: "github.com/C2SP: age plugins"},
	{name: "minisign-key", alone: true, shape: `RWRTY0Iy[A-Za-z0-9+/]{100,}={0,2}`, hit: "RWRTY0Iy{200}==", miss: "RWRTY0Iy{6}", from: "jedisct1.github.io: minisign"},
	{name: "onfido-token", alone: true, shape: `api_(?:live|sandbox)(?:_[a-z]{2})?\.[A-Za-z0-9]{8,16}\.[\w-]{30,}`, hit: "api_live.{11}.{32}", miss: "api_live.{6}", from: "documentation.onfido.com: API tokens"},
	{name: "workato-token", alone: true, shape: `wrk(?:aus|eus|sus|us|eu|jp|sg|au)-[A-Za-z0-9+/=_-]{60,}`, is: isShuffled, hit: "wrkaus-{300}", miss: "wrkaus-{6}", from: "docs.workato.com: API clients"},
	{name: "beamer-key", alone: true, shape: `b_[\w+/=-][\w+/=-]{43}`, is: isShuffled, ends: noData, hit: "b_{44}", miss: "b_{6}", from: "shape seen in gitleaks"},
	{name: "sslmate-key", alone: true, shape: `k[0-9][0-9][0-9]{1,4}_[A-Za-z0-9]{20}`, is: isShuffled, ends: noName, hit: "k0739_{20}", miss: "k0739_{6}", from: "shape seen in keys"},
	{name: "thunderstore-token", alone: true, shape: `tss_[A-Za-z0-9]{36}`, is: mixedCheck(3), hit: "tss_{36}", miss: "tss_{6}", from: "thunderstore.io/api: tokens"},
	{name: "netbird-token", alone: true, shape: `nbp_[A-Za-z0-9]{36}`, is: mixedCheck(3), hit: "nbp_{36}", miss: "nbp_{6}", from: "docs.netbird.io: access tokens"},
	{name: "portainer-token", alone: true, shape: `ptr_[A-Za-z0-9+/=]{40,48}`, is: isShuffled, hit: "ptr_{43}=", miss: "ptr_{6}", from: "docs.portainer.io: API access"},
	{name: "nova-key", alone: true, shape: `sk_[\w-]{40,}`, is: isShuffled, hit: "sk_{43}", miss: "sk_{6}", from: "novita.ai/docs: API keys"},

	// Formats that many programs use.
	{name: "jwt", shape: `eyJ[\w-]{8,}\.eyJ[\w.-]{2,}`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{30}.{43}", miss: "eyJhbGciOiJIUzI1NiJ9.and.more", from: "RFC 7519"},
	{name: "jwe", shape: `eyJ[\w-]{12,}\.\.[\w-]{10,}\.[\w.-]{20,}`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJkaXIi{20}..{16}.{80}.{22}", miss: "eyJhbGciOiJkaXIi..and.more", from: "RFC 7516"},
	{name: "jwe", shape: `eyJ[\w-]{12,}\.[\w-]{40,}\.[\w-]{10,}\.[\w.-]{20,}`, fit: lenWithoutFullStop, hit: "eyJhbGciOiJSU0Et{20}.{120}.{16}.{80}.{22}", miss: "eyJhbGciOiJkaXIi.and.more.than", from: "RFC 7516"},
	{name: "jwt-in-base64", shape: `ZXlK[A-Za-z0-9+/_-]{60,}={0,2}`, hit: "ZXlKaGJHY2lPaU{120}", miss: "ZXlKaGJHY2lPaU", from: "RFC 7519, in base64"},
	{name: "paseto", shape: `v[1-4]\.(?:local|public)\.[\w.-]{40,}`, fit: lenWithoutFullStop, hit: "v4.local.{100}", miss: "v4.local.{12}", from: "github.com/paseto-standard: specification"},
	{name: "macaroon", shape: `MDAx[MNOYZ][0-9A-Za-z]xvY2F0aW9u[\w+/=-]{40,}`, hit: "MDAxY2xvY2F0aW9u{120}", miss: "MDAx{12}", from: "shape seen in keys"},

	{name: "jwt", alone: true, shape: `ewog[\w-]{12,}\.ewog[\w-]{12,}\.[\w-]{20,}`, hit: "ewogICJhbGciOiAiUlMyNTYi{20}.ewogICJzdWIi{80}.{43}", miss: "ewogICJhbGciOiAiUlMyNTYi.and.more", from: "RFC 7519"},
	{name: "signed-cookie", alone: true, shape: `eyJ[\w-]{8,}\.[\w-]{6}\.[\w-]{27,43}`, ends: noName, hit: "eyJ1c2VyIjox{30}.{6}.{27}", miss: "eyJ1c2VyIjox.and.more", from: "itsdangerous.palletsprojects.com: signing"},
	{name: "laravel-cookie", alone: true, shape: `eyJpdiI6I[A-Za-z0-9+/]{80,}={0,2}`, hit: "eyJpdiI6I{200}", miss: "eyJpdiI6I{6}", from: "laravel.com/docs: encryption"},
	{name: "iron-seal", alone: true, shape: `Fe26\.[12]\*[\w*-]{100,}`, hit: "Fe26.2**{x64}*{22}*{100}**{x64}*{43}", miss: "Fe26.2**{6}", from: "github.com/hapijs: iron"},
	{name: "paseto-key", alone: true, shape: `k[1-4]\.(?:local|secret|local-wrap|secret-wrap)\.[\w.-]{40,}`, fit: lenWithoutFullStop, hit: "k4.local.{43}", miss: "k4.local.{6}", from: "github.com/paseto-standard: PASERK"},
	{name: "scram", alone: true, shape: `SCRAM-SHA-(?:1|256)\$[0-9]{3,6}:[A-Za-z0-9+/=]{12,}\$[A-Za-z0-9+/=]{20,}:[A-Za-z0-9+/=]{20,}`, hit: "SCRAM-SHA-256$4096:{22}==${43}=:{43}=", miss: "SCRAM-SHA-256$4096", from: "postgresql.org/docs: password authentication"},
	{name: "phpass", alone: true, shape: `\$[PHS]\$[./A-Za-z0-9]{31,53}`, hit: "$P$B{30}", miss: "$P$B{6}", from: "openwall.com/phpass: hashes"},
	{name: "crypt", alone: true, shape: `\$[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}`, hit: "$8${14}${43}", miss: "$8${14}", from: "shape seen in Cisco configurations"},
	{name: "junos-secret", alone: true, shape: `\$9\$[A-Za-z0-9./-]{20,}`, hit: "$9${50}", miss: "$9${6}", from: "juniper.net/documentation: encrypted passwords"},
	{name: "bcrypt", alone: true, shape: `\$wp\$2y\$[0-9]{2}\$[./A-Za-z0-9]{53}`, hit: "$wp$2y$10${53}", miss: "$wp$2y$10${12}", from: "developer.wordpress.org: password hashing"},
	{name: "grub-hash", alone: true, shape: `grub\.pbkdf2\.sha512\.[0-9]{1,7}\.[0-9A-F]{64,}\.[0-9A-F]{64,}`, hit: "grub.pbkdf2.sha512.10000.{X128}.{X128}", miss: "grub.pbkdf2.sha512.10000", from: "gnu.org/software/grub: manual"},
	{name: "kerberos-ticket", alone: true, shape: `\$krb5(?:tgs|asrep)\$[0-9]{1,2}\$[\w*.@:/$-]{60,}`, hit: "$krb5tgs$23$*svc$REALM$spn*${x32}${x200}", miss: "$krb5tgs$23", from: "shape seen in tools"},
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
	// random letters and digits, {xn} for hexadecimal digits, {un} for upper-case letters and digits, {dn} for
	// digits, {ln} for lower-case letters, {bn} for base32 in lower case, {Bn} for base58, and {kn} for bech32. So
	// this file contains no real key, and no text that a scanner mistakes for one. from is the source of the rule: a
	// standard, a vendor's page that shows the shape, or a note about where else the shape was seen.
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

// noData excludes characters that continue an identifier, or binary data in base64.
func noData(c byte) bool { return noName(c) && c != '+' && c != '-' }

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
	{name: "userinfo", after: "://", shape: "[^\\x00-\\x20\"'`\\\\<>[\\]/?\\x7f-\\xff]+", fit: userinfoLen, hit: "postgres://app:{16}@db:5432/x", miss: "https://example.com:8080/a@b:c", from: "RFC 3986"},
	{name: "fal-key", after: ":", shape: `[0-9a-f]{32}`, where: isAfterUUID, is: mixedCheck(3), ends: noName, hit: "{x8}-{x4}-{x4}-{x4}-{x12}:{x32}", miss: "{x8}-{x4}:{x32}", from: "docs.fal.ai: API keys"},
	{name: "ghost-key", after: ":", shape: `[0-9a-f]{64}`, where: isAfterObjectID, ends: noName, hit: "{x24}:{x64}", miss: "sha256:{x64}", from: "ghost.org/docs: Admin API"},
	{name: "password-hash", after: ":", shape: `[0-9a-f]{32}:::`, where: isAfterDigest, hit: "Administrator:500:{x32}:{x32}:::", miss: "{x32}:{x6}:::", from: "shape seen in dumps"},
	{name: "telegram-token", after: ":", shape: `A[\w-]{34}`, where: botID, is: mixedCheck(3), hit: "bot{d9}:A{34}", miss: "line:A{34}", from: "core.telegram.org/bots/api"},
	{name: "token", after: "|", shape: `[\w+/=-]{27,}`, where: isAfterTokenID, is: isShuffled, hit: "{d15}|{27}", miss: "| 1234567890 |{27}", from: "developers.facebook.com/docs: app access tokens"},
	{name: "secret-token", after: "secret-token:", shape: `[\w.~%-]{16,}`, fit: lenWithoutFullStop, is: isVaried, hit: "secret-token:{40}", miss: "secret-token:of-the-whole-team", from: "RFC 8959"},
	{name: "django-secret", after: "django-insecure-", shape: "[^\\x00-\\x20\"'`\\\\\\x7f]{30,}", hit: "the key django-insecure-{50}", miss: "django-insecure-{6}", from: "docs.djangoproject.com: settings"},
	{name: "userinfo", after: ":thin:", shape: "\\w{1,30}/[^\\x00-\\x20\"'`@\\\\]{6,}", ends: isAt, hit: "jdbc:oracle:thin:scott/{16}@//h:1521/x", miss: "jdbc:oracle:thin:@//h:1521/x", from: "docs.oracle.com: JDBC"},
	{name: "password", after: "password 7 ", shape: `[0-9A-F]{8,}`, hit: " password 7 {X22}", miss: "the password 7 ABC of all", from: "shape seen in Cisco configurations"},
	{name: "slack-webhook", after: "hooks.slack-gov.com/services/", shape: `[A-Za-z0-9+/]{30,60}`, hit: "https://hooks.slack-gov.com/services/T{u8}/B{u8}/{24}", miss: "https://hooks.slack-gov.com/services/new", from: "docs.slack.dev: incoming webhooks"},
	{name: "zapier-webhook", after: "hooks.zapier.com/hooks/catch/", shape: `[0-9]{4,12}/[a-z0-9/]{6,}`, hit: "https://hooks.zapier.com/hooks/catch/12345678/{x12}/", miss: "https://hooks.zapier.com/hooks/catch/new", from: "help.zapier.com: webhooks"},
	{name: "ifttt-webhook", after: "/with/key/", shape: `[\w-]{20,}`, is: isShuffled, hit: "https://maker.ifttt.com/trigger/e/with/key/{43}", miss: "/with/key/{6}", from: "ifttt.com/docs: webhooks"},
	{name: "feishu-webhook", after: "/bot/v2/hook/", shape: `[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "https://open.feishu.cn/open-apis/bot/v2/hook/{x8}-{x4}-{x4}-{x4}-{x12}", miss: "/bot/v2/hook/{x8}", from: "open.feishu.cn: custom bots"},
	{name: "rancher-token", after: "token-", shape: `[a-z0-9]{5}:[a-z0-9]{54}`, hit: "token-{x5}:{x54}", miss: "token-{x5}:{x6}", from: "ranchermanager.docs.rancher.com: API keys"},
	{name: "rancher-token", after: "kubeconfig-", shape: `[a-z0-9-]{5,40}:[a-z0-9]{54}`, hit: "kubeconfig-u-{x10}:{x54}", miss: "kubeconfig-{x5}", from: "ranchermanager.docs.rancher.com: API keys"},
	{name: "packagist-token", after: "packagist_", shape: `[a-z]{3}_[0-9a-f]{40,}`, hit: "packagist_uut_{x68}", miss: "packagist_uut_{x6}", from: "packagist.com/docs: tokens"},
	{name: "persona-key", after: "persona_production_", shape: `[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "persona_production_{x8}-{x4}-{x4}-{x4}-{x12}", miss: "persona_production_{x8}", from: "docs.withpersona.com: API keys"},
	{name: "persona-key", after: "persona_sandbox_", shape: `[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "persona_sandbox_{x8}-{x4}-{x4}-{x4}-{x12}", miss: "persona_sandbox_{x8}", from: "docs.withpersona.com: API keys"},
	{name: "rootly-key", after: "rootly_", shape: `[0-9a-f]{40,}`, hit: "rootly_{x64}", miss: "rootly_{x6}", from: "docs.rootly.com: API keys"},
	{name: "inngest-key", after: "signkey-", shape: `(?:[a-z]{3,10}-)?[0-9a-f]{32,}`, hit: "signkey-prod-{x64}", miss: "signkey-prod-{x6}", from: "inngest.com/docs: signing keys"},
	{name: "statsig-key", after: "console-", shape: `[A-Za-z0-9]{40,50}`, is: isShuffled, ends: noName, hit: "console-{43}", miss: "console-{6}", from: "docs.statsig.com: keys"},
	{name: "dify-key", after: "dataset-", shape: `[A-Za-z0-9]{24}`, is: isShuffled, ends: noName, hit: "dataset-{24}", miss: "dataset-{6}", from: "docs.dify.ai: API keys"},
	{name: "unleash-token", after: "default:", shape: `[a-z]{2,20}\.[0-9a-f]{56}`, hit: "default:production.{x56}", miss: "default:production.{x6}", from: "docs.getunleash.io: API tokens"},
	{name: "unleash-token", after: "*:", shape: `[a-z]{2,20}\.[0-9a-f]{56}`, where: isAfterLoneStar, hit: "*:production.{x56}", miss: "**:production.{x6}", from: "docs.getunleash.io: API tokens"},
	{name: "mysql-hash", after: "'*", shape: `[0-9A-F]{40}`, ends: isQuote, hit: "IDENTIFIED WITH mysql_native_password AS '*{X40}'", miss: "'*{X8}'", from: "dev.mysql.com: password hashing"},
	{name: "signed-cookie", after: ".eJ", shape: `[\w-]{20,}\.[\w-]{6}\.[\w-]{27,43}`, is: isShuffled, ends: noName, hit: ".eJw{80}.{6}.{27}", miss: ".eJw{6}", from: "itsdangerous.palletsprojects.com: signing"},
	{name: "configcat-key", after: "configcat-sdk-1/", shape: `[\w-]{22}/[\w-]{22}`, hit: "configcat-sdk-1/{22}/{22}", miss: "configcat-sdk-1/{6}", from: "configcat.com/docs: SDK keys"},
	{name: "azure-client-secret", after: "Q~", shape: `[\w~.-]{31,34}`, is: mixedCheck(3), hit: "{3}8Q~{34}", miss: "8Q~short", from: "shape seen in gitleaks"},
	{name: "slack-webhook", after: "hooks.slack.com/services/", shape: `[A-Za-z0-9+/]{30,60}`, hit: "https://hooks.slack.com/services/T{u8}/B{u8}/{24}", miss: "https://hooks.slack.com/services/new", from: "docs.slack.dev: incoming webhooks"},
	{name: "slack-webhook", after: "hooks.slack.com/workflows/", shape: `[A-Za-z0-9+/]{30,90}`, hit: "https://hooks.slack.com/workflows/T{u8}/A{u8}/{d18}/{24}", miss: "https://hooks.slack.com/workflows/a", from: "docs.slack.dev: incoming webhooks"},
	{name: "slack-webhook", after: "hooks.slack.com/triggers/", shape: `[A-Za-z0-9+/]{30,90}`, hit: "https://hooks.slack.com/triggers/T{u8}/{d13}/{32}", miss: "https://hooks.slack.com/triggers/a", from: "docs.slack.dev: incoming webhooks"},
	{name: "x-amz-signature", after: "X-Amz-Signature=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Signature={x64}", miss: "X-Amz-Signature=x", from: "docs.aws.amazon.com: signed requests"},
	{name: "x-amz-credential", after: "X-Amz-Credential=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Credential=GOOG1E{u30}/20260101/eu-west-1/s3/aws4_request", miss: "X-Amz-Credential=x", from: "docs.aws.amazon.com: signed requests"},
	{name: "x-amz-security-token", after: "X-Amz-Security-Token=", shape: visible + `{8,}`, fit: lenWithoutFullStop, hit: "X-Amz-Security-Token={120}", miss: "X-Amz-Security-Token=x", from: "docs.aws.amazon.com: signed requests"},
	{name: "password", after: " password ", shape: visible + `{8,}`, where: isNetrcLine, fit: lenWithoutFullStop, is: looksRandom, hit: "machine h.example login u password {16}", miss: "the password must-be-at-least-8-characters-long", from: "gnu.org: .netrc"},
	{name: "userinfo", after: " -u ", expects: looseValue, shape: `[\w.@-]{0,60}:` + word + `{8,}`, is: afterColon, hit: "curl -u \"admin:{16}\" https://h.example", miss: "sort -u names:of-all-the-things", from: "curl.se: man page"},
	{name: "userinfo", after: " --user ", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl --user 'admin:{16}' https://h.example", miss: "--user 1000:1000", from: "curl.se: man page"},
	{name: "userinfo", after: " --user=", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl --user=admin:{16} https://h.example", miss: "--user=1000:1000", from: "curl.se: man page"},
	{name: "userinfo", after: " -U ", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl -U proxy:{16} https://h.example", miss: "psql -U postgres:of-all", from: "curl.se: man page"},
	{name: "userinfo", after: " -a ", where: commandOf("http ", "xh "), expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "http -a admin:{16} h.example", miss: "ls -a names:of-all-the-things", from: "httpie.io/docs: authentication"},
	{name: "secret", after: " --body ", expects: looseValue, where: isSetCommand, shape: word + `{8,}`, is: looksRandom, hit: "gh secret set API_KEY --body {24}", miss: "gh issue create --body Aa1Bb2Cc3Dd4Ee5", from: "cli.github.com: gh secret set"},
	{name: "secret", after: " -b ", expects: looseValue, where: isSetCommand, shape: word + `{8,}`, is: looksRandom, hit: "gh secret set API_KEY -b {24}", miss: "gh issue create -b Aa1Bb2Cc3Dd4Ee5", from: "cli.github.com: gh secret set"},
	{name: "password", after: " /p:", expects: looseQuote, where: isRemoteDesktop, shape: word + `{8,}`, is: looksPassword, hit: "xfreerdp /u:app /p:{16} /v:h.example", miss: "msbuild /p:Aa1Bb2Cc3Dd4Ee5", from: "man xfreerdp"},
	{name: "userinfo", after: " /user:", where: isNetUse, shape: "[^\\x00-\\x20\"'`<>]+ " + word + `{8,}`, is: afterSpace, hit: "net use z: //h/s /user:app {16}", miss: "net use z: //h/s /user:app persistent", from: "learn.microsoft.com: net use"},
	{name: "password", after: "AUTH default ", where: isRedisPrompt, shape: word + `{8,}`, is: isRandomPassword, hit: "127.0.0.1:6379> AUTH default {16}", miss: "the command AUTH default Aa1Bb2Cc3Dd4Ee5", from: "redis.io/docs: AUTH"},
	{name: "password", after: "AUTH ", where: isRedisPrompt, shape: word + `{8,}`, is: isRandomPassword, hit: "127.0.0.1:6379> AUTH {16}", miss: "the command AUTH Aa1Bb2Cc3Dd4Ee5", from: "redis.io/docs: AUTH"},
	{name: "password", after: "root:", shape: word + "{8,}[\"']{0,1} {0,1}\\|[^c]{1,20}chpasswd", fit: lenBeforePipe, is: looksPassword, hit: "echo 'root:{16}' | sudo chpasswd", miss: "echo 'root:internationalization' | chpasswd", from: "man chpasswd"},
	{name: "password", after: "send ", expects: looseQuote, where: isPasswordPrompt, shape: word + `{8,}`, ends: isReturn, is: looksPassword, hit: "expect \"assword:\"\nsend \"{16}\\r\"", miss: "expect \"$ \"\nsend \"Aa1Bb2Cc3Dd4Ee5\\r\"\n", from: "man expect"},
	{name: "secret", after: "default =", expects: looseValue, where: isTerraformVariable, shape: word + `{8,}`, is: isRandomPassword, hit: "variable \"db_password\" {\n  default = \"{16}\"\n}", miss: "variable \"db_name\" {\n  default = \"Aa1Bb2Cc3Dd4Ee5\"\n}", from: "developer.hashicorp.com/terraform: variables"},
	{name: "secret", after: "  =", expects: looseValue, where: isTerraformVariable, shape: word + `{8,}`, is: isRandomPassword, hit: "variable \"db_password\" {\n  type      = string\n  sensitive = true\n  default   = \"{16}\"\n}", miss: "variable \"db_password\" {\n  version   = \"Aa1Bb2Cc3Dd4Ee5\"\n}", from: "developer.hashicorp.com/terraform: variables"},
	{name: "secret", after: "= @\"", where: isNamedLiteral, shape: inQuotes, is: inLine(isRandomPassword), hit: "var apiKey = @\"{24}\";", miss: "var apiName = @\"Aa1Bb2Cc3Dd4Ee5\";", from: "learn.microsoft.com: verbatim strings"},
	{name: "secret", after: "= b\"", where: isNamedLiteral, shape: inQuotes, is: inLine(isRandomPassword), hit: "api_key = b\"{24}\"", miss: "f(api_name = b\"Aa1Bb2Cc3Dd4Ee5\")", from: "docs.python.org: bytes literals"},
	{name: "secret", after: "= b'", where: isNamedLiteral, shape: inSingle, is: inLine(isRandomPassword), hit: "api_key = b'{24}'", miss: "api_name = b'Aa1Bb2Cc3Dd4Ee5'", from: "docs.python.org: bytes literals"},
	{name: "cookie", after: " -b ", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl -b sid={32} https://h.example", miss: "git checkout -b name=of-the-branch", from: "curl.se: man page"},
	{name: "cookie", after: " --cookie ", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl --cookie 'sid={32}' https://h.example", miss: "--cookie name=of-the-cookie", from: "shape seen in command lines"},
	{name: "cookie", after: " --cookie=", expects: looseValue, shape: `[\w.-]+=` + word + `{8,}`, is: afterEquals, hit: "curl --cookie=sid={32} https://h.example", miss: "--cookie=name=of-the-cookie", from: "shape seen in command lines"},
	{name: "password", after: " -p", expects: looseQuote, shape: word + `{6,}`, where: commandOf("mysql", "mariadb", "7z "), is: looksPassword, hit: "mysql -u root -p{16} shop", miss: "mysql -u root -pinternationalization", from: "dev.mysql.com: options"},
	{name: "password", after: " -a ", expects: looseValue, shape: word + `{8,}`, where: commandOf("redis-cli"), is: looksPassword, hit: "redis-cli -h h.example -a {24} ping", miss: "redis-cli -a internationalization", from: "redis.io/docs: redis-cli"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("sshpass", "rdesktop "), is: looksPassword, hit: "sshpass -p '{16}' ssh u@h.example", miss: "sshpass -p internationalization ssh u@h.example", from: "man sshpass"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("login"), is: looksPassword, hit: "docker login -u u -p {24} r.example", miss: "docker login -u u -p internationalization", from: "docs.docker.com: docker login"},
	{name: "password", after: " -p ", expects: looseValue, shape: word + `{8,}`, where: commandOf("mongo", "cqlsh "), is: looksPassword, hit: "mongosh -u u -p {24} db", miss: "mongosh -u u -p internationalization", from: "mongodb.com/docs: mongosh"},
	{name: "password", after: " -w ", expects: looseValue, shape: word + `{8,}`, where: commandOf("ldap"), is: looksPassword, hit: "ldapsearch -D cn=a -w {16} -b dc=b", miss: "ldapsearch -D cn=a -w internationalization", from: "man ldapsearch"},
	{name: "password", after: " -P ", expects: looseValue, shape: word + `{8,}`, where: commandOf("sqlcmd", "zip ", "mosquitto_"), is: looksPassword, hit: "sqlcmd -S h -U sa -P {16}", miss: "sqlcmd -S h -U sa -P internationalization", from: "learn.microsoft.com: sqlcmd"},
	{name: "password", after: "\", \"", where: isCredentialCall, shape: inQuotes, is: looksPassword, ends: isDoubleQuote, hit: "req.SetBasicAuth(\"app\", \"{20}\")", miss: "fmt.Println(\"app\", \"{20}\")", from: "pkg.go.dev/net/http"},
	{name: "password", after: "', '", where: isCredentialCall, shape: inSingle, is: looksPassword, ends: isQuote, hit: "auth=('app', '{20}')", miss: "print('app', '{20}')", from: "requests.readthedocs.io"},
	{name: "password", after: " -pw ", expects: looseValue, shape: word + `{8,}`, where: commandOf("plink", "pscp", "psftp"), is: looksPassword, hit: "plink -pw {16} u@h", miss: "plink -pw internationalization u@h", from: "the.earth.li/~sgtatham/putty: plink"},
	{name: "password", after: "root@localhost: ", shape: word + `{8,}`, is: looksPassword, hit: "A temporary password is generated for root@localhost: {12}", miss: "root@localhost: internationalization", from: "dev.mysql.com: initialising the data directory"},
	{name: "unseal-key", after: "Unseal Key 1: ", shape: `[\w+/=]{40,}`, hit: "Unseal Key 1: {44}", miss: "Unseal Key 1: {6}", from: "developer.hashicorp.com/vault: operator init"},
	{name: "unseal-key", after: "Unseal Key 2: ", shape: `[\w+/=]{40,}`, hit: "Unseal Key 2: {44}", miss: "Unseal Key 2: {6}", from: "developer.hashicorp.com/vault: operator init"},
	{name: "unseal-key", after: "Unseal Key 3: ", shape: `[\w+/=]{40,}`, hit: "Unseal Key 3: {44}", miss: "Unseal Key 3: {6}", from: "developer.hashicorp.com/vault: operator init"},
	{name: "unseal-key", after: "Unseal Key 4: ", shape: `[\w+/=]{40,}`, hit: "Unseal Key 4: {44}", miss: "Unseal Key 4: {6}", from: "developer.hashicorp.com/vault: operator init"},
	{name: "unseal-key", after: "Unseal Key 5: ", shape: `[\w+/=]{40,}`, hit: "Unseal Key 5: {44}", miss: "Unseal Key 5: {6}", from: "developer.hashicorp.com/vault: operator init"},
	{name: "password", after: "IDENTIFIED BY ", expects: looseQuote, shape: word + `{8,}`, is: looksPassword, hit: "GRANT ALL ON d TO u IDENTIFIED BY \"{16}\";", miss: "IDENTIFIED BY internationalization", from: "dev.mysql.com: GRANT"},
	{name: "password", after: "PASSWORD = N'", shape: sqlText, is: looksPassword, ends: isQuote, hit: "CREATE LOGIN u WITH PASSWORD = N'{16}';", miss: "CREATE LOGIN u WITH PASSWORD = N'internationalization'", from: "learn.microsoft.com: CREATE LOGIN"},
	{name: "password", after: "PASSWORD=N'", shape: sqlText, is: looksPassword, ends: isQuote, hit: "CREATE LOGIN u WITH PASSWORD=N'{16}';", miss: "CREATE LOGIN u WITH PASSWORD=N'internationalization'", from: "learn.microsoft.com: CREATE LOGIN"},
	{name: "userinfo", after: "creds ", expects: looseValue, shape: `[\w.@/-]+:` + word + `{8,}`, is: afterColon, hit: "skopeo copy --src-creds app:{20} a b", miss: "creds of:of-all-the-things", from: "github.com/containers/skopeo"},
	{name: "userinfo", after: "creds=", expects: looseValue, shape: `[\w.@/-]+:` + word + `{8,}`, is: afterColon, hit: "podman pull --creds=app:{20} a", miss: "creds=of:of-all-the-things", from: "github.com/containers/skopeo"},
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
	{name: "signature", after: "Signature=", shape: `[\w+/=~-]{20,}`, is: mixedCheck(3), hit: "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={x64}", miss: "Signature={x12}", from: "docs.aws.amazon.com: signed requests"},
	{name: "token", after: " --token ", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --token {24}", miss: "login --token from-the-environment", from: "shape seen in command lines"},
	{name: "password", after: " --password ", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --password {16}", miss: "login --password from-the-environment", from: "shape seen in command lines"},
	{name: "api_key", after: " --api-key ", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --api-key {24}", miss: "login --api-key from-the-environment", from: "shape seen in command lines"},
	{name: "token", after: "-token ", expects: looseValue, where: isFlag, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --my-token {24}", miss: "a-token Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "-secret ", expects: looseValue, where: isFlag, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --my-secret {24}", miss: "a-secret Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "key", after: "-key ", expects: looseValue, where: isFlag, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --my-key {24}", miss: "a-key Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "passphrase", after: "-passphrase ", expects: looseValue, where: isFlag, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --passphrase {24}", miss: "a-passphrase Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "-password ", expects: looseValue, where: isFlag, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "login --my-password {24}", miss: "a-password Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "key", after: "KEY ", expects: looseValue, where: isSetCommand, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "setenv MY_KEY {24}", miss: "echo MY_KEY Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "token", after: "TOKEN ", expects: looseValue, where: isSetCommand, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "setenv MY_TOKEN {24}", miss: "echo MY_TOKEN Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "SECRET ", expects: looseValue, where: isSetCommand, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "setenv MY_SECRET {24}", miss: "echo MY_SECRET Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "PASSWORD ", expects: looseValue, where: isSetCommand, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "setenv MY_PASSWORD {24}", miss: "echo MY_PASSWORD Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret_access_key", after: "access_key ", expects: looseValue, where: isSetCommand, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "setenv MY_access_key {24}", miss: "echo MY_access_key Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "string = ", expects: looseValue, where: isTypedSecret, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "let apiKey: string = \"{32}\"", miss: "let apiName: string = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "String = ", expects: looseValue, where: isTypedSecret, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "let apiKey: String = \"{32}\"", miss: "let apiName: String = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "str = ", expects: looseValue, where: isTypedSecret, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "let apiKey: str = \"{32}\"", miss: "let apiName: str = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "SecretStr(", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "x=SecretStr('{32}')", miss: "x=SecretStr('of-all-the-things')", from: "docs.pydantic.dev: secret types"},
	{name: "secret", after: "<![CDATA[", where: isSecretElement, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "<apiKey><![CDATA[{32}]]></apiKey>", miss: "<name><![CDATA[Aa1Bb2Cc3Dd4Ee5]]></name>", from: "w3.org/TR: XML"},
	{name: "secret", after: "<string>", where: isSecretPlistKey, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "<key>ApiKey</key>\n<string>{32}</string>", miss: "<key>Name</key>\n<string>Aa1Bb2Cc3Dd4Ee5</string>", from: "developer.apple.com: property lists"},
	{name: "openai-insecure-api-key", after: "insecure-api-key.", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "the protocol openai-insecure-api-key.{40}", miss: "openai-insecure-api-key.of-all", from: "platform.openai.com: Realtime API"},
	{name: "api_key", after: "key provided: ", shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksRandom, hit: "Incorrect API key provided: {32}. Look", miss: "Incorrect API key provided: none-at-all", from: "platform.openai.com: error codes"},
	{name: "password", after: "password is ", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: isRandomPassword, hit: "the password is {20}, he said", miss: "the password is case-sensitive", from: "shape seen in traffic"},
	{name: "password", after: "requirepass ", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksPassword, hit: "requirepass {24}", miss: "requirepass internationalization", from: "redis.io/docs: configuration"},
	{name: "password", after: "masterauth ", expects: looseValue, shape: visible + `{8,}`, fit: lenWithoutFullStop, is: looksPassword, hit: "masterauth {24}", miss: "masterauth internationalization", from: "redis.io/docs: configuration"},
	{name: "secret", after: "= r\"", where: isNamedLiteral, shape: inQuotes, is: inLine(isRandomPassword), hit: "API_KEY = r\"{32}", miss: "API_NAME = r\"Aa1Bb2Cc3Dd4Ee5", from: "shape seen in programs"},
	{name: "secret", after: "= r'", where: isNamedLiteral, shape: inSingle, is: inLine(isRandomPassword), hit: "API_KEY = r'{32}", miss: "API_NAME = r'Aa1Bb2Cc3Dd4Ee5", from: "shape seen in programs"},
	{name: "secret", after: "= \"\"\"", where: isNamedLiteral, shape: inQuotes, is: inLine(isRandomPassword), hit: "API_KEY = \"\"\"{32}", miss: "API_NAME = \"\"\"Aa1Bb2Cc3Dd4Ee5", from: "shape seen in programs"},
	{name: "secret", after: "= '''", where: isNamedLiteral, shape: inSingle, is: inLine(isRandomPassword), hit: "API_KEY = '''{32}", miss: "API_NAME = '''Aa1Bb2Cc3Dd4Ee5", from: "shape seen in programs"},
	{name: "secret", after: "[] = \"", where: isNamedLiteral, shape: inQuotes, is: inLine(isRandomPassword), hit: "API_KEY [] = \"{32}", miss: "API_NAME [] = \"Aa1Bb2Cc3Dd4Ee5", from: "shape seen in programs"},
	{name: "secret", after: "\" -> \"", where: isNamedLiteral, shape: inQuotes, is: inLine(isRandomPassword), hit: "token = \"a\" -> \"{32}\"", miss: "name = \"a\" -> \"Aa1Bb2Cc3Dd4Ee5\";", from: "developer.hashicorp.com/terraform: plan"},
	{name: "secret", after: "] = \"", where: isTypedSecret, shape: inQuotes, is: inLine(isRandomPassword), hit: "api_key: Optional[str] = \"{32}\"", miss: "api_name: Optional[str] = \"Aa1Bb2Cc3Dd4Ee5\";", from: "shape seen in programs"},
	{name: "secret", after: "; } = \"", where: isProperty, shape: inQuotes, is: inLine(isRandomPassword), hit: "string ApiKey { get; set; } = \"{32}\"", miss: "string ApiName { get; set; } = \"Aa1Bb2Cc3Dd4Ee5\";", from: "shape seen in programs"},
	{name: "secret", after: "Some(\"", where: isWrapped, shape: inQuotes, is: inLine(isRandomPassword), hit: "api_key: Some(\"{32}\"", miss: "api_name: Some(\"Aa1Bb2Cc3Dd4Ee5\";", from: "shape seen in programs"},
	{name: "secret", after: "ault=\"", where: isWrapped, shape: inQuotes, is: inLine(isRandomPassword), hit: "token: str = Field(default=\"{32}\"", miss: "label: str = Field(default=\"Aa1Bb2Cc3Dd4Ee5\";", from: "shape seen in programs"},
	{name: "secret", after: "Secret::new(\"", shape: inQuotes, is: inLine(isRandomPassword), hit: "Secret::new(\"{32}\"", miss: "Secret::new(\"of all the things", from: "docs.rs: secrecy"},
	{name: "secret", after: "Fernet(b\"", shape: inQuotes, is: inLine(isRandomPassword), hit: "Fernet(b\"{43}=\")", miss: "Fernet(b\"of all the things\")", from: "cryptography.io: Fernet"},
	{name: "secret", after: "SecureString \"", shape: inQuotes, is: inLine(isRandomPassword), hit: "ConvertTo-SecureString \"{20}\" -AsPlainText", miss: "ConvertTo-SecureString \"of all the things", from: "learn.microsoft.com: ConvertTo-SecureString"},
	{name: "bearer", after: "Bearer \"+\"", shape: inQuotes, is: inLine(isRandomPassword), hit: "\"Bearer \"+\"{32}\"", miss: "Bearer \"+\"of-all-the-things", from: "shape seen in programs"},
	{name: "bearer", after: "Bearer \" + \"", shape: inQuotes, is: inLine(isRandomPassword), hit: "\"Bearer \" + \"{32}\"", miss: "Bearer \" + \"of-all-the-things", from: "shape seen in programs"},
	{name: "secret", after: "', b'", where: isBytesPair, shape: inSingle, is: inLine(isRandomPassword), hit: "(b'x-api-key', b'{32}')", miss: "(b'x-name', b'Aa1Bb2Cc3Dd4Ee5')", from: "asgi.readthedocs.io: HTTP scope"},
	{name: "token", after: " login ", expects: looseValue, shape: visible + `{16,}`, fit: lenWithoutFullStop, is: isSpoken, hit: "vault login {26}", miss: "docker login registry-1.docker.example", from: "shape seen in command lines"},
	{name: "token", after: "init -t ", expects: looseValue, shape: visible + `{16,}`, fit: lenWithoutFullStop, is: isSpoken, hit: "doctl auth init -t {64}", miss: "init -t of-all-the-things-here", from: "docs.digitalocean.com: doctl"},
	{name: "password", after: " -p=", expects: looseQuote, where: onLine("az login", "docker login"), shape: word + `{8,}`, is: looksPassword, hit: "az login -u a -p={24}", miss: "make -p=Aa1Bb2Cc3Dd4Ee5", from: "learn.microsoft.com: az login"},
	{name: "password", after: " -p ", expects: looseValue, where: commandOf("twine "), shape: word + `{8,}`, is: looksPassword, hit: "twine upload -u __token__ -p {24}", miss: "twine upload -p internationalization", from: "twine.readthedocs.io"},
	{name: "secret", after: " --value ", expects: looseValue, where: onLine("secret ", "SecureString"), shape: word + `{8,}`, is: isRandomPassword, hit: "az keyvault secret set --vault-name v -n x --value {24}", miss: "az tag set --value Aa1Bb2Cc3Dd4Ee5", from: "learn.microsoft.com: az keyvault"},
	{name: "userinfo", after: " --proxy-user ", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl --proxy-user u:{20} h", miss: "curl --proxy-user u:of-all-the", from: "curl.se/docs/manpage.html"},
	{name: "userinfo", after: "curl -u", shape: `[\w.@-]{0,40}:` + word + `{8,}`, is: afterColon, hit: "curl -uuser:{20} h", miss: "curl -uuser:of-all-the", from: "curl.se/docs/manpage.html"},
	{name: "secret", after: "echo ", expects: looseQuote, shape: word + "{16,}[\"']{0,1} {0,1}\\| {0,1}[a-z]{2,10} ", fit: lenBeforeLogin, is: isSpoken, hit: "echo {32} | docker login --password-stdin", miss: "echo of-all-the-things | docker login", from: "docs.docker.com: docker login"},
	{name: "secret", after: "echo -n ", expects: looseQuote, shape: word + "{16,}[\"']{0,1} {0,1}\\| {0,1}[a-z]{2,10} ", fit: lenBeforeLogin, is: isSpoken, hit: "echo -n {32} | docker login --password-stdin", miss: "echo -n of-all-the-things | docker login", from: "docs.docker.com: docker login"},
	{name: "secret", after: "printf ", expects: looseQuote, shape: word + "{16,}[\"']{0,1} {0,1}\\| {0,1}[a-z]{2,10} ", fit: lenBeforeLogin, is: isSpoken, hit: "printf {32} | docker login --password-stdin", miss: "printf of-all-the-things | docker login", from: "docs.docker.com: docker login"},
	{name: "secret", after: "printf %s ", expects: looseQuote, shape: word + "{16,}[\"']{0,1} {0,1}\\| {0,1}[a-z]{2,10} ", fit: lenBeforeLogin, is: isSpoken, hit: "printf %s {32} | docker login --password-stdin", miss: "printf %s of-all-the-things | docker login", from: "docs.docker.com: docker login"},
	{name: "secret", after: "<<< ", expects: looseQuote, where: onLine("stdin", "login", "secret", "token"), shape: word + `{16,}`, is: isSpoken, hit: "docker login --password-stdin <<< {32}", miss: "cat <<< Aa1Bb2Cc3Dd4Ee5Ff6;", from: "docs.docker.com: docker login"},
	{name: "password", after: " on >", where: onLine("SETUSER "), shape: word + `{8,}`, is: isRandomPassword, hit: "ACL SETUSER u on >{20} ~*", miss: "ACL SETUSER u on >internationalization", from: "redis.io/docs: ACL"},
	{name: "password", after: " -k ", expects: looseValue, where: onLine("openssl "), shape: word + `{8,}`, is: isRandomPassword, hit: "openssl enc -k {20} -in a", miss: "curl -k Aa1Bb2Cc3Dd4Ee5", from: "docs.openssl.org: enc"},
	{name: "password", after: "' = '", where: onLine("SET PASSWORD "), shape: sqlText, ends: isQuote, is: looksPassword, hit: "SET PASSWORD FOR 'u'@'h' = '{16}';", miss: "WHERE 'a' = 'Aa1Bb2Cc3Dd4Ee5'", from: "dev.mysql.com: SET PASSWORD"},
	{name: "unseal-key", after: "Unseal Key ", shape: `[0-9]: [\w+/=]{40,}`, is: isSpokenRest, hit: "Unseal Key 1: {44}", miss: "Unseal Key 1: of-all", from: "developer.hashicorp.com/vault: operator init"},
	{name: "password", after: " BY '", where: isIdentified, shape: sqlText, is: looksPassword, ends: isQuote, hit: "ALTER USER u IDENTIFIED WITH sha256_password BY '{16}';", miss: "GROUP BY 'internationalization'", from: "dev.mysql.com: ALTER USER"},
	{name: "api-key", after: "_live_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_live_{32}", miss: "acme_live_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_prod_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_prod_{32}", miss: "acme_prod_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_production_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_production_{32}", miss: "acme_production_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_pat_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_pat_{32}", miss: "acme_pat_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_sat_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_sat_{32}", miss: "acme_sat_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_sk_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_sk_{32}", miss: "acme_sk_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_apikey_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_apikey_{32}", miss: "acme_apikey_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_api_key_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_api_key_{32}", miss: "acme_api_key_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_secret_", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme_secret_{32}", miss: "acme_secret_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "-live-", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme-live-{32}", miss: "acme-live-of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "-prod-", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme-prod-{32}", miss: "acme-prod-of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "-production-", shape: `[\w-]{20,}`, where: isSecretPrefix, is: isKeyRun, hit: "acme-production-{32}", miss: "acme-production-of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
}

// botID requires a bot's number before the colon.
func botID(tail []byte) bool {
	n := countTrailing(tail[:len(tail)-1], classOf("", "09"))
	return n >= 5 && n <= 16
}

// isAfterHex returns a function that requires exactly n lower-case hexadecimal digits before a sign.
func isAfterHex(n int) func(tail []byte) bool {
	return func(tail []byte) bool {
		before := tail[:len(tail)-1]
		return countTrailing(before, lowerHex) == n && countTrailing(before, alnum) == n
	}
}

var (
	isAfterDigest   = isAfterHex(32)
	isAfterObjectID = isAfterHex(24)
)

var inUUID = classOf("-", "09", "af")

// isAfterUUID requires a UUID before a sign.
func isAfterUUID(tail []byte) bool { return countTrailing(tail[:len(tail)-1], inUUID) == 36 }

// isAfterTokenID requires the id of an application, of a deployment or of a key before a sign.
func isAfterTokenID(tail []byte) bool {
	before := tail[:len(tail)-1]
	n := countTrailing(before, digits)
	deployment := bytes.Contains(before, []byte("prod:")) || bytes.Contains(before, []byte("dev:")) || bytes.Contains(before, []byte("preview:"))
	return n >= 12 && n <= 20 || n > 0 && deployment || isAfterUUID(tail)
}

// isSecretPrefix requires letters before a part of a key's prefix. The prefix must not be that of a public key.
func isSecretPrefix(tail []byte) bool {
	prefix := tail[len(tail)-countTrailing(tail, inName):]
	return alnum[prefix[0]] && !bytes.HasPrefix(prefix, []byte("pk_")) && !bytes.Contains(prefix, []byte("pub"))
}

// isFlag reports whether the last word of a text is a flag.
func isFlag(tail []byte) bool {
	word := tail[bytes.LastIndexByte(tail[:len(tail)-1], ' ')+1:]
	return word[0] == '-'
}

// setCommands are the beginnings of lines that set a variable to the word after its name.
var setCommands = []string{"setenv ", "SetEnv ", "set -", "ENV ", "setx ", "configure set ", "secret set "}

// isSetCommand reports whether the last line of a text sets a variable to the word that follows.
func isSetCommand(tail []byte) bool {
	line := tail[bytes.LastIndexByte(tail, '\n')+1:]
	return slices.ContainsFunc(setCommands, func(c string) bool { return bytes.Contains(line, []byte(c)) })
}

// lastLine returns the last line of a text.
func lastLine(text []byte) []byte { return text[bytes.LastIndexByte(text, '\n')+1:] }

// isRemoteDesktop and isNetUse report whether the last line of a text is a command that takes a password in such a
// place.
func isRemoteDesktop(tail []byte) bool { return bytes.Contains(lastLine(tail), []byte("freerdp")) }
func isNetUse(tail []byte) bool        { return bytes.Contains(lastLine(tail), []byte("net use ")) }

// isRedisPrompt reports whether AUTH begins a line, or follows the prompt of a Redis client.
func isRedisPrompt(tail []byte) bool {
	line, _, _ := bytes.Cut(lastLine(tail), []byte("AUTH "))
	return len(line) == 0 || bytes.HasSuffix(line, []byte("> "))
}

// isPasswordPrompt reports whether a script waits for a prompt for a password before its last line.
func isPasswordPrompt(tail []byte) bool {
	at := bytes.LastIndex(tail, []byte("assword"))
	return at >= 0 && bytes.Contains(tail[:at], []byte("expect ")) && bytes.Count(tail[at:], []byte("send ")) == 1
}

// isTerraformVariable reports whether a text ends with the default of a variable that has the name of a credential.
func isTerraformVariable(tail []byte) bool {
	if !bytes.HasSuffix(bytes.TrimRight(tail, " =\""), []byte(" default")) {
		return false
	}
	at := bytes.LastIndex(tail, []byte(`variable "`))
	name, _, ok := bytes.Cut(tail[min(len(tail), max(0, at)+len(`variable "`)):], []byte(`"`))
	if ok = ok && at >= 0; ok {
		_, ok = credentialName(name, inText)
	}
	return ok
}

// isNamedLiteral reports whether a text ends with the name of a credential, an equals sign and the beginning of a
// literal.
func isNamedLiteral(tail []byte) bool {
	name := bytes.TrimRight(tail[:max(0, bytes.LastIndexByte(tail, '='))], " =[]")
	_, ok := credentialName(name[len(name)-countTrailing(name, inName):], inText)
	return ok
}

// isProperty reports whether a text ends with the name of a credential, its accessors and the beginning of a literal.
func isProperty(tail []byte) bool {
	name, _, ok := bytes.Cut(lastLine(tail), []byte(" { get"))
	if ok {
		_, ok = credentialName(name[len(name)-countTrailing(name, inName):], inText)
	}
	return ok
}

// wrappers are calls around the value of a name.
var wrappers = []string{`Some("`, `Field(default="`}

// isWrapped reports whether a text ends with the name of a credential, a sign and the beginning of one of wrappers.
func isWrapped(tail []byte) bool {
	for _, w := range wrappers {
		if text, ok := bytes.CutSuffix(tail, []byte(w)); ok {
			text = bytes.TrimRight(text, " ")
			name := bytes.TrimRight(text, ":= ")
			if typed := bytes.LastIndexByte(name, ':'); typed > 0 && bytes.HasSuffix(text, []byte("=")) && len(name)-typed < 24 {
				name = name[:typed]
			}
			_, named := credentialName(name[len(name)-countTrailing(name, inName):], inText)
			return named && len(text) > len(bytes.TrimRight(text, ":="))
		}
	}
	return false
}

// isBytesPair reports whether a text ends with the name of a header and the beginning of its value, as in
// (b'x-api-key', b'.
func isBytesPair(tail []byte) bool {
	_, ok := listedName(bytes.TrimSuffix(tail, []byte(" b'")))
	return ok
}

// onLine returns a function that requires one of several words on the last line of a text.
func onLine(words ...string) func(tail []byte) bool {
	return func(tail []byte) bool {
		return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(lastLine(tail), []byte(w)) })
	}
}

// isSpoken requires a random value with digits.
func isSpoken(text []byte) bool {
	return containsRange(text, '0', '9') && hasLetter(text) && looksRandom(text)
}

// isSpokenRest requires a random value after a number and a colon.
func isSpokenRest(text []byte) bool { return isSpoken(text[3:]) }

// isTypedSecret reports whether a text ends with the name of a credential, a colon, a type and an equals sign.
func isTypedSecret(tail []byte) bool {
	colon := max(bytes.LastIndexByte(tail, ':'), bytes.LastIndex(tail, []byte(" As ")))
	if colon < 1 || len(tail)-colon > 24 {
		return false
	}
	name := tail[:colon]
	_, ok := credentialName(name[len(name)-countTrailing(name, inName):], inText)
	return ok
}

// isSecretElement reports whether the start tag of a credential's XML element is before a CDATA section.
func isSecretElement(tail []byte) bool {
	text := bytes.TrimSuffix(tail, []byte("<![CDATA["))
	if !bytes.HasSuffix(text, []byte(">")) {
		return false
	}
	_, ok := elementName(text)
	return ok
}

// isSecretPlistKey reports whether the key before a value in a property list is the name of a credential.
func isSecretPlistKey(tail []byte) bool {
	text, ok := bytes.CutSuffix(bytes.TrimRight(bytes.TrimSuffix(tail, []byte("<string>")), " \t\r\n"), []byte("</key>"))
	if ok {
		_, ok = credentialName(text[len(text)-countTrailing(text, inName):], inKey)
	}
	return ok
}

// isIdentified reports whether a text names a method of authentication, before BY and a password.
func isIdentified(tail []byte) bool { return bytes.Contains(tail, []byte("IDENTIFIED WITH ")) }

// isAfterLoneStar reports whether the asterisk before the last character is not part of emphasis in Markdown.
func isAfterLoneStar(tail []byte) bool {
	n := len(tail)
	return n < 3 || tail[n-3] != '*' && !alnum[tail[n-3]]
}

func isAt(c byte) bool { return c == '@' }

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

func isDoubleQuote(c byte) bool { return c == '"' }

// isCredentialCall reports whether a text ends between the name and the password of a call, as in
// SetBasicAuth("app", " and auth=("app", ".
func isCredentialCall(tail []byte) bool {
	open := bytes.LastIndexByte(tail, '(')
	if open < 0 {
		return false
	}
	name := bytes.TrimPrefix(tail[open+1:len(tail)-len(`", "`)], []byte(`"", `)) // PlainAuth has an identity before the name
	if len(name) < 2 || bytes.IndexByte(name[1:], name[0]) >= 0 {
		return false
	}
	call := bytes.TrimRight(tail[:open], "= ")
	called := bytes.ToLower(call[len(call)-countTrailing(call, inName):])
	return bytes.HasSuffix(called, []byte("auth")) || bytes.HasSuffix(called, []byte("credentials"))
}

// isReturn reports whether a character is a line break, or begins its escape.
func isReturn(c byte) bool { return c == '\r' || c == '\n' || c == '\\' }

// lenBeforePipe returns the length of a text before a quote or a pipe.
func lenBeforePipe(text []byte) int { return bytes.IndexAny(text, "\"'| ") }

// loginPrograms are programs that read a credential from their standard input.
var loginPrograms = wordSet("docker gh npx wrangler vault kubectl helm podman fly flyctl az glab npm")

// lenBeforeLogin returns the length of a text before a quote or a pipe to one of loginPrograms, and 0 if there is none.
func lenBeforeLogin(text []byte) int {
	_, program := splitWord(text)
	if !loginPrograms[program] {
		return 0
	}
	return lenBeforePipe(text)
}

// afterSpace requires a password after a name and a space.
func afterSpace(text []byte) bool {
	_, password, _ := bytes.Cut(text, []byte(" "))
	return looksPassword(password) && password[0] != '/'
}

// afterEquals requires a random value after a name and an equals sign.
func afterEquals(text []byte) bool {
	_, value, ok := bytes.Cut(text, []byte("="))
	return ok && looksRandom(value)
}
