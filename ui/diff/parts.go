package diff

import (
	"slices"
	"strings"

	"toolscope/stream"
)

// DifferingSpans returns the span of a field in two texts of arguments, and the spans in each that differ.
// An empty path means all of the arguments.
func DifferingSpans(args [2]*Args, path string) (spans [2][2]int, marks [2][][2]int) {
	rows, _ := CompareArgs(args[:], 0, make([]bool, 2))
	for i, a := range args {
		if a != nil {
			spans[i] = [2]int{0, len(a.Text)}
		}
	}
	for r := range rows {
		row := &rows[r]
		inside := path == "" || row.Path == path || strings.HasPrefix(row.Path, path+"/")
		for i := range row.Cells {
			cell := &row.Cells[i]
			if row.Path == path && args[i] != nil {
				spans[i] = [2]int{int(cell.Start), int(cell.End)}
			}
			if inside && !row.Split && !row.Equal && cell.Has() {
				marks[i] = append(marks[i], differingSpan(args, row, i))
			}
		}
	}
	for i := range marks {
		slices.SortFunc(marks[i], func(a, b [2]int) int { return a[0] - b[0] })
	}
	return spans, marks
}

// differingSpan returns the part of a field that differs. For two strings, their common start and end are
// left out.
func differingSpan(args [2]*Args, row *Row, i int) [2]int {
	a, b := &row.Cells[i], &row.Cells[1-i]
	whole := [2]int{int(a.Start), int(a.End)}
	if a.Kind != stream.String || b.Kind != stream.String {
		return whole
	}
	one, other := args[i].Text[a.Start:a.End], args[1-i].Text[b.Start:b.End]
	n := commonPrefixLen(one, other)
	for n > 0 && n < len(one) && one[n]&0xc0 == 0x80 {
		n--
	}
	end := 0
	for end < len(one)-n && end < len(other)-n && one[len(one)-1-end] == other[len(other)-1-end] {
		end++
	}
	if len(one)-end <= n {
		return [2]int{int(a.Start) + max(0, n-1), int(a.Start) + min(n+1, len(one))}
	}
	return [2]int{int(a.Start) + n, int(a.End) - end}
}
