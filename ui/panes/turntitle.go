package panes

import (
	"path"
	"regexp"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/screen"
)

var modelDate = regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d{2}-\d{2})(?:-v\d+(?::\d+)?)?$|-v\d+(?::\d+)?$`)

// ShortModel returns the name of a model without its vendor and date.
func ShortModel(model string) string {
	short := model[strings.LastIndexByte(model, '/')+1:]
	for _, vendor := range []string{"us.", "eu.", "apac.", "global.", "anthropic.", "claude-"} {
		short = strings.TrimPrefix(short, vendor)
	}
	if short = modelDate.ReplaceAllString(short, ""); short == "" {
		return model
	}
	return short
}

// TurnTitle names a turn: by its request, its file, or its model.
func TurnTitle(x *providers.Exchange, t *stream.Turn) string {
	switch {
	case t.Parent != "":
		return "inside " + t.Parent
	case x != nil && x.Head.Method != "" && x.Head.URL != "":
		return screen.ShortName(x.Head.Method) + " " + screen.ShortName(shortURL(x.Head.URL))
	case t.Model != "":
		return t.Model
	case x != nil && x.Head.File != "":
		return path.Base(x.Head.File)
	}
	return t.Protocol
}

// shortURL returns a URL without scheme and host.
func shortURL(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return u
}
