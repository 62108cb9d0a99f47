package cli

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/host"
	"toolscope/ui"
)

// variables are, for those ways whose clients read their base URL from the
// environment, that variable and what its value has behind the proxy's URL.
func variables(all []way) (list [][2]string) {
	for i := range host.All { // in the order of the table: the most used ones first
		h := &host.All[i]
		for _, w := range all {
			known := w.host == h || w.host == nil && w.upstream.String() == h.Address
			if !known || h.Variable == "" || slices.ContainsFunc(list, func(v [2]string) bool { return v[0] == h.Variable }) {
				continue
			}
			list = append(list, [2]string{h.Variable, w.prefix})
		}
	}
	return list
}

// others are the prefixes of the ways whose clients have no such variable.
func others(all []way) (list []string) {
	having := variables(all)
	for _, w := range all {
		if w.prefix != "" && !slices.ContainsFunc(having, func(v [2]string) bool { return v[1] == w.prefix }) {
			list = append(list, w.prefix)
		}
	}
	return list
}

// environment is what sends clients to a proxy at url, as lines for a shell.
//
// The variables are those that the clients' own documentation names; see the
// table of hosts. Codex: openai_base_url replaced OPENAI_BASE_URL, which it warns
// about (github.com/openai/codex/issues/16719). opencode: options.baseURL of a
// provider, with the version in it (opencode.ai/docs/providers).
func environment(all []way, url string) (lines []string) {
	for _, v := range variables(all) {
		lines = append(lines, "export "+v[0]+"="+url+v[1])
		if v[0] == "AWS_ENDPOINT_URL_BEDROCK_RUNTIME" {
			lines = append(lines, "# Bedrock: with AWS_BEARER_TOKEN_BEDROCK only; a signed request is signed for the host it was sent to")
		}
	}
	if wayTo(all, "/openai") != nil {
		lines = append(lines, `# Codex, with an API key: codex -c 'openai_base_url="`+url+`/openai"'`)
	}
	for _, name := range []string{"anthropic", "openai"} {
		if w := wayTo(all, "/"+name); w != nil {
			lines = append(lines, fmt.Sprintf(`# opencode.json: {"provider": {"%s": {"options": {"baseURL": "%s/%s/v1"}}}}`, name, url, name))
		}
	}
	if more := others(all); len(more) > 0 {
		lines = append(lines, "# any other client: a base URL of "+url+" and one of", "#   "+strings.Join(more, " "))
	}
	if w := wayTo(all, ""); w != nil {
		lines = append(lines, "# base URL in place of "+w.upstream.String()+": "+url)
	}
	return lines
}

// await is what the screen shows while no request has come.
func await(all []way, url string) *ui.Await {
	a := &ui.Await{URL: url, Ways: variables(all)}
	a.Ways = a.Ways[:min(len(a.Ways), 5)]
	if w := wayTo(all, ""); w != nil {
		a.More = "They go to " + w.upstream.String()
		return a
	}
	var more []string
	for _, name := range []string{"/openrouter", "/mistral", "/groq"} {
		if slices.Contains(others(all), name) {
			more = append(more, name)
		}
	}
	if len(more) > 0 {
		a.More = "Others: a base URL with " + strings.Join(more, ", ") + " ... (help hosts)"
	}
	return a
}
