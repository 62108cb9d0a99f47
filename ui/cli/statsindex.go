package cli

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/providers/price"
	"toolscope/ui/stats"
)

// statsIndex keeps the turns of captures in toolscope's own folder, so that stats doesn't read unchanged captures
// again. It keeps nothing about other files.
type statsIndex struct {
	captures string // folder of the captures
	rows     string // folder of the files with rows
	basis    string // the program and the prices that the turns depend on
	day      string // day for the prices of turns with unknown time

	file, key string // key of the current capture's rows; "" if the rows aren't kept
}

// rowsExtension is the extension of the files with rows.
const rowsExtension = ".rows"

// openStatsIndex returns the index. It returns nil if flags change what stats reads from a capture, or if a path that
// it needs is unknown.
func (a *app) openStatsIndex(prices *price.Table) *statsIndex {
	captures, err := captureFolder()
	rows, failed := inStateFolder("stats")
	program, unknown := os.Executable()
	if err != nil || failed != nil || unknown != nil || a.turnFilter != nil || a.reading.request != "" ||
		!isDefault(a.reading.protocol) || !isDefault(a.reading.as) {
		return nil
	}
	basis := []any{versionText()}
	for _, path := range []string{program, a.pricesPath()} {
		if info, err := os.Stat(path); err == nil {
			basis = append(basis, path, fileStamp(info))
		}
	}
	return &statsIndex{captures: captures, rows: rows, basis: fmt.Sprint(basis...), day: prices.Today}
}

func isDefault(value string) bool { return value == "" || value == "auto" }

// fileStamp returns facts that change when the file is changed: its size, its times and, if the system has one, its
// number. On Unix, programs can't set the time of the latest change.
func fileStamp(info fs.FileInfo) string {
	stamp := []any{info.Size(), info.ModTime().UnixNano()}
	if of := reflect.Indirect(reflect.ValueOf(info.Sys())); of.Kind() == reflect.Struct {
		for _, name := range []string{"Dev", "Ino", "Ctim", "Ctimespec"} { // the field names on different systems
			if field := of.FieldByName(name); field.IsValid() {
				stamp = append(stamp, field.Interface())
			}
		}
	}
	return fmt.Sprintln(stamp...)
}

// keyOf returns a key for everything that the rows of a capture depend on. It returns "" if the file is not a capture
// in toolscope's folder. The key changes when the program that records the capture ends, because that also ends open
// turns.
func (x *statsIndex) keyOf(path string) string {
	path, err := filepath.Abs(path)
	info, missing := os.Lstat(path)
	if err != nil || missing != nil || !info.Mode().IsRegular() || filepath.Dir(path) != filepath.Clean(x.captures) ||
		filepath.Ext(path) != record.Extension {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	const sample = 1 << 10 // bytes at each end of the file
	_, _ = io.CopyN(sum, f, sample)
	if _, err := f.Seek(-min(sample, info.Size()), io.SeekEnd); err == nil {
		_, _ = io.CopyN(sum, f, sample)
	}
	return fmt.Sprintf("%s\n%s\n%v %s%x", x.basis, path, record.IsOpen(path), fileStamp(info), sum.Sum(nil))
}

// rowsPath returns the path of the file with the rows of a capture.
func (x *statsIndex) rowsPath(capture string) string {
	return filepath.Join(x.rows, filepath.Base(capture)+rowsExtension)
}

// loadTurns adds the turns of the next source to a set, if the index has them and the capture has not changed.
func (x *statsIndex) loadTurns(files []capture.FoundFile, to *stats.Set) bool {
	if x == nil {
		return false
	}
	if x.file, x.key = "", ""; len(files) == 1 {
		x.file = files[0].Path
		x.key = x.keyOf(x.file)
	}
	if x.key == "" {
		return false
	}
	data, err := os.ReadFile(x.rowsPath(x.file))
	if err != nil {
		return false
	}
	turns, ok := stats.DecodeTurns(data, x.key)
	if !ok {
		turns, ok = stats.DecodeTurns(data, x.key+x.day)
	}
	if ok {
		to.AddSourceTurns(turns)
	}
	return ok
}

// minRowsAge is the minimum age of a capture whose turns are kept. If a file has just been changed, its times might
// not show another change.
const minRowsAge = 2 * time.Second

// storeTurns keeps the turns of the current source, if the capture has not changed since loadTurns. A failure is not
// reported, because stats then reads the capture again. Turns with unknown time are kept for one day, because their
// costs depend on the day.
func (x *statsIndex) storeTurns(turns []stats.Turn) {
	if x == nil || x.key == "" || x.key != x.keyOf(x.file) {
		return
	}
	info, err := os.Stat(x.file)
	if err != nil || time.Since(info.ModTime()) < minRowsAge {
		return
	}
	key := x.key
	if slices.ContainsFunc(turns, func(t stats.Turn) bool { return t.At.IsZero() }) {
		key += x.day
	}
	_ = writeOwn(x.rowsPath(x.file), stats.EncodeTurns(key, turns))
	// Delete the files in the index whose captures are gone, and temporary files of programs that were killed.
	all, _ := os.ReadDir(x.rows)
	for _, e := range all {
		capture := filepath.Join(x.captures, strings.TrimSuffix(e.Name(), rowsExtension))
		if _, err := os.Lstat(capture); os.IsNotExist(err) {
			removeOwn(filepath.Join(x.rows, e.Name()))
		}
	}
}
