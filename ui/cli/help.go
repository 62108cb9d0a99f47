package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
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
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui"
	"toolscope/ui/display"
	"toolscope/ui/present"
)

// helpTopics returns the commands for help pages that are not about a command.
func (a *app) helpTopics() []*cobra.Command {
	return []*cobra.Command{
		a.helpTopic("screen", "How to read the screen", documentOf("screen")),
		a.helpTopic("keys", "Keys on the screen", keysHelp),
		a.helpTopic("changes", "Changes on the screen, for users of older versions", documentOf("changes")),
		a.helpTopic("filter", "Filter syntax", filterHelp, "filters"),
		a.helpTopic("findings", "Every finding and its usual cause", findingsHelp),
		a.helpTopic("losses", "Losses that replay reports, by severity", lossesHelp),
		a.helpTopic("clients", "How to point each client at the proxy", clientsHelp),
		a.helpTopic("providers", "Providers for connect and proxy", providersHelp, "hosts"),
		a.helpTopic("protocols", "Protocols that toolscope reads (--protocol)", protocolsHelp, "dialects"),
		a.helpTopic("formats", "Input formats (--from)", formatsHelp),
		a.helpTopic("targets", "Targets for replay --to, and their rules", targetsHelp),
		a.helpTopic("policies", "How clients send calls back (replay --policy)", policiesHelp),
		a.helpTopic("prices", "Cost of turns, and your own price list", pricesHelp),
		a.helpTopic("themes", "Themes (--theme)", themesHelp),
		a.helpTopic("jsonl", "The JSON lines of 'print --format jsonl'", documentOf("jsonl")),
		a.helpTopic("otlp", "Turns and calls as spans in an OpenTelemetry collector", documentOf("otlp")),
		a.helpTopic("toolruns", "What tools received, and how MCP servers are recorded", documentOf("toolruns"), "executed"),
		a.helpTopic("hubs", "Hubs: many machines on one screen", documentOf("hubs"), "fleet"),
		a.helpTopic("sidecar", "A proxy next to each agent, in Docker Compose and Kubernetes", documentOf("sidecar")),
		a.helpTopic("limits", "Limits and retention", documentOf("limits")),
	}
}

// helpTopic returns the command for a help page. The function write writes the page on demand. The parameter
// others has old names for the topic.
func (a *app) helpTopic(name, short string, write func(lineWriter), others ...string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Aliases: others}
	cmd.SetHelpFunc(func(*cobra.Command, []string) { write(a.stdout) })
	return cmd
}

// helpPage returns the output of write as a string.
func helpPage(write func(lineWriter)) string {
	var text strings.Builder
	write(lineWriter{to: &text})
	return strings.TrimSuffix(text.String(), "\n")
}

// documentOf returns a function that writes the Markdown page of a topic.
func documentOf(topic string) func(lineWriter) { return func(l lineWriter) { l.writeDocument(topic) } }

func protocolsHelp(l lineWriter) {
	l.writeDocument("protocols")
	l.printLine("")
	l.writeWrapped("", "--protocol NAME, or D on the screen, overrides the detected protocol:")
	l.printLine("")
	for _, d := range providers.All {
		l.printLine("  %-20s %s", d.Name, d.Title)
	}
}

func formatsHelp(l lineWriter) {
	l.writeDocument("formats")
	l.printLine("")
	l.writeWrapped("", "toolscope opens its own captures, saved bodies and the output of curl -i and -v. It also opens the formats below. It detects the format from the first bytes. --from NAME overrides the detected format, and --from body reads the input as one response.")
	l.printLine("")
	for _, f := range formats.All {
		l.writeWrapped(fmt.Sprintf("  %-20s ", formatName(f)), f.Title)
	}
}

// formatName returns the name of a format as one word.
func formatName(f capture.Format) string { return strings.ReplaceAll(f.Name, " ", "-") }

func providersHelp(l lineWriter) {
	l.writeWrapped("", "These are the providers for connect and proxy. toolscope uses the first key that it finds in the environment. A host on this machine needs no key. To set another address, use --base-url or the provider's variable.")
	for i := range host.All {
		h := &host.All[i]
		l.printLine("")
		l.printLine("  %s: %s", h.Name, h.Title)
		key := strings.Join(mapSlice(h.Keys, func(k host.APIKey) string { return k.Variable + " as " + k.Header }), ", or ")
		if h.Keyless && key != "" {
			key += ", if set"
		}
		for _, line := range [][2]string{{"address", h.Address}, {"variable", h.Variable}, {"protocol", h.HistoryTarget().Title}, {"key", key}, {"model", h.Model}} {
			if line[1] != "" {
				l.writeWrapped(fmt.Sprintf("    %-9s ", line[0]), line[1])
			}
		}
	}
}

func clientsHelp(l lineWriter) {
	l.writeWrapped("", "How to point each client at the proxy. URL is the address of the proxy, e.g. http://127.0.0.1:8080. A version in the path after URL, e.g. /v1, is optional.")
	l.printLine("")
	l.writeWrapped("", "If a variable or a flag is enough, 'toolscope run -- CLIENT …' does this for you. 'toolscope proxy --print-env' prints these steps with the proxy's address. If a client can't be pointed at the proxy, 'toolscope run --tls -- CLIENT …' decrypts its TLS instead (see 'toolscope help run').")
	for _, p := range client.ProxySetups {
		l.printLine("")
		l.printLine("  %s", strings.TrimSpace(p.Title+" "+p.Version))
		p, _ = p.WithAddresses(func(host string) string { return "URL/" + host })
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
			l.printLine("    %s must contain", p.Settings.File)
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
		l.printLine("    known: %s%s", p.Known, textIf(p.Known == client.Read, ", not run"))
	}
}

func keysHelp(l lineWriter) {
	c, _ := readConfiguration(new(cobra.Command)) // a file that can't be read changes no keys
	l.printLine("Keys on the screen%s:", textIf(len(c.keys) > 0, ", with the changes in your configuration file"))
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

const pricesPage = `The cost of a turn is the cost that the provider reports. If the provider
reports no cost, toolscope multiplies the token counts by the prices in a
built-in table that has a date. ~ marks a cost that is approximate or not final,
for example because the price is older than 60 days. If a model is not in the
table, its cost is unknown, not zero.

Your own prices override the built-in prices. toolscope reads them from --prices
FILE; otherwise from the file that $TOOLSCOPE_PRICES names; otherwise from
toolscope/prices.json in the configuration folder. The prices are in US dollars
per million tokens:

  [
  {"provider":"openai","id":"gpt-x","input":2.5,"output":10,
   "cache_read":0.25,"as_of":"2026-08-21"},
  {"provider":"llm.example.com","id":"gpt-x","input":3,"output":12,
   "as_of":"2026-08-21"}
  ]

  provider, id              the seller's name in the built-in table, or its host
                            name; the id of the model
  input, output, as_of      required: the prices, and the day on which they are
                            valid
  cache_read, cache_write,
  cache_write_hour          tokens that are read from or written to the cache
  audio_input, audio_output,
  audio_cache_read          audio tokens
  web_searches              a thousand web searches by the provider
  tiers                     [{"over":200000,"input":5},
                             {"service":"fast","input":30}]: other prices for
                            all tokens in a request that has more input, or
                            uses a service tier
  since                     [{"day":"2026-09-01","input":3,"output":12}]:
                            prices from that day on
  names                     ["gpt-x-fast","gpt-y*"]: other names for the model;
                            * matches a date, a version or -latest
  doubt                     why the price is uncertain

toolscope also reads these price lists unchanged: LiteLLM's
model_prices_and_context_window.json, genai-prices' data.json and models.dev's
api.json. toolscope dates their prices by the day on which the file was written.`

func pricesHelp(l lineWriter) {
	for line := range strings.SplitSeq(pricesPage, "\n") {
		l.printLine("%s", line)
	}
}

func themesHelp(l lineWriter) {
	l.writeWrapped("", "'auto' selects a theme that fits the terminal's background. You can also name one of the themes below. --theme FILE.toml uses your own theme. If the file is in the folder 'themes' next to the configuration file, its name is enough. 'toolscope config theme NAME' prints a theme to start from.")
	l.printLine("")
	for _, name := range themeNames() {
		l.printLine("  %s", name)
	}
}

func targetsHelp(l lineWriter) {
	l.writeWrapped("", "These are the targets for replay --to. A target is a kind of provider to which the history would be sent. Each target has its own rules for the history. 'all' means every target.")
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

// targetRules returns the rules for a target. Each rule has a subject and a description.
func targetRules(t *protocol.Target) [][2]string {
	form := map[protocol.ArgsForm]string{protocol.TextForm: "a string", protocol.ObjectForm: "an object", protocol.PositionalForm: "arrays"}
	depth := ""
	if t.Depth.Limit > 0 {
		depth = fmt.Sprintf("at most %d nested objects", t.Depth.Objects())
	}
	first := ""
	if t.Names.First != "" {
		first = "beginning with one of [" + t.Names.First + "]"
	}
	reasoning := map[protocol.ReasoningRule]string{
		protocol.NoReasoning: "not carried", protocol.PlainReasoning: "as text", protocol.SignedReasoning: "with its signature",
	}
	return [][2]string{
		{"arguments", present.JoinWords(form[t.Form], textIf(t.JSONOnly, "which must contain JSON"), textIf(t.Freeform, "or free text of custom tools"),
			textIf(t.UnorderedKeys, "the order of fields is lost"), depth)},
		{"ids", present.JoinWords(ifElse(t.IDs.Required, "required", "optional"), sizeRule(t.IDs.Min, t.IDs.Max, t.IDs.Class), textIf(t.IDs.Unique, "unique"))},
		{"names", present.JoinWords(sizeRule(1, t.Names.Max, t.Names.Class), first)},
		{"numbers", ifElse(t.Doubles, "IEEE 754 doubles", "as written")},
		{"reasoning", reasoning[t.Reasoning]},
		{"signatures", textIf(t.HasSignatures, "carried by calls"+textIf(t.Sentinel != "", "; a fixed word is accepted instead"))},
		{"results", present.JoinWords(ifElse(t.TakesUnpaired, "may be missing", "one for each call"), textIf(t.ResultsFollow, "all results of a turn together, right after it"),
			textIf(t.ErrorFlag, "with an error flag"), textIf(t.Media, "with images"))},
	}
}

// sizeRule describes the allowed length and, if class is not empty, the allowed characters.
func sizeRule(least, most int, class string) string {
	words := ""
	switch {
	case most == 0 && class == "":
		return "any"
	case most == 0:
		words = "any number of"
	case least == most:
		words = fmt.Sprint(most)
	default:
		words = fmt.Sprintf("%d to %d", max(least, 1), most)
	}
	if class == "" {
		return words + " bytes"
	}
	return words + " characters from [" + class + "]"
}

func policiesHelp(l lineWriter) {
	l.writeWrapped("", "A policy for replay --policy describes how a client sends back arguments that are not one JSON object. The names 'all', 'behaviours' and 'clients' each select several policies. Behaviours are named after what they do, and apply to every target:")
	for _, p := range replay.Behaviours {
		l.printLine("")
		l.writeWrapped(fmt.Sprintf("  %-15s", p.Name), p.Description)
		l.writeWrapped(fmt.Sprintf("  %-15s", ""), "seen in: "+p.Seen)
	}
	l.printLine("")
	l.writeWrapped("", "The other policies are named after clients. What a client sends may depend on the target, and on the provider that the call came from. \"ran\" means that the client was run and observed. Ids and names are sent unchanged, unless the description says otherwise. This was observed with the JavaScript libraries, and is assumed for the other clients.")
	for i := range replay.Clients {
		p := &replay.Clients[i]
		l.printLine("")
		l.writeWrapped(fmt.Sprintf("  %-17s", p.Name), p.Description)
		to := "every target"
		if p.Targets() != nil {
			to = strings.Join(p.Targets(), ", ")
		}
		node, later := p.Client.Node(), ""
		if r, ok := p.Client.Newer(); ok && p.Known == client.Ran {
			later = fmt.Sprintf("%s, published on %s, was not run for this policy", r.Version, r.Day)
		}
		program := strings.TrimSpace(p.Client.Title+" "+p.Client.Version) + textIf(node != "", " on Node "+node)
		l.writeWrapped(fmt.Sprintf("  %-17s", ""), joinDots(program, p.Known.String(), "to "+to, later))
	}
}

func findingsHelp(l lineWriter) {
	l.writeWrapped("", "This page lists every finding with its severities, its usual cause and its meaning. A loss becomes a finding when a later request shows it. For details, run 'toolscope explain CODE'.")
	for _, d := range byCode(providers.Findings()) {
		l.printLine("")
		l.printLine("  %-26s %-18s %s", d.Code, severitiesOf(d), d.By)
		l.writeWrapped("    ", d.Meaning)
	}
}

func lossesHelp(l lineWriter) {
	l.writeWrapped("", "A loss is something that is missing or changed when a call is sent back. 'replay --fail-on-loss SEVERITY' fails on losses of this severity or worse.")
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

// pageCompletions returns the commands and topics that have a help page.
func pageCompletions(root *cobra.Command) []completion {
	return mapSlice(root.Commands(), func(c *cobra.Command) completion { return completion{c.Name(), c.Short} })
}

// built is the version of the release. Builds from an archive must set it, because an archive has no Git
// history: -ldflags "-X toolscope/ui/cli.built=1.2.3"
var built string

// reports is the URL for bug reports, if the build sets it:
// -ldflags "-X toolscope/ui/cli.reports=https://…/issues"
var reports string

// bugURL returns the URL for bug reports, or a phrase that says where to report bugs.
func bugURL() string {
	return cmp.Or(reports, "open an issue in the repository that you got toolscope from")
}

// Notices is the text of the licences and notices for the modules in the program.
var Notices string

func (a *app) versionCommand() *cobra.Command {
	licenses := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Example: "toolscope version\ntoolscope version --licenses", Long: "The output also shows the commit, its date and the Go version.",
		Run: func(*cobra.Command, []string) {
			if licenses {
				for line := range strings.Lines(Notices) {
					a.stdout.writeLine(display.Clean(strings.TrimRight(line, "\n")))
				}
				return
			}
			a.stdout.printLine("toolscope %s", versionText())
		},
	}
	c.Flags().BoolVar(&licenses, "licenses", false, "")
	return c
}

// releaseVersion returns the version without build details.
func releaseVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(built, "unknown")
	}
	return cmp.Or(built, strings.Trim(info.Main.Version, "()"))
}

// versionText returns the version with build details, e.g. "1.2.3 (3f2a91c, 2026-11-23, go1.26.8)".
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return releaseVersion()
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	commit := said["vcs.revision"]
	commit = commit[:min(len(commit), 12)] + textIf(said["vcs.modified"] == "true", " and changes")
	day, _, _ := strings.Cut(said["vcs.time"], "T")
	return fmt.Sprintf("%s (%s)", releaseVersion(), present.JoinWords(commit, day, info.GoVersion))
}

func byCode(all []*stream.Diagnosis) []*stream.Diagnosis {
	slices.SortFunc(all, func(a, b *stream.Diagnosis) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// severitiesOf lists the severities that a finding may have, with the usual one first.
func severitiesOf(d *stream.Diagnosis) string {
	return present.JoinWords(append([]string{d.Severity.String()}, mapSlice(d.OtherSeverities, stream.Severity.String)...)...)
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain CODE", Short: "Explain a finding and what to do about it",
		Example: "toolscope explain ARGS_BROKEN", Long: "CODE is the code of a finding. 'toolscope help findings' lists all codes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf("explain: needs one CODE\n'toolscope help findings' lists the codes")
			}
			all := byCode(providers.Findings())
			i := slices.IndexFunc(all, func(d *stream.Diagnosis) bool { return strings.EqualFold(d.Code, args[0]) })
			if i < 0 {
				return usageErrorf("explain: unknown code %q%s\n'toolscope help findings' lists the codes", args[0], similarCodes(all, strings.ToUpper(args[0])))
			}
			l, d := a.stdout, all[i]
			l.printLine("%s", d.Code)
			l.writeWrapped("  severity  ", present.SeverityText(d))
			l.printLine("  by        %s, unless the finding names another party", d.By)
			l.writeWrapped("  means     ", d.Meaning)
			l.writeWrapped("  do        ", d.Advice)
			for _, k := range replay.Kinds {
				if k.Diagnosis == d {
					l.writeWrapped("  replay    ", fmt.Sprintf("a loss of severity %s: %s", k.Severity, k.Description))
				}
			}
			return nil
		},
	}
}

// similarCodes suggests the codes that are similar to code.
func similarCodes(all []*stream.Diagnosis, code string) string {
	codes := themes.Near(code, mapSlice(all, func(d *stream.Diagnosis) string { return d.Code }))
	return didYouMean(codes)
}
