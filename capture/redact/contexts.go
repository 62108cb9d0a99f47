package redact

import (
	"bytes"
	"slices"
	"strings"
)

const (
	word        = "[^\\x00-\\x20\"'`\\\\<>\\x7f-\\xff]"
	pgpassField = "[^:\\x00-\\x20\"'`\\\\]{0,62}"
	sqlText     = "[^\\x00-\\x1f\"'\\\\\\x7f]{8,}"
)

// contexts are the secrets that are recognised by the text before them. That text is public, so it is neither
// replaced nor held back.
var contexts = slices.Concat(tableRules(), []*rule{
	{name: "bearer", after: "Bearer ", expects: looseValue, shape: looseBearing, fit: lenWithoutFullStop, is: isBearing, hit: "Bearer  {40}", miss: "Bearer token-based-authentication", from: "RFC 6750"},
	{name: "bearer", after: "bearer ", expects: looseValue, shape: looseBearing, fit: lenWithoutFullStop, is: isBearing, hit: "bearer {40}", miss: "bearer of-bad-news-and-worse", from: "RFC 6750"},
	{name: "bearer", after: "BEARER ", expects: looseValue, shape: looseBearing, fit: lenWithoutFullStop, is: isBearing, hit: "BEARER {40}", miss: "BEARER OF-BAD-NEWS-AND-WORSE", from: "RFC 6750"},
	{name: "bearer", after: "Bearer\t", expects: looseValue, shape: looseBearing, fit: lenWithoutFullStop, is: isBearing, hit: "Bearer\t{40}", miss: "Bearer\ttoken-based-authentication", from: "RFC 6750"},
	{name: "bearer", after: "bearer\t", expects: looseValue, shape: looseBearing, fit: lenWithoutFullStop, is: isBearing, hit: "bearer\t{40}", miss: "bearer\tof-bad-news-and-worse", from: "RFC 6750"},
	{name: "basic", after: "Basic ", shape: `[A-Za-z0-9+/]{8,}={0,2}`, is: isBasicAuth, hit: "Authorization: Basic dXNlcjpodW50ZXIyaHVudGVyMg==", miss: "Basic authentication", from: "RFC 7617"},
	{name: "basic", after: "basic ", shape: `[A-Za-z0-9+/]{8,}={0,2}`, is: isBasicAuth, hit: "authorization: basic dXNlcjpodW50ZXIyaHVudGVyMg==", miss: "basic principles12", from: "RFC 7617"},
	{name: "token", after: "Authorization: token ", shape: looseBearing, fit: lenWithoutFullStop, is: isBearing, hit: "Authorization: token {40}", miss: "Authorization: token required-for-everybody", from: "docs.github.com: REST API authentication"},
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
	{name: "percy-token", after: "web_", begins: true, shape: `[0-9a-f]{64}`, is: mixedCheck(3), ends: noName, hit: "web_{x64}", miss: "web_{x6}", from: "browserstack.com/docs: Percy tokens"},
	{name: "percy-token", after: "app_", begins: true, shape: `[0-9a-f]{64}`, is: mixedCheck(3), ends: noName, hit: "app_{x64}", miss: "app_{x6}", from: "browserstack.com/docs: Percy tokens"},
	{name: "percy-token", after: "auto_", begins: true, shape: `[0-9a-f]{64}`, is: mixedCheck(3), ends: noName, hit: "auto_{x64}", miss: "auto_{x6}", from: "browserstack.com/docs: Percy tokens"},
	{name: "apollo-key", after: "service:", begins: true, shape: `[\w.-]{1,60}:[\w-]{22}`, is: isShuffledPart, ends: noData, hit: "service:my-graph:{22}", miss: "service:my-graph:{6}", from: "apollographql.com/docs: API keys"},
	{name: "apollo-key", after: "user:gh.", begins: true, shape: `[\w.-]{1,60}:[\w-]{22}`, is: isShuffledPart, ends: noData, hit: "user:gh.bob:{22}", miss: "user:gh.bob:{6}", from: "apollographql.com/docs: API keys"},
	{name: "bland-key", after: "org_", begins: true, shape: `[0-9a-f]{60,}`, is: mixedCheck(3), hit: "org_{x80}", miss: "org_{x6}", from: "docs.bland.ai: API keys"},
	{name: "inference-key", after: "inference-", begins: true, shape: `[0-9a-f]{32}`, is: mixedCheck(3), ends: noName, hit: "inference-{x32}", miss: "inference-{x6}", from: "docs.inference.net: API keys"},
	{name: "qstash-key", after: "sig_", begins: true, shape: `[A-Za-z0-9]{26,36}`, is: isScattered, ends: noName, hit: "sig_{28}", miss: "sig_{6}", from: "upstash.com/docs: QStash"},
	{name: "sindri-key", after: "sindri_", begins: true, shape: `[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "sindri_{32}", miss: "sindri_{6}", from: "sindri.app/docs: API keys"},
	{name: "sindri-key", after: "sindri-", begins: true, shape: `[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "sindri-{32}", miss: "sindri-{6}", from: "sindri.app/docs: API keys"},
	{name: "samsara-token", after: "samsara_api_", begins: true, shape: `[A-Za-z0-9]{26,32}`, is: mixedCheck(3), hit: "samsara_api_{30}", miss: "samsara_api_{6}", from: "developers.samsara.com: authentication"},
	{name: "samsara-token", after: "samsara_at_", begins: true, shape: `[A-Za-z0-9]{26,32}`, is: isMixedOrShuffled, hit: "samsara_at_{28}", miss: "samsara_at_{6}", from: "developers.samsara.com: authentication"},
	{name: "censys-token", after: "censys_", begins: true, shape: `[A-Za-z0-9]{6,}_[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "censys_{8}_{40}", miss: "censys_{6}", from: "docs.censys.com: access tokens"},
	{name: "castai-key", after: "castai_v1_", begins: true, shape: `[a-z0-9]{64}_[a-z0-9]{8}`, hit: "castai_v1_{x64}_{x8}", miss: "castai_v1_{x6}", from: "shape seen in betterleaks"},
	{name: "veracode-key", after: "vera01ei-", begins: true, shape: `[0-9a-f]{32,}`, hit: "vera01ei-{x32}", miss: "vera01ei-{x6}", from: "docs.veracode.com: API credentials"},
	{name: "veracode-key", after: "vera01es-", begins: true, shape: `[0-9a-f]{32,}`, hit: "vera01es-{x128}", miss: "vera01es-{x6}", from: "docs.veracode.com: API credentials"},
	{name: "salad-key", after: "salad_cloud_", begins: true, shape: `\w{16,}`, is: isMixedOrShuffled, hit: "salad_cloud_user_{32}", miss: "salad_cloud_{6}", from: "docs.salad.com: API keys"},
	{name: "api-key", after: "apikey_", begins: true, shape: `[A-Za-z0-9]{32,}`, is: mixedCheck(3), ends: noName, hit: "apikey_{x64}", miss: "apikey_{6}", from: "shape seen in betterleaks"},
	{name: "gocardless-token", after: "sandbox_", begins: true, shape: `[\w=-]{40}`, is: isShuffled, ends: noData, hit: "sandbox_{40}", miss: "sandbox_{6}", from: "developer.gocardless.com: access tokens"},
	{name: "proof-key", after: "prf_", begins: true, shape: `[\w-]{20,80}`, is: isShuffled, ends: noData, hit: "prf_{36}", miss: "prf_{6}", from: "shape seen in betterleaks"},
	{name: "launchdarkly-key", after: "rel-", begins: true, shape: `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, ends: noName, hit: "rel-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "rel-{x8}", from: "launchdarkly.com/docs: keys"},
	{name: "launchdarkly-key", after: "mob-", begins: true, shape: `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, ends: noName, hit: "mob-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "mob-{x8}", from: "launchdarkly.com/docs: keys"},
	{name: "api-key", after: "key_", begins: true, shape: `[0-9a-f]{28,}`, is: mixedCheck(2.5), ends: noName, hit: "key_{x64}", miss: "key_{6}", from: "docs.cursor.com: API keys"},
	{name: "mailgun-key", after: "key-", begins: true, shape: `[0-9a-f]{32}`, is: mixedCheck(2), ends: noName, hit: "key-{x32}", miss: "key-{x8}", from: "documentation.mailgun.com: API keys"},
	{name: "vercel-blob-token", after: "vercel_blob_rw_", begins: true, shape: `\w{30,}`, hit: "vercel_blob_rw_{47}", miss: "vercel_blob_rw_token", from: "vercel.com/docs: Blob tokens"},
	{name: "openshift-token", after: "sha256~", begins: true, shape: `[\w-]{43}`, hit: "sha256~{43}", miss: "sha256~{12}", from: "docs.openshift.com: OAuth tokens"},
	{name: "endor-key", after: "endr+", begins: true, shape: `[A-Za-z0-9-]{16}`, hit: "endr+{16}", miss: "endr+{6}", from: "shape seen in betterleaks"},
	{name: "shippo-token", after: "shippo_live_", begins: true, shape: `[0-9a-fA-F]{40}`, hit: "shippo_live_{x40}", miss: "shippo_live_{x8}", from: "docs.goshippo.com: authentication"},
	{name: "shippo-token", after: "shippo_test_", begins: true, shape: `[0-9a-fA-F]{40}`, hit: "shippo_test_{x40}", miss: "shippo_test_{x8}", from: "docs.goshippo.com: authentication"},
	{name: "cal-key", after: "cal_", begins: true, shape: `[0-9a-f]{32}`, is: mixedCheck(3), ends: noName, hit: "cal_{x32}", miss: "cal_{6}", from: "cal.com/docs: API keys"},
	{name: "incident-io-key", after: "inc_live_", begins: true, shape: `[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "inc_live_{x64}", miss: "inc_live_{6}", from: "api-docs.incident.io: API keys"},
	{name: "incident-io-key", after: "inc_test_", begins: true, shape: `[A-Za-z0-9]{32,}`, is: mixedCheck(3), hit: "inc_test_{x64}", miss: "inc_test_{6}", from: "api-docs.incident.io: API keys"},
	{name: "tiktok-token", after: "act.", begins: true, shape: `[A-Za-z0-9]{40,80}![0-9]{4}\.[a-z]{2}`, hit: "act.{60}!{d4}.va", miss: "act.{6}", from: "developers.tiktok.com: access tokens"},
	{name: "depot-token", after: "depot", rests: []string{"_org_", "_project_", "_user_"}, begins: true, shape: `[0-9a-f]{60,}`, hit: "depot_org_{x64}", miss: "depot_org_{x6}", from: "depot.dev/docs: authentication"},
	{name: "trufflehog-key", after: "thog", rests: []string{"-key-", "-secret-"}, begins: true, shape: `[0-9a-f]{16,}`, is: mixedCheck(2.5), hit: "thog-secret-{x32}", miss: "thog-key-{x6}", from: "shape seen in trufflehog"},
	{name: "make-webhook", after: "hook.", rests: []string{"eu1.make.com/", "eu2.make.com/", "us1.make.com/", "us2.make.com/", "integromat.com/"}, begins: true, shape: `[a-z0-9]{28,}`, is: mixedCheck(3), hit: "https://hook.eu1.make.com/{b32}", miss: "https://hook.eu1.make.com/help", from: "make.com/en/help: webhooks"},
	{name: "ping-url", after: "hc-p", rests: []string{"ing.com/"}, begins: true, shape: `[0-9a-f]{8}-[0-9a-f-]{27}`, hit: "https://hc-ping.com/{x8}-{x4}-{x4}-{x4}-{x12}", miss: "https://hc-ping.com/{x8}", from: "healthchecks.io/docs: pinging API"},
	{name: "plaid-token", after: "ess-s", rests: []string{"andbox-"}, shape: `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, hit: "access-sandbox-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "access-sandbox-{x8}", from: "plaid.com/docs: access tokens"},
	{name: "plaid-token", after: "ess-d", rests: []string{"evelopment-"}, shape: `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, hit: "access-development-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "access-development-{x8}", from: "plaid.com/docs: access tokens"},
	{name: "plaid-token", after: "access-production-", shape: `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, hit: "access-production-{x8}-{x4}-{x4}-{x4}-{x12}", miss: "access-production-{x8}", from: "plaid.com/docs: access tokens"},
	{name: "secret", after: "<<< ", expects: looseQuote, where: onLine("stdin", "login", "secret", "token", "PASS", "passw", "pass ", "env add", "kinit", "crypt", "KEY", "TOKEN", "SECRET"), shape: loose + `{8,}`, fit: wordLen, is: isUnlikely, hit: "docker login --password-stdin <<< {32}", miss: "cat <<< Aa1Bb2Cc3Dd4Ee5Ff6;", from: "docs.docker.com: docker login"},
	{name: "blockfrost-key", after: "mainnet", begins: true, shape: `[A-Za-z0-9]{32}`, is: isShuffled, ends: noName, hit: "mainnet{32}", miss: "mainnet{6}", from: "docs.blockfrost.io: authentication"},
	{name: "imagekit-key", after: "private_", begins: true, shape: `[A-Za-z0-9+/]{27}=`, is: isShuffled, hit: "private_{27}=", miss: "private_{6}", from: "imagekit.io/docs: API keys"},
	{name: "plain-key", after: "plainApiKey_", begins: true, shape: `[A-Za-z0-9_]{40,}`, is: mixedCheck(3), hit: "plainApiKey_{64}", miss: "plainApiKey_{6}", from: "plain.com/docs: API keys"},
	{name: "appwrite-key", after: "standard_", begins: true, shape: `[0-9a-f]{128,}`, hit: "standard_{x256}", miss: "standard_{x6}", from: "appwrite.io/docs: API keys"},
	{name: "dash0-token", after: "auth_", begins: true, shape: `[A-Za-z0-9]{32,}`, is: isScattered, ends: noName, hit: "auth_{32}", miss: "auth_{6}", from: "dash0.com/documentation: auth tokens"},
	{name: "app-key", after: "base64:", begins: true, shape: `[A-Za-z0-9+/]{43}=`, is: isShuffled, ends: noData, hit: "base64:{43}=", miss: "base64:{6}", from: "laravel.com/docs: encryption"},
	{name: "tableau-token", after: "==:", where: isAfterBase64(22), shape: `[A-Za-z0-9]{32}`, is: isMixedOrShuffled, ends: noName, hit: "{22}==:{32}", miss: "{6}==:{32}", from: "shape seen in betterleaks"},
	{name: "webhook", after: "/hooks/", where: isChatHook, shape: `[A-Za-z0-9/]{26,}`, is: isUnlikely, ends: noName, hit: "https://chat.example/hooks/{61}", miss: "https://app.example/src/hooks/useInfiniteQueryWithParams2", from: "developers.mattermost.com: incoming webhooks"},
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
	{name: "password", after: " password ", shape: loose + `{8,}`, where: isNetrcLine, fit: wordLen, is: isRandomPassword, hit: "machine h.example login u password {16}", miss: "the password must-be-at-least-8-characters-long", from: "gnu.org: .netrc"},
	{name: "userinfo", after: " -u ", expects: looseValue, shape: `[\w.@-]{0,60}:` + word + `{8,}`, is: afterColon, hit: "curl -u \"admin:{16}\" https://h.example", miss: "sort -u names:of-all-the-things", from: "curl.se: man page"},
	{name: "userinfo", after: " --user ", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl --user 'admin:{16}' https://h.example", miss: "--user 1000:1000", from: "curl.se: man page"},
	{name: "userinfo", after: " --user=", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl --user=admin:{16} https://h.example", miss: "--user=1000:1000", from: "curl.se: man page"},
	{name: "userinfo", after: " -U ", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl -U proxy:{16} https://h.example", miss: "psql -U postgres:of-all", from: "curl.se: man page"},
	{name: "token", after: " -a ", where: onLine("-A bearer"), expects: looseValue, shape: word + `{8,}`, is: isUnlikely, hit: "xh -A bearer -a {24} h.example", miss: "xh -A bearer -a internationalization", from: "httpie.io/docs: authentication"},
	{name: "userinfo", after: " -a ", where: commandOf("http ", "xh "), expects: looseValue, shape: `[\w.@-]+:` + word + `{8,}`, is: afterColon, hit: "http -a admin:{16} h.example", miss: "ls -a names:of-all-the-things", from: "httpie.io/docs: authentication"},
	{name: "secret", after: " --body ", expects: looseValue, where: isSetCommand, shape: word + `{8,}`, is: looksRandom, hit: "gh secret set API_KEY --body {24}", miss: "gh issue create --body Aa1Bb2Cc3Dd4Ee5", from: "cli.github.com: gh secret set"},
	{name: "secret", after: " -b ", expects: looseValue, where: isSetCommand, shape: word + `{8,}`, is: looksRandom, hit: "gh secret set API_KEY -b {24}", miss: "gh issue create -b Aa1Bb2Cc3Dd4Ee5", from: "cli.github.com: gh secret set"},
	{name: "password", after: " /p:", expects: looseQuote, where: isRemoteDesktop, shape: word + `{8,}`, is: looksPassword, hit: "xfreerdp /u:app /p:{16} /v:h.example", miss: "msbuild /p:Aa1Bb2Cc3Dd4Ee5", from: "man xfreerdp"},
	{name: "userinfo", after: " /user:", where: isNetUse, shape: "[^\\x00-\\x20\"'`<>]+ " + word + `{8,}`, is: afterSpace, hit: "net use z: //h/s /user:app {16}", miss: "net use z: //h/s /user:app persistent", from: "learn.microsoft.com: net use"},
	{name: "password", after: "AUTH default ", where: isRedisPrompt, shape: word + `{8,}`, is: isRandomPassword, hit: "127.0.0.1:6379> AUTH default {16}", miss: "the command AUTH default Aa1Bb2Cc3Dd4Ee5", from: "redis.io/docs: AUTH"},
	{name: "password", after: "AUTH ", where: isRedisPrompt, shape: word + `{8,}`, is: isRandomPassword, hit: "127.0.0.1:6379> AUTH {16}", miss: "the command AUTH Aa1Bb2Cc3Dd4Ee5", from: "redis.io/docs: AUTH"},
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
	{name: "password", after: "*:*:", where: startsLine, shape: `[\w*-]{1,62}:[\w-]{1,62}:` + word + `{8,}`, is: isPgpassRest, hit: "*:*:*:app:{16}", miss: "*:*:*:app:internationalization", from: "postgresql.org/docs: password file"},
	{name: "secret", after: "\"stringDa", rests: []string{"ta\":{", "ta\": {"}, expects: mapEntries, shape: word + `{8,}`, is: isUnlikely, hit: "see: '{\"stringData\":{\"a\":\"{32}\"}}'", miss: "see: '{\"stringDate\":{\"a\":\"Aa1Bb2Cc3Dd4Ee5Ff6\"}}'", from: "kubernetes.io/docs: Secrets"},
	{name: "ldap-hash", after: "{SHA}", shape: `[A-Za-z0-9+/]{27}=`, is: mixedCheck(3), hit: "bob:{SHA}{27}=", miss: "{SHA}{8}", from: "httpd.apache.org/docs: password formats"},
	{name: "password", after: "]:46", rests: []string{"5 "}, shape: `[\w.@+-]{1,60}:` + loose + `{8,}`, fit: wordLen, is: afterColon, hit: "[smtp.example]:465 bob:{24}", miss: "[smtp.example]:465 bob:of-the-office", from: "postfix.org: SASL"},
	{name: "password", after: "]:58", rests: []string{"7 "}, shape: `[\w.@+-]{1,60}:` + loose + `{8,}`, fit: wordLen, is: afterColon, hit: "[smtp.example]:587 bob:{24}", miss: "[smtp.example]:587 bob:of-the-office", from: "postfix.org: SASL"},
	{name: "token", after: "TF_TOKEN_", shape: `\w{2,60}=["']{0,1}` + loose + `{8,}`, fit: wordLen, is: afterEquals, hit: "export TF_TOKEN_app_terraform_io={40}", miss: "export TF_TOKEN_app_terraform_io=$TOKEN_OF_2", from: "developer.hashicorp.com/terraform: CLI configuration"},
	{name: "password", after: "sqlplus ", begins: true, shape: `\w{1,30}/[^\x00-\x20"'@\\]{8,}`, is: afterSlash, hit: "sqlplus scott/{16}@orcl", miss: "sqlplus scripts/of_all_the_tables.sql", from: "docs.oracle.com: SQL*Plus"},
	{name: "private_key", after: "client-k", rests: []string{"ey-data: "}, shape: `[A-Za-z0-9+/]{40,}={0,2}`, hit: "    client-key-data: {x120}=", miss: "client-key-data: none", from: "kubernetes.io/docs: kubeconfig"},
	{name: "bearer", after: "bear", rests: []string{"er."}, where: onLine("ebSocket-Protocol", "ebsocket-protocol"), shape: bearing + `{16,}`, is: maybeCredential, hit: "Sec-WebSocket-Protocol: a, bearer.{40}", miss: "the protocol bearer.{40}", from: "shape seen in clients"},
	{name: "secret", after: " or \"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = get('A') or \"{32}\"", miss: "name = get('A') or \"Aa1Bb2Cc3Dd4Ee5\";", from: "shape seen in programs"},
	{name: "secret", after: " or '", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = get('A') or '{32}'", miss: "name = get('A') or 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "byte(\"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "secretKey = []byte(\"{32}\")", miss: "name = []byte(\"Aa1Bb2Cc3Dd4Ee5\")", from: "shape seen in programs"},
	{name: "secret", after: ": chr \"", where: isNamedString, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: " $ password: chr \"{24}\"", miss: " $ name: chr \"Aa1Bb2Cc3Dd4Ee5\";", from: "shape seen in terminals"},
	{name: "secret", after: "Some(\n", where: isWrapped, expects: looseValue, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "    token: Some(\n        \"{32}\",", miss: "    name: Some(\n        \"Aa1Bb2Cc3Dd4Ee5\",", from: "shape seen in terminals"},
	{name: "secret", after: "secrets:\n", begins: true, expects: mapEntries, shape: loose + `{8,}`, fit: wordLen, is: isUnlikely, hit: "secrets:\n  db: {24}\n", miss: "secrets:\n  db: internationalization\nname: Aa1Bb2Cc3Dd4Ee5\n", from: "shape seen in files"},
	{name: "secret", after: "asswords:\n", expects: mapEntries, shape: loose + `{8,}`, fit: wordLen, is: isUnlikely, hit: "passwords:\n  root: {24}\n", miss: "passwords:\n  root: internationalization\nname: Aa1Bb2Cc3Dd4Ee5\n", from: "shape seen in files"},
	{name: "ldap-hash", after: "{SSHA}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA}{38}==", miss: "{SSHA}{8}", from: "openldap.org: password storage"},
	{name: "ldap-hash", after: "{SSHA256}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA256}{38}==", miss: "{SSHA256}{8}", from: "openldap.org: password storage"},
	{name: "ldap-hash", after: "{SSHA512}", shape: `[A-Za-z0-9+/=]{24,}`, is: mixedCheck(3), hit: "the hash {SSHA512}{38}==", miss: "{SSHA512}{8}", from: "openldap.org: password storage"},
	{name: "terraform-token", after: ".atlasv1.", shape: `[\w=-]{60,70}`, is: mixedCheck(3), hit: "{14}.atlasv1.{67}", miss: "{14}.atlasv1.{9}", from: "developer.hashicorp.com/terraform: API tokens"},
	{name: "discord-webhook", after: "discord.com/api/webhooks/", shape: `[0-9]{17,20}/[\w-]{60,}`, is: isVaried, hit: "https://discord.com/api/webhooks/{d18}/{68}", miss: "https://discord.com/api/webhooks/{d18}/slack", from: "discord.com/developers: webhooks"},
	{name: "discord-webhook", after: "discordapp.com/api/webhooks/", shape: `[0-9]{17,20}/[\w-]{60,}`, is: isVaried, hit: "https://discordapp.com/api/webhooks/{d18}/{68}", miss: "https://discordapp.com/api/webhooks/{d18}/slack", from: "discord.com/developers: webhooks"},
	{name: "teams-webhook", after: "webhook.office.com/webhookb2/", shape: `[\w@/-]{60,}`, is: isVaried, hit: "https://a.webhook.office.com/webhookb2/{x8}-{x4}-{x4}-{x4}-{x12}@{x8}-{x4}-{x4}-{x4}-{x12}/IncomingWebhook/{x32}/{x36}", miss: "https://a.webhook.office.com/webhookb2/new", from: "learn.microsoft.com: incoming webhooks"},
	{name: "signature", after: "Signature=", shape: `[\w+/=~-]{20,}`, is: mixedCheck(3), hit: "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={x64}", miss: "Signature={x12}", from: "docs.aws.amazon.com: signed requests"},
	{name: "token", after: " --token ", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --token {24}", miss: "login --token from-the-environment", from: "shape seen in command lines"},
	{name: "password", after: " --password ", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --password {16}", miss: "login --password from-the-environment", from: "shape seen in command lines"},
	{name: "api_key", after: " --api-key ", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --api-key {24}", miss: "login --api-key from-the-environment", from: "shape seen in command lines"},
	{name: "token", after: "-token ", expects: looseValue, where: isFlag, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --my-token {24}", miss: "a-token Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "-secret ", expects: looseValue, where: isFlag, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --my-secret {24}", miss: "a-secret Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "key", after: "-key ", expects: looseValue, where: isFlag, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --my-key {24}", miss: "a-key Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "passphrase", after: "-passphrase ", expects: looseValue, where: isFlag, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --passphrase {24}", miss: "a-passphrase Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "-password ", expects: looseValue, where: isFlag, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "login --my-password {24}", miss: "a-password Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "key", after: "KEY ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_KEY {24}", miss: "echo MY_KEY Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "token", after: "TOKEN ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_TOKEN {24}", miss: "echo MY_TOKEN Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "SECRET ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_SECRET {24}", miss: "echo MY_SECRET Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "PASSWORD ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_PASSWORD {24}", miss: "echo MY_PASSWORD Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret_access_key", after: "access_key ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_access_key {24}", miss: "echo MY_access_key Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "string = ", expects: looseValue, where: isTypedSecret, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "let apiKey: string = \"{32}\"", miss: "let apiName: string = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "String = ", expects: looseValue, where: isTypedSecret, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "let apiKey: String = \"{32}\"", miss: "let apiName: String = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "str = ", expects: looseValue, where: isTypedSecret, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "let apiKey: str = \"{32}\"", miss: "let apiName: str = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "Final = ", expects: looseValue, where: isTypedSecret, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "let apiKey: Final = \"{32}\"", miss: "let apiName: Final = 'Aa1Bb2Cc3Dd4Ee5'", from: "shape seen in programs"},
	{name: "secret", after: "SecretStr(", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "x=SecretStr('{32}')", miss: "x=SecretStr('of-all-the-things')", from: "docs.pydantic.dev: secret types"},
	{name: "secret", after: "<![CDATA[", where: isSecretElement, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "<apiKey><![CDATA[{32}]]></apiKey>", miss: "<name><![CDATA[Aa1Bb2Cc3Dd4Ee5]]></name>", from: "w3.org/TR: XML"},
	{name: "secret", after: "<string>", where: isSecretPlistKey, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "<key>ApiKey</key>\n<string>{32}</string>", miss: "<key>Name</key>\n<string>Aa1Bb2Cc3Dd4Ee5</string>", from: "developer.apple.com: property lists"},
	{name: "openai-insecure-api-key", after: "insecure-api-key.", shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "the protocol openai-insecure-api-key.{40}", miss: "openai-insecure-api-key.of-all", from: "platform.openai.com: Realtime API"},
	{name: "api_key", after: "key provided: ", shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "Incorrect API key provided: {32}. Look", miss: "Incorrect API key provided: none-at-all", from: "platform.openai.com: error codes"},
	{name: "password", after: "password is ", expects: spokenValue, shape: loose + `{8,}`, fit: wordLen, is: isRandomPassword, hit: "the password is {20}, he said", miss: "the password is case-sensitive", from: "shape seen in traffic"},
	{name: "password", after: "requirepass ", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: looksPassword, hit: "requirepass {24}", miss: "requirepass internationalization", from: "redis.io/docs: configuration"},
	{name: "password", after: "masterauth ", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: looksPassword, hit: "masterauth {24}", miss: "masterauth internationalization", from: "redis.io/docs: configuration"},
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
	{name: "token", after: " login ", expects: looseValue, shape: loose + `{8,}`, fit: wordLen, is: isLoginWord, hit: "vault login {26}", miss: "docker login registry-1.docker.example", from: "shape seen in command lines"},
	{name: "token", after: "init -t ", expects: looseValue, shape: visible + `{16,}`, fit: lenWithoutFullStop, is: isSpoken, hit: "doctl auth init -t {64}", miss: "init -t of-all-the-things-here", from: "docs.digitalocean.com: doctl"},
	{name: "password", after: " -p=", expects: looseQuote, where: onLine("az login", "docker login"), shape: word + `{8,}`, is: looksPassword, hit: "az login -u a -p={24}", miss: "make -p=Aa1Bb2Cc3Dd4Ee5", from: "learn.microsoft.com: az login"},
	{name: "password", after: " -p ", expects: looseValue, where: commandOf("twine ", "useradd ", "usermod "), shape: word + `{8,}`, is: looksPassword, hit: "twine upload -u __token__ -p {24}", miss: "twine upload -p internationalization", from: "twine.readthedocs.io"},
	{name: "secret", after: " --value ", expects: looseValue, where: onLine("secret ", "SecureString"), shape: word + `{8,}`, is: isRandomPassword, hit: "az keyvault secret set --vault-name v -n x --value {24}", miss: "az tag set --value Aa1Bb2Cc3Dd4Ee5", from: "learn.microsoft.com: az keyvault"},
	{name: "userinfo", after: " --proxy-user ", expects: looseValue, shape: `[\w.@/-]+[:%]` + word + `{8,}`, is: afterColon, hit: "curl --proxy-user u:{20} h", miss: "curl --proxy-user u:of-all-the", from: "curl.se/docs/manpage.html"},
	{name: "userinfo", after: "curl -u", shape: `[\w.@-]{0,40}:` + word + `{8,}`, is: afterColon, hit: "curl -uuser:{20} h", miss: "curl -uuser:of-all-the", from: "curl.se/docs/manpage.html"},
	{name: "secret", after: "echo ", expects: looseQuote, shape: word + "{12,}[\"']{0,1} {0,1}[|>]{1,2} {0,1}[^\\x00-\\x1f\\x7f]{2,40}", fit: lenBeforeSink, is: isUnlikely, hit: "echo {32} | docker login --password-stdin", miss: "echo Aa1Bb2Cc3Dd4Ee5Ff6 | wc -c of all", from: "shape seen in command lines"},
	{name: "secret", after: "echo -n ", expects: looseQuote, shape: word + "{12,}[\"']{0,1} {0,1}[|>]{1,2} {0,1}[^\\x00-\\x1f\\x7f]{2,40}", fit: lenBeforeSink, is: isUnlikely, hit: "echo -n {32} | docker login --password-stdin", miss: "echo -n Aa1Bb2Cc3Dd4Ee5Ff6 | wc -c of all", from: "shape seen in command lines"},
	{name: "secret", after: "printf ", expects: looseQuote, shape: word + "{12,}[\"']{0,1} {0,1}[|>]{1,2} {0,1}[^\\x00-\\x1f\\x7f]{2,40}", fit: lenBeforeSink, is: isUnlikely, hit: "printf {32} | docker login --password-stdin", miss: "printf Aa1Bb2Cc3Dd4Ee5Ff6 | wc -c of all", from: "shape seen in command lines"},
	{name: "secret", after: "printf %s ", expects: looseQuote, shape: word + "{12,}[\"']{0,1} {0,1}[|>]{1,2} {0,1}[^\\x00-\\x1f\\x7f]{2,40}", fit: lenBeforeSink, is: isUnlikely, hit: "printf %s {32} | docker login --password-stdin", miss: "printf %s Aa1Bb2Cc3Dd4Ee5Ff6 | wc -c of all", from: "shape seen in command lines"},
	{name: "secret", after: "printf '%s' ", expects: looseQuote, shape: word + "{12,}[\"']{0,1} {0,1}[|>]{1,2} {0,1}[^\\x00-\\x1f\\x7f]{2,40}", fit: lenBeforeSink, is: isUnlikely, hit: "printf '%s' {32} | docker login --password-stdin", miss: "printf '%s' Aa1Bb2Cc3Dd4Ee5Ff6 | wc -c of all", from: "shape seen in command lines"},
	{name: "password", after: "PASS ", where: isLoginLine, shape: `[^\x00-\x20]{8,}`, is: isUnlikely, hit: "PASS {16}\r\n", miss: "PASS internationalization", from: "RFC 5034"},
	{name: "password", after: " LOGIN ", where: isImapLine, shape: "[\"]{0,1}[\\w.@-]{1,60}[\"]{0,1} [\"]{0,1}[^\\x00-\\x20\"]{8,}", is: isSpokenAfter(" "), hit: "a1 LOGIN bob {16}\r\n", miss: "a1 LOGIN bob internationalization", from: "RFC 3501"},
	{name: "basic", after: "AUTH PLAIN ", shape: `[A-Za-z0-9+/]{16,}={0,2}`, is: isUnlikely, hit: "AUTH PLAIN {32}", miss: "AUTH PLAIN internationalization", from: "RFC 4954"},
	{name: "password", after: "UGFzc3dvcmQ6\n", shape: `[A-Za-z0-9+/]{8,}={0,2}`, hit: "334 UGFzc3dvcmQ6\n{32}\n", miss: "334 UGFzc3dvcmQ6\n235 ok", from: "RFC 4954"},
	{name: "password", after: "UGFzc3dvcmQ6\r\n", shape: `[A-Za-z0-9+/]{8,}={0,2}`, hit: "334 UGFzc3dvcmQ6\r\n{32}\r\n", miss: "334 UGFzc3dvcmQ6\r\n235 ok", from: "RFC 4954"},
	{name: "password", after: ";P:", where: onLine("WIFI:"), shape: `[^;\x00-\x20]{8,}`, hit: "WIFI:T:WPA;S:home;P:{16};;", miss: "A:B;C:D;P:{16};", from: "shape seen in QR codes"},
	{name: "userinfo", after: "basicauth.users=", shape: `[\w.@-]{1,40}:` + word + `{8,}`, is: afterColon, hit: "traefik.http.middlewares.a.basicauth.users=bob:{24}", miss: "basicauth.users=bob:of-all-the", from: "doc.traefik.io: BasicAuth"},
	{name: "preshared_key", after: ": PSK ", expects: looseQuote, shape: word + `{8,}`, is: isUnlikely, hit: "h : PSK \"{24}\"", miss: "h : PSK internationalization", from: "man ipsec.secrets"},
	{name: "password", after: ": EAP ", expects: looseQuote, shape: word + `{8,}`, is: isUnlikely, hit: "bob : EAP \"{24}\"", miss: "h : EAP internationalization", from: "man ipsec.secrets"},
	{name: "secret", after: "otpauth-migration://offline?data=", shape: visible + `{16,}`, hit: "otpauth-migration://offline?data={60}", miss: "otpauth-migration://offline?data=none", from: "shape seen in QR codes"},
	{name: "userinfo", after: " -E ", where: onLine("curl "), shape: `[\w./-]{1,60}:` + word + `{8,}`, is: afterColon, hit: "curl -E c.pem:{16} https://h", miss: "curl -E c.pem:of-all-the-things", from: "curl.se/docs/manpage.html"},
	{name: "userinfo", after: "USERPWD, ", expects: looseQuote, shape: `[\w.@-]{0,60}:` + word + `{8,}`, is: afterColon, hit: "curl_setopt($c, CURLOPT_USERPWD, 'u:{16}')", miss: "setopt(CURLOPT_USERPWD, 'u:internationalization')", from: "curl.se: options"},
	{name: "secret", after: "reset-password/", shape: `[\w-]{16,}`, is: isUnlikely, hit: "https://h.example/reset-password/{32}", miss: "src/reset-password/ResetPasswordForm", from: "shape seen in links"},
	{name: "secret", after: "password-reset/", shape: `[\w-]{16,}`, is: isUnlikely, hit: "https://h.example/password-reset/{32}", miss: "src/password-reset/ResetPasswordForm", from: "shape seen in links"},
	{name: "secret", after: "password/reset/", shape: `[\w-]{16,}`, is: isUnlikely, hit: "https://h.example/password/reset/{32}", miss: "src/password/reset/ResetPasswordForm", from: "shape seen in links"},
	{name: "secret", after: "verify-email/", shape: `[\w-]{16,}`, is: isUnlikely, hit: "https://h.example/verify-email/{32}", miss: "src/verify-email/VerifyEmailForm", from: "shape seen in links"},
	{name: "secret", after: "magic-link/", shape: `[\w-]{16,}`, is: isUnlikely, hit: "https://h.example/magic-link/{32}", miss: "src/magic-link/MagicLinkFormOfAll", from: "shape seen in links"},
	{name: "password", after: "PASS ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_PASS {24}", miss: "echo MY_PASS Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "_PW ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_PW {24}", miss: "echo MY_PW Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "PASSWD ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_PASSWD {24}", miss: "echo MY_PASSWD Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "PWD ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_PWD {24}", miss: "echo MY_PWD Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "_DSN ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_DSN {24}", miss: "echo MY_DSN Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "password", after: "_PAT ", expects: looseValue, where: isSetCommand, shape: loose + `{8,}`, fit: wordLen, is: looksRandom, hit: "setenv MY_PAT {24}", miss: "echo MY_PAT Aa1Bb2Cc3Dd4Ee5", from: "shape seen in command lines"},
	{name: "secret", after: "stripe\")(", expects: arguments, shape: argumentValue, is: isUnlikely, hit: "require(\"stripe\")(\"a\", \"{32}\")", miss: "require(\"stripe\")(\"internationalization\")", from: "shape seen in programs"},
	{name: "secret", after: "stripe')(", expects: arguments, shape: argumentValue, is: isUnlikely, hit: "require('stripe')('a', '{32}')", miss: "require('stripe')('internationalization')", from: "shape seen in programs"},
	{name: "code", after: "code=", where: startsForm, shape: visible + `{8,}&[\w.]{2,30}=`, fit: lenBeforeAmpersand, is: looksRandom, hit: "code={40}&grant_type=authorization_code", miss: "code={40} of the program", from: "RFC 6749"},
	{name: "assertion", after: "assertion=", where: startsForm, shape: visible + `{8,}&[\w.]{1,30}=`, fit: lenBeforeAmpersand, is: looksRandom, hit: "assertion={40}&grant_type=a", miss: "assertion={40} of the program", from: "RFC 7523"},
	{name: "secret", after: "ata:\n", where: isSecretMap, expects: mapEntries, shape: word + `{8,}`, is: isUnlikely, hit: "apiVersion: v1\ndata:\n  a: {32}\nkind: Secret\n", miss: "apiVersion: v2\ndata:\n  a: Aa1Bb2Cc3Dd4Ee5Ff6\n", from: "kubernetes.io/docs: Secrets"},
	{name: "secret", after: "\"v1\",", rests: []string{"\"data\":{", "\n    \"data\": {", "\n  \"data\": {"}, expects: mapEntries, shape: word + `{8,}`, is: isUnlikely, hit: "see: '{\"apiVersion\":\"v1\",\"data\":{\"a\":\"{32}\"}}", miss: "see: {\"apiVersion\":\"v2\",\"data\":{\"a\":\"Aa1Bb2Cc3Dd4Ee5Ff6\"}}", from: "kubernetes.io/docs: Secrets"},
	{name: "secret", after: "tring(\"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = new String(\"{32}\"", miss: "name = new String(\"Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "tring('", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = new String('{32}'", miss: "name = new String('Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "rom(\"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = String::from(\"{32}\"", miss: "name = String::from(\"Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "rom('", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = String::from('{32}'", miss: "name = String::from('Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "|| \"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = env.A || \"{32}\"", miss: "name = env.A || \"Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "|| '", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = env.A || '{32}'", miss: "name = env.A || 'Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "?? \"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = env.A ?? \"{32}\"", miss: "name = env.A ?? \"Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "?? '", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = env.A ?? '{32}'", miss: "name = env.A ?? 'Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: ", default=\"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = env(\"A\", default=\"{32}\"", miss: "name = env(\"A\", default=\"Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: ", default='", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = env('A', default='{32}'", miss: "name = env('A', default='Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "ypt(\"", where: isAssigned, shape: inQuotes, ends: isDoubleQuote, is: inLine(isUnlikely), hit: "token = crypt(\"{32}\"", miss: "name = crypt(\"Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "secret", after: "ypt('", where: isAssigned, shape: inSingle, ends: isQuote, is: inLine(isUnlikely), hit: "token = crypt('{32}'", miss: "name = crypt('Aa1Bb2Cc3Dd4Ee5;", from: "shape seen in programs"},
	{name: "password", after: " on >", where: onLine("SETUSER ", "user "), shape: word + `{8,}`, is: isRandomPassword, hit: "ACL SETUSER u on >{20} ~*", miss: "ACL SETUSER u on >internationalization", from: "redis.io/docs: ACL"},
	{name: "password", after: " -k ", expects: looseValue, where: onLine("openssl "), shape: word + `{8,}`, is: isRandomPassword, hit: "openssl enc -k {20} -in a", miss: "curl -k Aa1Bb2Cc3Dd4Ee5", from: "docs.openssl.org: enc"},
	{name: "password", after: "' = '", where: onLine("SET PASSWORD "), shape: sqlText, ends: isQuote, is: looksPassword, hit: "SET PASSWORD FOR 'u'@'h' = '{16}';", miss: "WHERE 'a' = 'Aa1Bb2Cc3Dd4Ee5'", from: "dev.mysql.com: SET PASSWORD"},
	{name: "unseal-key", after: "Unseal Key ", shape: `[0-9]: [\w+/=&!#?-]{14,}`, is: isSpokenRest, hit: "Unseal Key 1: {44}", miss: "Unseal Key 1: of-all", from: "developer.hashicorp.com/vault: operator init"},
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
	{name: "api-key", after: "_key_", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme_key_{40}", miss: "acme_key_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_token_", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme_token_{40}", miss: "acme_token_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_tok_", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme_tok_{40}", miss: "acme_tok_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_sec_", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme_sec_{40}", miss: "acme_sec_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "-key-", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme-key-{40}", miss: "acme-key-of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "_api_", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme_api_{40}", miss: "acme_api_of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "-api-", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme-api-{40}", miss: "acme-api-of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
	{name: "api-key", after: "-pat-", shape: `[\w-]{24,}`, where: isSecretPrefix, is: isScatteredRun, hit: "acme-pat-{40}", miss: "acme-pat-of_the_2nd_configuration", from: "shape seen in keys of many vendors"},
})

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

// isAfterBase64 returns a function that requires n characters of base64 before two equals signs and a colon.
func isAfterBase64(n int) func(tail []byte) bool {
	return func(tail []byte) bool { return countTrailing(bytes.TrimRight(tail, "=:"), inBase64) == n }
}

var inBase64 = classOf("+/", "az", "AZ", "09")

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
var setCommands = []string{"setenv ", "SetEnv ", "set -", "ENV ", "setx ", "setx /M ", "configure set ", "secret set "}

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

// isChatHook reports whether a URL for webhooks is not that of Zapier, which has a rule of its own.
func isChatHook(tail []byte) bool { return !bytes.HasSuffix(tail, []byte("zapier.com/hooks/")) }

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
var wrappers = []string{`Some("`, `Field(default="`, "Some(\n"}

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

// isNamedString reports whether a text ends with the name of a credential and the type of its value.
func isNamedString(tail []byte) bool {
	name := bytes.TrimSuffix(tail, []byte(": chr \""))
	name = bytes.TrimRight(name, " ")
	_, ok := credentialName(name[len(name)-countTrailing(name, inName):], inText)
	return ok
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

// isLoginWord requires a random value with digits, which has the signs of a password if it is short.
func isLoginWord(text []byte) bool {
	return isSpoken(text) && (len(text) >= 16 || bytes.ContainsAny(text, passwordSigns))
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

// sinks are words of a command that reads a credential, or of a file for one.
var sinks = strings.Fields("login passw token secret credential -stdin cred key auth kinit crypt sudo base64 htpasswd pass env wrangler vault npx")

// lenBeforeSink returns the length of a text before a quote or a sign of the shell, and 0 if the command or the file
// after it has none of sinks in its name.
func lenBeforeSink(text []byte) int {
	n := bytes.IndexAny(text, "\"'| >")
	after := bytes.ToLower(text[n:])
	if !slices.ContainsFunc(sinks, func(w string) bool { return bytes.Contains(after, []byte(w)) }) {
		return 0
	}
	return n
}

// isSpokenAfter returns a check that requires a random value after the last of some signs, if there is one.
func isSpokenAfter(signs string) secretCheck {
	return func(text []byte) bool { return isUnlikely(text[bytes.LastIndexAny(text, signs)+1:]) }
}

// startsForm requires that the name of a parameter begins a text, a line or a literal.
func startsForm(tail []byte) bool {
	before := tail[:len(tail)-1-countTrailing(tail[:len(tail)-1], inName)]
	name := string(tail[len(before):])
	return (name == "code=" || name == "assertion=") && (len(before) == 0 || strings.IndexByte("\n\"'", before[len(before)-1]) >= 0)
}

func lenBeforeAmpersand(text []byte) int { return bytes.IndexByte(text, '&') }

// isAssigned reports whether the last line of a text assigns an expression that has begun to the name of a credential.
func isAssigned(tail []byte) bool {
	line := lastLine(tail)
	for i, c := range line {
		if c == '=' || c == ':' {
			name := bytes.TrimRight(line[:i], " \"'`]:=")
			if _, ok := credentialName(name[len(name)-countTrailing(name, inName):], inText); ok {
				return true
			}
		}
	}
	return false
}

// startsLine reports whether the last four characters begin a line, a literal or a text.
func startsLine(tail []byte) bool {
	before := tail[:len(tail)-4]
	return len(before) == 0 || strings.IndexByte("\n\"'`", before[len(before)-1]) >= 0
}

// isLoginPair requires a name, a sign and a random value.
func isLoginPair(text []byte) bool {
	n := bytes.IndexAny(text, "/:, ")
	return n > 0 && isUnlikely(bytes.TrimLeft(text[n:], "/:, ")) && !bytes.HasPrefix(text[n:], []byte("://")) || n < 0 && isUnlikely(text)
}

// isLoginLine requires that the command begins a line.
func isLoginLine(tail []byte) bool {
	line := bytes.TrimLeft(lastLine(tail), "> C:")
	return bytes.Equal(line, []byte("PASS ")) && (len(line) < len(tail) || len(tail) == len("PASS "))
}

// isImapLine requires a short tag at the beginning of the line.
func isImapLine(tail []byte) bool {
	line := bytes.TrimSuffix(lastLine(tail), []byte(" LOGIN "))
	line = line[bytes.LastIndexByte(line, '"')+1:]
	return len(line) > 0 && len(line) < 12 && countTrailing(line, inName) == len(bytes.TrimPrefix(line, []byte("C: ")))
}

// afterSpace requires a password after a name and a space.
func afterSpace(text []byte) bool {
	_, password, _ := bytes.Cut(text, []byte(" "))
	return looksPassword(password) && password[0] != '/'
}

// afterSlash requires a password after a name and a slash.
func afterSlash(text []byte) bool {
	_, password, _ := bytes.Cut(text, []byte("/"))
	return isRandomPassword(password) && bytes.IndexByte(password, '/') < 0
}

// afterEquals requires a random value after a name and an equals sign.
func afterEquals(text []byte) bool {
	_, value, ok := bytes.Cut(text, []byte("="))
	return ok && looksRandom(value)
}
