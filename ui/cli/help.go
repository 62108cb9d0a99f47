package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/host"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/ui"
)

// helpTopics are pages of help that are not commands.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		helpTopic("screen", "What stands on the screen, and what it means", documentOf("screen")),
		helpTopic("jsonl", "What print --format jsonl writes, for scripts", documentOf("jsonl")),
		helpTopic("executed", "What tools really got: how MCP servers are recorded", documentOf("executed")),
		helpTopic("fleet", "Many machines, one screen: hubs, and what goes to them", documentOf("fleet")),
		helpTopic("sidecar", "A proxy beside each agent, in compose and in Kubernetes", documentOf("sidecar")),
		helpTopic("otlp", "Verdicts as spans, in the collector that you run already", documentOf("otlp")),
		helpTopic("limits", "What it does not do, and how much it keeps", documentOf("limits")),
		helpTopic("dialects", "Protocols that are read, and the names --dialect takes", protocolsHelp, "protocols"),
		helpTopic("formats", "The names --as takes: logs and recordings that open", formatsHelp),
		helpTopic("hosts", "The providers that connect and proxy know", hostsHelp),
		helpTopic("clients", "How each client is sent to a proxy", clientsHelp),
		helpTopic("keys", "The keys of the screen", keysHelp),
		helpTopic("filter", "The words that say which turns are meant", filterHelp, "filters"),
		helpTopic("themes", "The names --theme takes", themesHelp),
		helpTopic("prices", "What turns cost, and prices of your own", pricesHelp),
		helpTopic("targets", "The names replay --to takes, and what each provider wants", targetsHelp),
		helpTopic("policies", "The names replay --policy takes, and who does so", policiesHelp),
		helpTopic("findings", "What can be found, and who did it", findingsHelp),
		helpTopic("losses", "What replay can lose, by severity", lossesHelp),
	}
}

// helpTopic is a page that is written when somebody asks for it.
func helpTopic(name, short string, write func(lineWriter), others ...string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Aliases: others}
	show := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = helpPage(write)
		show(cmd, args)
	})
	return cmd
}

// helpPage is a page of help, of what write writes.
func helpPage(write func(lineWriter)) string {
	var text strings.Builder
	write(lineWriter{&text})
	return strings.TrimSuffix(text.String(), "\n")
}

// documentOf writes a topic that is all text.
func documentOf(topic string) func(lineWriter) { return func(l lineWriter) { l.writeDocument(topic) } }

func protocolsHelp(l lineWriter) {
	l.writeDocument("dialects")
	l.printLine("")
	l.writeWrapped("", "--dialect NAME, or D on the screen, overrules what the bytes tell:")
	l.printLine("")
	for _, d := range providers.All {
		l.printLine("  %-20s %s", d.Name, d.Title)
	}
}

func formatsHelp(l lineWriter) {
	l.writeDocument("formats")
	l.printLine("")
	l.writeWrapped("", "What opens besides toolscope's own captures, bodies as they were sent, and what curl -i and -v print. The first bytes tell which; --as NAME overrules them, --as body takes the input as one response.")
	l.printLine("")
	for _, f := range formats.All {
		l.writeWrapped(fmt.Sprintf("  %-20s ", strings.ReplaceAll(f.Name, " ", "-")), f.Title)
	}
}

// formatName is the name of a format as one word.
func formatName(f capture.Format) string { return strings.ReplaceAll(f.Name, " ", "-") }

func hostsHelp(l lineWriter) {
	l.writeWrapped("", "Providers that connect and proxy know. The first key the environment has is used; a host of one's own needs none. --base-url, or the variable, names another address.")
	for i := range host.All {
		h := &host.All[i]
		l.printLine("")
		l.printLine("  %s: %s", h.Name, h.Title)
		key := strings.Join(mapSlice(h.Keys, func(k host.APIKey) string { return k.Variable + " as " + k.Header }), ", or ")
		if h.Keyless && key != "" {
			key += ", if set"
		}
		for _, line := range [][2]string{{"address", h.Address}, {"variable", h.Variable}, {"speaks", h.HistoryTarget().Title}, {"key", key}, {"model", h.Model}} {
			if line[1] != "" {
				l.writeWrapped(fmt.Sprintf("    %-9s ", line[0]), line[1])
			}
		}
	}
}

func clientsHelp(l lineWriter) {
	l.writeWrapped("", "How each client is sent to a proxy. URL stands for where it listens, as in http://127.0.0.1:8080; what stands behind it may have the version in it or not, as clients like it.")
	l.printLine("")
	l.writeWrapped("", "'toolscope run -- CLIENT …' does all of it, and 'toolscope proxy --print-env' prints it for the address it has.")
	for _, p := range client.ProxySetups {
		l.printLine("")
		l.printLine("  %s", strings.TrimSpace(p.Title+" "+p.Version))
		f, _ := p.WithAddresses(func(host string) string { return "URL/" + host })
		pointHelp(l, f)
	}
}

// pointHelp is how one client is sent to URL.
func pointHelp(l lineWriter, p client.ProxySetup) {
	for _, v := range p.Vars {
		l.printLine("    export %s=%s", v.Name, v.Value)
		if v.Why != "" {
			l.writeWrapped("      ", v.Why)
		}
	}
	if len(p.Args) > 0 {
		l.printLine("    %s", commandLine(append(p.Commands[:1:1], p.Args...)))
	}
	if p.Settings.File != "" {
		l.printLine("    %s has to hold", p.Settings.File)
		for _, text := range p.Settings.JSON {
			l.printLine("      %s", text)
		}
	}
	for _, text := range p.Remarks {
		l.writeWrapped("    ", text)
	}
	if says := p.Servers().Remark; says != "" {
		l.writeWrapped("    ", "MCP servers: "+says)
	}
	l.printLine("    known: %s", p.Known)
}

func keysHelp(l lineWriter) {
	c, _ := readConfiguration(new(cobra.Command)) // what cannot be read changes no key
	l.printLine("The keys of the screen%s:", textIf(len(c.keys) > 0, ", yours in place of those built in"))
	group := ""
	for _, k := range ui.Keys(c.keys) {
		if k.Group != group {
			group = k.Group
			l.printLine("")
			l.printLine("%s", group)
		}
		if k.Group == "Words" {
			l.printLine("  %-30s %s", k.Keys, k.Does)
			continue
		}
		l.printLine("  %-10s %s", k.Keys, k.Does)
	}
}

const pricesPage = `A turn costs what the provider says, or else its tokens at the prices of a
built-in, dated table. ~ marks a figure that is approximate, or not final yet. A
model that is not in the table has no cost: unknown is not zero.

Prices of your own go before the built-in ones. They are read from --prices
FILE, or else from $TOOLSCOPE_PRICES, or else from toolscope/prices.json in the
folder of configuration, and are US dollars for a million tokens:

  [
  {"provider":"openai","id":"gpt-x","input":2.5,"output":10,
   "cache_read":0.25,"as_of":"2026-08-21"},
  {"provider":"llm.example.com","id":"gpt-x","input":3,"output":12,
   "as_of":"2026-08-21"}
  ]

  provider, id              who sells, as the built-in table has it, or a host;
                            the model
  input, output, as_of      what must be there, and the day it was true
  cache_read, cache_write,
  cache_write_hour          of tokens read from and written to the cache
  tiers                     [{"over":200000,"input":5},
                             {"service":"fast","input":30}]: other prices for
                            the whole of a request of more input, or of a
                            service tier
  since                     [{"day":"2026-09-01","input":3,"output":12}]:
                            prices from a day on
  names                     ["gpt-x-fast","gpt-y*"]: other names of the model;
                            * stands for a date, a version, -latest
  doubt                     why it may be another price

The price lists of others are read as they are: LiteLLM's
model_prices_and_context_window.json, genai-prices' data.json, models.dev's
api.json. Their prices are taken to be of the day the file was written.`

func pricesHelp(l lineWriter) {
	for line := range strings.SplitSeq(pricesPage, "\n") {
		l.printLine("%s", line)
	}
}

func themesHelp(l lineWriter) {
	l.writeWrapped("", "Themes: auto, which is ours for the background of the terminal, or one of these. --theme FILE.toml is one of your own, and so is a name below themes in the folder of the configuration: 'toolscope config theme NAME' prints one to begin with.")
	l.printLine("")
	for _, name := range themeNames() {
		l.printLine("  %s", name)
	}
}

func targetsHelp(l lineWriter) {
	l.writeWrapped("", "Targets: where history goes, as replay --to takes them, and the rules that are kept there. Also: all.")
	for _, t := range providers.Targets() {
		l.printLine("")
		l.printLine("  %-18s %s", t.Name, t.Title)
		for _, rule := range targetRules(t) {
			if rule[1] != "" {
				l.writeWrapped(fmt.Sprintf("    %-16s ", rule[0]), rule[1])
			}
		}
	}
}

// targetRules are what a target wants, each with what it is about.
func targetRules(t *protocol.Target) [][2]string {
	form := map[protocol.ArgsForm]string{protocol.TextForm: "a string", protocol.ObjectForm: "an object", protocol.PositionalForm: "arrays"}
	depth := ""
	if t.Depth.Limit > 0 {
		depth = fmt.Sprintf("at most %d objects in one another", t.Depth.Objects())
	}
	first := ""
	if t.Names.First != "" {
		first = "the first of [" + t.Names.First + "]"
	}
	reasoning := map[protocol.ReasoningRule]string{
		protocol.NoReasoning: "no place for it", protocol.PlainReasoning: "its text", protocol.SignedReasoning: "with its signature",
	}
	return [][2]string{
		{"arguments", joinCommas(form[t.Form], textIf(t.JSONOnly, "which must hold JSON"), textIf(t.Freeform, "or free text of custom tools"),
			textIf(t.UnorderedKeys, "members in no order"), depth)},
		{"ids", joinCommas(ifElse(t.IDs.Required, "required", "optional"), sizeRule(t.IDs.Min, t.IDs.Max, t.IDs.Class), textIf(t.IDs.Unique, "unique"))},
		{"names", joinCommas(sizeRule(1, t.Names.Max, t.Names.Class), first)},
		{"numbers", ifElse(t.Doubles, "IEEE 754 doubles", "as they are written")},
		{"reasoning", reasoning[t.Reasoning]},
		{"signatures", textIf(t.HasSignatures, "calls carry them"+textIf(t.Sentinel != "", "; a fixed word may stand in for one"))},
		{"results", joinCommas(ifElse(t.TakesUnpaired, "may be missing", "one for each call"), textIf(t.ResultsFollow, "those of a turn together, right after it"),
			textIf(t.ErrorFlag, "marked when they are errors"), textIf(t.Media, "with images"))},
	}
}

// sizeRule is so many characters of a class.
func sizeRule(least, most int, class string) string {
	words := ""
	switch {
	case most == 0 && class == "":
		return "any"
	case most == 0:
		words = "any number"
	case least == most:
		words = fmt.Sprint(most)
	default:
		words = fmt.Sprintf("%d to %d", max(least, 1), most)
	}
	if class == "" {
		return words + " bytes"
	}
	return words + " of [" + class + "]"
}

func policiesHelp(l lineWriter) {
	l.writeWrapped("", "Policies: how clients treat arguments that are not one JSON object when they send them back, as replay --policy takes them. Also: all, behaviours, clients. Behaviours are named after what they do, and go to every target:")
	for _, p := range replay.Behaviours {
		l.printLine("")
		l.writeWrapped(fmt.Sprintf("  %-15s", p.Name), p.Description)
		l.writeWrapped(fmt.Sprintf("  %-15s", ""), "seen in: "+p.Seen)
	}
	l.printLine("")
	l.writeWrapped("", "The others are those of clients. What one sends may depend on where a call came from as well as on where it goes. Ran means that it was run and seen to do so:")
	for i := range replay.Clients {
		p := &replay.Clients[i]
		l.printLine("")
		l.writeWrapped(fmt.Sprintf("  %-17s", p.Name), p.Description)
		l.writeWrapped(fmt.Sprintf("  %-17s", ""), clientWords(p))
	}
}

// clientWords are which program a policy is of, how that is known, and where it sends history.
func clientWords(p *replay.Policy) string {
	to := "every target"
	if p.Targets() != nil {
		to = strings.Join(p.Targets(), ", ")
	}
	return joinDots(strings.TrimSpace(p.Client.Title+" "+p.Client.Version), p.Known.String(), "to "+to)
}

func findingsHelp(l lineWriter) {
	l.writeWrapped("", "Findings: what can be found, how bad it is, who did it unless the finding names another, and what it means. Losses of replay are found when a later request shows them. explain CODE tells one in full.")
	for _, d := range byCode(providers.Findings()) {
		l.printLine("")
		l.printLine("  %-26s %-18s %s", d.Code, severitiesOf(d), d.By)
		l.writeWrapped("    ", d.Meaning)
	}
}

func lossesHelp(l lineWriter) {
	l.writeWrapped("", "Losses: what is not there any more when a call is sent back, or not the same. replay --fail-on-loss takes a severity.")
	for _, severity := range slices.Backward(replay.Severities) {
		l.printLine("")
		l.printLine("%s", severity)
		for _, c := range replay.Kinds {
			if c.Severity == severity {
				l.writeWrapped(fmt.Sprintf("  %-24s", c.Code), c.Description)
			}
		}
	}
}
