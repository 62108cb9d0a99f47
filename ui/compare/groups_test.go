package compare

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/ui/display"
)

// TestCallLabels checks that calls with the same name have different labels: a value that only one of them has,
// or else the number of the call. A call whose name is unique has only its name.
func TestCallLabels(t *testing.T) {
	lima, oslo := [2]string{"get_forecast", `{"days":3,"city":"Lima"}`}, [2]string{"get_forecast", `{"days":3,"city":"Oslo"}`}
	same, long := [2]string{"ping", `{}`}, [2]string{"a_tool_with_a_very_long_name", `{"id":"x\u001b[2J"}`}
	for _, c := range []struct {
		calls  [][2]string
		labels []string
	}{
		{[][2]string{lima, oslo}, []string{"get_forecast Lima", "get_forecast Oslo"}},
		{[][2]string{same, same}, []string{"ping call 1", "ping call 2"}},
		{[][2]string{lima, same}, []string{"get_forecast", "ping"}},
		{[][2]string{long, {long[0], `{"id":"y"}`}}, []string{"a_tool_with_… x␛[2J", "a_tool_with_a_ve… y"}},
	} {
		p := newProgram(t, 80, 24)
		p.answer(1, c.calls...).answer(2, c.calls...).markAll().compare()
		frame := strings.Join(p.draw(), "\n")
		for _, label := range c.labels {
			if !strings.Contains(frame, label) {
				t.Errorf("%q is not in\n%s", label, frame)
			}
		}
	}
}

// TestSpaceBelowIsUsed checks that a tall screen shows the arguments of the calls below the table, the call at the
// cursor first. On a wide screen they are to the right of the table, and the frames of both turns are below it.
func TestSpaceBelowIsUsed(t *testing.T) {
	for _, size := range [][2]int{{140, 38}, {250, 58}, {160, 38}, {60, 38}} {
		p := newProgram(t, size[0], size[1])
		lima, oslo := [2]string{"get_forecast", `{"city":"Lima","days":3}`}, [2]string{"get_forecast", `{"city":"Oslo","days":2}`}
		p.answer(1, lima, oslo).answer(2, lima, [2]string{"get_forecast", `{"city":"Oslo","days":"2"}`})
		c := p.markAll().compare()
		rest := func() string {
			rows := p.draw()[c.head.rowCount()-1:]
			if c.table == c.w {
				return strings.TrimSpace(strings.Join(rows[1+len(c.rows):], "\n"))
			}
			for i, row := range rows {
				rows[i] = string([]rune(row)[c.table+1:])
			}
			return strings.Join(rows, "\n")
		}
		if got := rest(); !strings.Contains(got, "get_forecast Oslo  as it was written") || !strings.Contains(got, `"days": "2"`) {
			t.Errorf("%v: the rows next to the table are\n%s", size, got)
		}
		for c.At < len(c.rows) && !(c.rows[c.At].kind == callLine && c.groups[c.rows[c.At].group].tag == "Lima") {
			if p.press("j"); c.At == len(c.rows)-1 {
				break
			}
		}
		if got := rest(); !strings.HasPrefix(got, "── get_forecast Lima  as it was written") {
			t.Errorf("%v: at %q, the rows next to the table are\n%s", size, c.groups[c.rows[c.At].group].tag, got)
		}
		frame := strings.Join(p.draw(), "\n")
		if wide := c.table < c.w; wide != (size[0] >= 160) || wide != strings.Contains(frame, "── m #2  Wire 8 ──") || wide != strings.Contains(frame, "get_forecast t_2_0") {
			t.Errorf("%v: the frames are shown: %v\n%s", size, !wide, frame)
		}
	}
}

// TestMoreRowsAreCounted checks that the last row next to the table shows how many rows of the arguments don't fit.
func TestMoreRowsAreCounted(t *testing.T) {
	p := newProgram(t, 200, 24)
	long := [2]string{"f", `{"list":[` + strings.Repeat("1,", 40) + `2]}`}
	p.answer(1, long).answer(2, long).markAll().compare()
	rows := p.draw() // the arguments take 45 rows and a caption, twice
	at := 24 - p.open.(*comparison).head.rowCount()
	if last := rows[len(rows)-1]; !strings.Contains(last, fmt.Sprintf("│ %d more rows: enter shows a call in full", 2*46+2-at)) {
		t.Errorf("the last row is %q", last)
	}
}

// TestStackedSignsAreAligned checks that the signs for equal values are in one column if the other turn is below the
// base.
func TestStackedSignsAreAligned(t *testing.T) {
	p := newProgram(t, 40, 12)
	call := [2]string{"a", `{"x":1,"a_long_name":"a long value","y":true}`}
	p.answer(1, call).answer(2, call).markAll().compare()
	columns := map[int]bool{}
	for _, row := range p.draw() {
		if before, is := strings.CutSuffix(row, "="); is {
			columns[display.Clean(before).Width()] = true
		}
	}
	if len(columns) != 1 {
		t.Errorf("the signs are in columns %v:\n%s", columns, strings.Join(p.draw(), "\n"))
	}
}
