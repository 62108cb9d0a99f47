package web

import "strings"

// A colourPair is a colour for light pages and one for dark pages.
type colourPair struct{ name, light, dark string }

// The backgrounds and the text colours of the page. Each text colour has a contrast of at least 4.5:1 on
// each background.
var (
	grounds = []colourPair{{"ground", "#ffffff", "#0d1117"}, {"panel", "#f6f8fa", "#161b22"}, {"wrong", "#ffebe9", "#3d0d12"}}
	inks    = []colourPair{
		{"ink", "#1f2328", "#e6edf3"}, {"muted", "#57606a", "#9ea7b1"}, {"link", "#0550ae", "#79c0ff"},
		{"good", "#116329", "#7ee787"}, {"caution", "#7d4e00", "#e3b341"}, {"bad", "#a40e26", "#ffa198"},
		{"key", "#0550ae", "#79c0ff"}, {"string", "#0a3069", "#a5d6ff"}, {"number", "#953800", "#ffab70"}, {"word", "#6639ba", "#d2a8ff"},
	}
	// lines are colours without text. Their contrast is at least 3:1.
	lines = []colourPair{{"line", "#818b98", "#6e7681"}, {"wait", "#818b98", "#6e7681"}, {"busy", "#0969da", "#4493f8"}, {"still", "#9a6700", "#d29922"}, {"seal", "#1f2328", "#e6edf3"}}
)

// styleSheet returns the page's style sheet.
func styleSheet() string {
	var light, dark strings.Builder
	for _, all := range [][]colourPair{grounds, inks, lines} {
		for _, t := range all {
			light.WriteString("--" + t.name + ":" + t.light + ";")
			dark.WriteString("--" + t.name + ":" + t.dark + ";")
		}
	}
	return "\n:root{color-scheme:light dark;" + light.String() + "}\n@media (prefers-color-scheme:dark){:root{" + dark.String() + "}}\n" + rules
}

const rules = `*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-999rem}
.skip:focus{position:static}
h1,h2,h3{line-height:1.25;margin:0 0 .5rem}
h1{font-size:1.5rem}h2{font-size:1.25rem}h3{font-size:1.0625rem;font-family:ui-monospace,monospace}
section{border-top:1px solid var(--line);margin-top:2rem;padding-top:1rem}
article{background:var(--panel);border:1px solid var(--line);border-radius:.375rem;margin:1rem 0;padding:.75rem}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0 0 .75rem}
.facts div{display:flex;gap:.375rem}
dt{color:var(--muted);flex:none}dd{margin:0}
.turns{padding-left:1.5rem}.turns li{margin:.25rem 0}
.brief{font-family:ui-monospace,monospace;font-size:.875rem;margin-left:.5rem}
.state{font-weight:600;white-space:nowrap}
.good{color:var(--good)}.caution{color:var(--caution)}.bad{color:var(--bad)}.muted{color:var(--muted)}
pre{background:var(--ground);border:1px solid var(--line);border-radius:.25rem;font:.875rem/1.45 ui-monospace,monospace;margin:.5rem 0;padding:.5rem;white-space:pre-wrap}
.k{color:var(--key)}.s{color:var(--string)}.n{color:var(--number)}.w{color:var(--word)}.p{color:var(--muted)}
mark{background:var(--wrong);color:var(--bad);text-decoration:underline wavy}
.findings{list-style:none;margin:.5rem 0;padding:0}.findings li{border-left:.25rem solid var(--line);margin:.375rem 0;padding-left:.5rem}
.findings .error{border-color:var(--bad)}.findings .warn{border-color:var(--caution)}
code{font-family:ui-monospace,monospace;font-size:.875rem}
summary{cursor:pointer;padding:.25rem 0}
.time{list-style:none;margin:0 0 .25rem;padding:0}
.time li{display:grid;gap:0 .75rem;grid-template-columns:12rem 1fr;align-items:center;margin:.25rem 0}
.time svg{display:block;height:1.125rem;width:100%;background:var(--panel)}
.time .when{color:var(--muted);font-size:.875rem;grid-column:2}
.axis{color:var(--muted);display:flex;font-size:.875rem;justify-content:space-between;margin:0 0 .75rem 12.75rem}
.wait{fill:var(--wait)}.busy{fill:var(--busy)}.still{fill:var(--still)}.seal{fill:var(--seal)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.875rem}
caption{text-align:left;padding:.25rem 0}
th,td{border:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top;overflow-wrap:normal}
thead th{background:var(--panel)}
@media (max-width:40rem){body{padding:.75rem}.time li{grid-template-columns:1fr}.time .when{grid-column:1}.axis{margin-left:0}}
@media print{.skip{display:none}article{break-inside:avoid}}
`
