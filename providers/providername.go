package providers

import "strings"

// NameProvider returns the name of a provider in OpenTelemetry's conventions, according to its host. If the
// host is unknown, the name depends on the protocol. NameProvider returns "" if the conventions have no name
// for the provider.
func NameProvider(url, protocol string) string {
	if name := ProviderAt(url); name != "" {
		return name
	}
	return protocolProviders[protocol]
}

// ProviderAt returns the name of the provider at a host, or "" if the host is unknown.
func ProviderAt(url string) string {
	host := hostOf(url)
	for _, s := range hostProviders {
		if host != "" && strings.HasSuffix(host, s.host) && strings.HasPrefix(host, s.begins) {
			return s.name
		}
	}
	return ""
}

// protocolProviders maps protocols to provider names in the conventions.
var protocolProviders = map[string]string{
	"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai", "gemini": "gcp.gemini", "gemini-interactions": "gcp.gemini",
	"aistudio": "gcp.gemini", "bedrock": "aws.bedrock", "cohere": "cohere", "ollama": "ollama",
}

// hostProviders lists the conventions' names for providers at a host. The field host is the end of the
// provider's host name, and begins is its start, if the start matters.
var hostProviders = []struct{ host, name, begins string }{
	{host: "api.openai.com", name: "openai"}, {host: "api.anthropic.com", name: "anthropic"}, {host: "generativelanguage.googleapis.com", name: "gcp.gemini"},
	{host: "api.cohere.com", name: "cohere"},
	{host: "api.groq.com", name: "groq"}, {host: "api.x.ai", name: "x_ai"}, {host: "api.deepseek.com", name: "deepseek"}, {host: "api.mistral.ai", name: "mistral_ai"}, {host: "api.perplexity.ai", name: "perplexity"},
	{host: "api.moonshot.ai", name: "moonshot_ai"}, {host: ".openai.azure.com", name: "azure.ai.openai"}, {host: "aiplatform.googleapis.com", name: "gcp.vertex_ai"},
	{host: ".amazonaws.com", name: "aws.bedrock", begins: "bedrock-runtime"},
}
