package formats

import (
	"bytes"
	"strconv"
	"time"

	"toolscope/stream/json"
)

// isTimeName reports whether a field with this name contains the time of a line.
func isTimeName(name []byte) bool {
	switch string(name) {
	case "time", "ts", "timestamp", "@timestamp", "t", "date", "datetime", "asctime", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP",
		"Timestamp", "Time", "eventTime", "logged_at", "received_at":
		return true
	}
	return false
}

// parse returns the time, or the zero time if the text isn't a time.
func (s timestamp) parse() time.Time {
	text := s.withoutQuotes()
	if len(text) == 0 {
		return time.Time{}
	}
	if t, n := parseTime(text); n > 0 {
		return t
	}
	// The text is a number of seconds, milliseconds, microseconds or nanoseconds since 1970. The size of the number
	// decides the unit.
	whole, part, _ := bytes.Cut(text, []byte("."))
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	switch {
	case n > 1e17:
		return time.Unix(0, n)
	case n > 1e14:
		return time.UnixMicro(n)
	case n > 1e11:
		return time.UnixMilli(n).Add(time.Duration(parseFraction(part) * float64(time.Millisecond)))
	case n > 1e8:
		return time.Unix(n, int64(parseFraction(part)*1e9))
	}
	return time.Time{}
}

// withoutQuotes returns the text without the quotes around it.
func (s timestamp) withoutQuotes() []byte {
	if n := len(s.text); n > 0 && (s.text[0] == '"' || s.text[n-1] == '"') {
		return bytes.Trim(s.text, `"`)
	}
	return s.text
}

// timestampCache holds the latest time, because neighbouring lines often have the same time, or one in the same minute.
type timestampCache struct {
	text    []byte
	at      time.Time
	seconds time.Duration // seconds within the minute
	size    int           // length of the seconds in text; 0 if the text isn't a date and a time of day
}

// parse returns the same as timestamp.parse.
func (c *timestampCache) parse(s timestamp) time.Time {
	const day, minute = len("2006-01-02T"), len("2006-01-02T15:04:")
	text := s.withoutQuotes()
	if bytes.Equal(text, c.text) {
		return c.at
	}
	if c.size > 0 && len(text) > minute && string(text[:minute]) == string(c.text[:minute]) {
		d, n := secondsTime(text[minute:])
		if n > 0 && string(text[minute+n:]) == string(c.text[minute+c.size:]) {
			c.at, c.seconds, c.size = c.at.Add(d-c.seconds), d, n
			c.text = append(c.text[:minute], text[minute:]...)
			return c.at
		}
	}
	c.at, c.text, c.size = s.parse(), append(c.text[:0], text...), 0
	if len(text) > minute && areDigits(text, 0, 4) && !c.at.IsZero() {
		if _, n := clockTime(text[day:]); n > 0 {
			c.seconds, c.size = secondsTime(text[minute:])
		}
	}
	return c.at
}

// parseFraction returns the value of the digits after a decimal point.
func parseFraction(digits []byte) (f float64) {
	if len(digits) > 0 {
		f, _ = strconv.ParseFloat("0."+string(digits), 64)
	}
	return f
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

func isMonth(p []byte) bool { return monthOf(p) > 0 }

func monthOf(p []byte) int {
	if len(p) < 3 || p[0] < 'A' {
		return 0
	}
	for i := 0; i < len(months); i += 3 {
		if string(p[:3]) == months[i:i+3] {
			return i/3 + 1
		}
	}
	return 0
}

// parseTime reads the time at the beginning of p. The result n is the length of the time, or 0 if there is none. A
// missing date, year or zone is replaced by a fixed one, because only the differences between the lines of a log
// matter.
func parseTime(p []byte) (t time.Time, n int) {
	switch {
	case len(p) < 8:
		return t, 0
	case isMonth(p): // Jan  2 15:04:05
		return monthTime(p)
	case areDigits(p, 0, 4) && (p[4] == '-' || p[4] == '/') && len(p) >= 19 && areDigits(p, 5, 2) && areDigits(p, 8, 2) && p[7] == p[4]:
		if sep := p[10]; sep != 'T' && sep != ' ' && sep != 't' && sep != '_' {
			return t, 0
		}
		c, n := clockTime(p[11:])
		if n == 0 {
			return t, 0
		}
		day := time.Date(parseDigits(p[:4]), time.Month(parseDigits(p[5:7])), parseDigits(p[8:10]), 0, 0, 0, 0, time.UTC)
		offset, k := parseZone(p[11+n:])
		return day.Add(c - offset), 11 + n + k
	case areDigits(p, 0, 2) && p[2] == ':':
		c, n := clockTime(p)
		if n == 0 {
			return t, 0
		}
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(c), n
	case areDigits(p, 0, 2) && p[2] == '/' && len(p) >= 20 && monthOf(p[3:]) > 0: // 02/Jan/2006:15:04:05
		c, n := clockTime(p[12:])
		if n == 0 || p[11] != ':' || !areDigits(p, 7, 4) {
			return t, 0
		}
		return time.Date(parseDigits(p[7:11]), time.Month(monthOf(p[3:])), parseDigits(p[:2]), 0, 0, 0, 0, time.UTC).Add(c), 12 + n
	}
	return t, 0
}

func monthTime(p []byte) (t time.Time, n int) {
	if len(p) < 15 || p[3] != ' ' || !isDigit(p[5]) || p[6] != ' ' {
		return t, 0
	}
	day := int(p[5] - '0')
	if isDigit(p[4]) {
		day += 10 * int(p[4]-'0')
	}
	c, n := clockTime(p[7:])
	if n == 0 {
		return t, 0
	}
	return time.Date(2000, time.Month(monthOf(p)), day, 0, 0, 0, 0, time.UTC).Add(c), 7 + n
}

func areDigits(p []byte, from, n int) bool {
	if len(p) < from+n {
		return false
	}
	for _, c := range p[from : from+n] {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

func parseDigits(p []byte) (n int) {
	for _, c := range p {
		n = 10*n + int(c-'0')
	}
	return n
}

// clockTime reads a time of day such as 15:04:05. A fraction may follow, after a point or a comma. The result n
// is the length of the time, or 0 if there is none.
func clockTime(p []byte) (d time.Duration, n int) {
	if !areDigits(p, 0, 2) || len(p) < 8 || p[2] != ':' || !areDigits(p, 3, 2) || p[5] != ':' {
		return 0, 0
	}
	if d, n = secondsTime(p[6:]); n == 0 {
		return 0, 0
	}
	return d + time.Duration(parseDigits(p[:2]))*time.Hour + time.Duration(parseDigits(p[3:5]))*time.Minute, 6 + n
}

// secondsTime reads two digits of seconds. A fraction may follow, after a point or a comma. The result n is the
// length of the text that was read, or 0 if there is none.
func secondsTime(p []byte) (d time.Duration, n int) {
	if !areDigits(p, 0, 2) {
		return 0, 0
	}
	d = time.Duration(parseDigits(p[:2])) * time.Second
	n = 2
	if n+1 < len(p) && (p[n] == '.' || p[n] == ',') && isDigit(p[n+1]) {
		parts, unit := time.Duration(0), time.Second
		for n++; n < len(p) && isDigit(p[n]); n++ {
			if unit > 1 {
				parts, unit = 10*parts+time.Duration(p[n]-'0'), unit/10
			}
		}
		d += parts * unit
	}
	return d, n
}

// parseZone reads a time zone such as Z, +02:00 or +0200. The result n is the length of the zone, or 0 if there
// is none.
func parseZone(p []byte) (offset time.Duration, n int) {
	switch {
	case len(p) > 0 && (p[0] == 'Z' || p[0] == 'z'):
		return 0, 1
	case len(p) < 5 || p[0] != '+' && p[0] != '-' || !areDigits(p, 1, 2):
		return 0, 0
	}
	minutes, n := 0, 5
	switch {
	case len(p) >= 6 && p[3] == ':' && areDigits(p, 4, 2):
		minutes, n = parseDigits(p[4:6]), 6
	case areDigits(p, 3, 2):
		minutes = parseDigits(p[3:5])
	default:
		return 0, 0
	}
	offset = time.Duration(parseDigits(p[1:3]))*time.Hour + time.Duration(minutes)*time.Minute
	if p[0] == '-' {
		offset = -offset
	}
	return offset, n
}

// parseLogTime reads a time as written in logs: text, or a number of seconds, milliseconds, microseconds or
// nanoseconds since 1970. The size of the number decides the unit. It returns the zero time for anything else.
func parseLogTime(value []byte) time.Time {
	text, isText := json.Text(value)
	if isText {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
			if t, err := time.Parse(layout, string(text)); err == nil {
				return t
			}
		}
		value = text
	}
	if whole, err := strconv.ParseInt(string(value), 10, 64); err == nil && whole >= 1e8 { // a number of seconds is a time in 1973 or later
		for whole < 1e17 {
			whole *= 1000
		}
		return time.Unix(0, whole).UTC()
	}
	if s, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64); err == nil && s > 1e8 && s < 1e11 {
		return time.UnixMicro(int64(s * 1e6)).UTC()
	} else if err == nil && s >= 1e11 && s < 1e14 {
		return time.UnixMicro(int64(s * 1e3)).UTC()
	}
	return time.Time{}
}
