package providers

import "strings"

// NameProvider returns the name of a provider in the conventions of OpenTelemetry, by its host or else by its protocol;
// "" if they have no name for it.
func NameProvider(url, protocol string) string {
	if host := hostOf(url); host != "" {
		for _, s := range hostProviders {
			if strings.HasSuffix(host, s.host) && strings.HasPrefix(host, s.begins) {
				return s.name
			}
		}
	}
	return protocolProviders[protocol]
}

// protocolProviders maps protocols to the provider names of the conventions.
var protocolProviders = map[string]string{
	"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai", "gemini": "gcp.gemini", "gemini-interactions": "gcp.gemini",
	"aistudio": "gcp.gemini", "bedrock": "aws.bedrock", "cohere": "cohere", "ollama": "ollama",
}

// hostProviders are the names in the conventions for providers that speak the protocol of another
// provider. host is the end of the provider's host name, and begins is its start, if that matters.
var hostProviders = []struct{ host, name, begins string }{
	{host: "api.groq.com", name: "groq"}, {host: "api.x.ai", name: "x_ai"}, {host: "api.deepseek.com", name: "deepseek"}, {host: "api.mistral.ai", name: "mistral_ai"}, {host: "api.perplexity.ai", name: "perplexity"},
	{host: "api.moonshot.ai", name: "moonshot_ai"}, {host: ".openai.azure.com", name: "azure.ai.openai"}, {host: "aiplatform.googleapis.com", name: "gcp.vertex_ai"},
	{host: ".amazonaws.com", name: "aws.bedrock", begins: "bedrock-runtime"},
}
