// Package sqlite reads tables of SQLite databases: the files in which agents keep their sessions.
//
//	database, write-ahead log ─▶ pages ─▶ rows of a table ─▶ named columns
//
// The file format is https://www.sqlite.org/fileformat2.html.
//
// Invariants:
//   - Nothing is written, created or locked, so the program that owns the database isn't disturbed.
//   - Only the named columns of the named tables leave this package: databases of agents contain credentials.
//   - Time and memory are bounded for any file: each page is read once per table, and all rows together have a
//     maximum size.
//   - A database that changes while it is read is read again. If it never stays the same, that is an error.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// Magic is the text at the beginning of every SQLite database.
const Magic = "SQLite format 3\x00"

// Limits of a database.
const (
	maxBytes = 256 << 20 // maximum size of the rows that are read
	maxDepth = 40        // maximum depth of a tree
	maxTries = 50        // maximum number of attempts to read a database that changes

	openTime = 2 * time.Millisecond // time between attempts while a transaction is not complete
)

// DB is the state of a database at one moment.
type DB struct {
	file, wal io.ReaderAt
	pageSize  int
	walPage   int              // the page size of the write-ahead log; 0 if there is no log
	usable    int              // number of bytes of a page without its reserved end
	pages     uint32           // number of pages
	inWAL     map[uint32]int64 // offsets of pages in the write-ahead log
	left      int              // number of bytes of rows that may still be read
	only      string           // id of the session to return; "" for all
	sessions  []string         // the first sessions that were found
}

var bigEndian = binary.BigEndian

// Read calls the function read with the database at path. If the database changed meanwhile, it calls the function
// again.
func Read(path string, read func(*DB) error) error {
	unfinished := false
	for range maxTries {
		before, open := readState(path)
		if unfinished = open; open {
			time.Sleep(openTime)
			continue
		}
		err := readOnce(path, read)
		if after, _ := readState(path); after == before {
			return err
		}
	}
	if unfinished {
		return errors.New("a transaction is not complete: close the program that uses the database, or open the database once with its own program")
	}
	return errors.New("a program is changing the database too fast: close the program, or copy the file and its -wal file")
}

// readOnce opens the database and reads it.
func readOnce(path string, read func(*DB) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var wal io.ReaderAt
	if f, err := os.Open(path + "-wal"); err == nil {
		defer f.Close()
		wal = f
	}
	d, err := newDB(file, wal)
	if err != nil {
		return err
	}
	return read(d)
}

// readState returns bytes that change when the database is written or checkpointed, or when its log restarts. The
// result open reports whether a transaction without a log is not complete: it is running or was interrupted.
func readState(path string) (bytes string, open bool) {
	var state strings.Builder
	part := func(suffix string, ranges ...[2]int64) {
		f, err := os.Open(path + suffix)
		if err != nil {
			state.WriteString("none;")
			return
		}
		defer f.Close()
		for _, r := range ranges {
			b := make([]byte, r[1])
			n, _ := f.ReadAt(b, r[0])
			fmt.Fprintf(&state, "%x;", b[:n])
		}
	}
	part("", [2]int64{24, 4})
	part("-wal", [2]int64{0, 32})
	part("-shm", [2]int64{96, 4}, [2]int64{128, 4})
	before := state.Len()
	part("-journal", [2]int64{0, 8})
	return state.String(), strings.HasPrefix(state.String()[before:], "d9d505f920a163d7")
}

// newDB reads the headers of a database and its write-ahead log, which may be nil.
func newDB(file, wal io.ReaderAt) (*DB, error) {
	d := &DB{file: file, inWAL: map[uint32]int64{}, left: maxBytes}
	header := make([]byte, 100)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, errors.New("the header is incomplete")
	}
	if wal != nil {
		if err := d.readWAL(wal, header); err != nil {
			return nil, err
		}
	}
	if string(header[:16]) != Magic {
		return nil, errors.New("not an SQLite 3 file")
	}
	if d.pageSize = int(bigEndian.Uint16(header[16:])); d.pageSize == 1 {
		d.pageSize = 65536
	}
	d.usable = d.pageSize - int(header[20])
	if d.pageSize&(d.pageSize-1) != 0 || d.usable < 480 { // thus a page has at least 512 bytes
		return nil, errors.New("the header is damaged")
	}
	if d.walPage != 0 && d.walPage != d.pageSize {
		return nil, errors.New("the write-ahead log has pages of another size")
	}
	if encoding := bigEndian.Uint32(header[56:]); encoding > 1 {
		return nil, errors.New("the text is UTF-16, which toolscope doesn't read")
	}
	if d.pages == 0 {
		d.pages = bigEndian.Uint32(header[28:])
	}
	return d, nil
}

// readWAL finds the pages of complete transactions in the write-ahead log. A page 1 among them replaces header.
func (d *DB) readWAL(wal io.ReaderAt, header []byte) error {
	h := make([]byte, 32)
	if n, _ := wal.ReadAt(h, 0); n < len(h) || bigEndian.Uint32(h)&^1 != 0x377f0682 {
		return nil // an empty log
	}
	var order binary.ByteOrder = binary.LittleEndian
	if bigEndian.Uint32(h)&1 == 1 {
		order = bigEndian
	}
	size := bigEndian.Uint32(h[8:])
	s0, s1 := addChecksum(order, h[:24], 0, 0)
	if s0 != bigEndian.Uint32(h[24:]) || s1 != bigEndian.Uint32(h[28:]) {
		return nil // the header was not complete yet
	}
	if size < 512 || size > 65536 || size&(size-1) != 0 {
		return errors.New("the write-ahead log is damaged")
	}
	frame, pending := make([]byte, 24+size), map[uint32]int64{}
	for at := int64(32); ; at += int64(len(frame)) {
		if n, _ := wal.ReadAt(frame, at); n < len(frame) || string(frame[8:16]) != string(h[16:24]) {
			break // the end, or frames of an older log
		}
		s0, s1 = addChecksum(order, frame[:8], s0, s1)
		s0, s1 = addChecksum(order, frame[24:], s0, s1)
		if s0 != bigEndian.Uint32(frame[16:]) || s1 != bigEndian.Uint32(frame[20:]) {
			break
		}
		pending[bigEndian.Uint32(frame)] = at + 24
		if pages := bigEndian.Uint32(frame[4:]); pages != 0 { // the end of a transaction
			for page, offset := range pending {
				d.inWAL[page] = offset
			}
			clear(pending)
			d.pages = pages
		}
	}
	if at, ok := d.inWAL[1]; ok {
		if _, err := wal.ReadAt(header, at); err != nil {
			return err
		}
	}
	d.wal, d.walPage = wal, int(size)
	return nil
}

// addChecksum adds 8-byte words to the checksum of a write-ahead log.
func addChecksum(order binary.ByteOrder, b []byte, s0, s1 uint32) (uint32, uint32) {
	for i := 0; i+8 <= len(b); i += 8 {
		s0 += order.Uint32(b[i:]) + s1
		s1 += order.Uint32(b[i+4:]) + s0
	}
	return s0, s1
}

// walker walks the tree of one table. It reads each page once, so a damaged file can't make it loop.
type walker struct {
	*DB
	seen map[uint32]bool
	row  func(columns []any) error
}

func (d *DB) walkTable(root uint32, row func(columns []any) error) error {
	return (&walker{d, map[uint32]bool{}, row}).walkPage(root, 0)
}

// readPage reads a page of the tree.
func (w *walker) readPage(n uint32) ([]byte, error) {
	switch {
	case n == 0 || n > w.pages:
		return nil, fmt.Errorf("page %d doesn't exist", n)
	case w.seen[n]:
		return nil, fmt.Errorf("page %d is used twice", n)
	}
	w.seen[n] = true
	page := make([]byte, w.pageSize)
	from, at := w.file, int64(n-1)*int64(w.pageSize)
	if offset, ok := w.inWAL[n]; ok {
		from, at = w.wal, offset
	}
	if _, err := from.ReadAt(page, at); err != nil {
		return nil, fmt.Errorf("page %d is incomplete", n)
	}
	return page, nil
}

// Kinds of pages.
const (
	interiorPage = 5
	leafPage     = 13
)

func (w *walker) walkPage(n uint32, depth int) error {
	if depth > maxDepth {
		return errors.New("the tree of a table is too deep")
	}
	page, err := w.readPage(n)
	if err != nil {
		return err
	}
	start := 0
	if n == 1 {
		start = 100 // after the header
	}
	kind, cells, head := page[start], int(bigEndian.Uint16(page[start+3:])), start+8
	switch {
	case kind == interiorPage:
		head += 4
	case kind != leafPage:
		return fmt.Errorf("page %d is not a page of a table with rows", n)
	}
	if head+2*cells > len(page) {
		return fmt.Errorf("page %d is damaged", n)
	}
	for i := range cells {
		cell := int(bigEndian.Uint16(page[head+2*i:]))
		if cell+4 > len(page) {
			return fmt.Errorf("page %d is damaged", n)
		}
		if kind == interiorPage {
			err = w.walkPage(bigEndian.Uint32(page[cell:]), depth+1)
		} else {
			err = w.readCell(page, cell)
		}
		if err != nil {
			return err
		}
	}
	if kind == interiorPage {
		return w.walkPage(bigEndian.Uint32(page[start+8:]), depth+1)
	}
	return nil
}

// readCell reads a row: its size, its id, and its columns, which may continue on overflow pages.
func (w *walker) readCell(page []byte, at int) error {
	size, n := readVarint(page[at:])
	_, m := readVarint(page[min(at+n, len(page)):])
	if at += n + m; n == 0 || m == 0 || size < 0 {
		return errDamaged
	}
	if size > int64(w.left) {
		return fmt.Errorf("the rows are larger than %d MB", maxBytes>>20)
	}
	w.left -= int(size)
	local, most := int(size), w.usable-35
	if local > most {
		least := (w.usable-12)*32/255 - 23
		if local = least + (int(size)-least)%(w.usable-4); local > most {
			local = least
		}
	}
	if at+local > len(page) {
		return errDamaged
	}
	body := page[at : at+local : at+local]
	if local < int(size) {
		if at += local; at+4 > len(page) {
			return errDamaged
		}
		for next := bigEndian.Uint32(page[at:]); len(body) < int(size); {
			overflow, err := w.readPage(next)
			if err != nil {
				return err
			}
			next = bigEndian.Uint32(overflow)
			body = append(body, overflow[4:4+min(w.usable-4, int(size)-len(body))]...)
		}
	}
	columns, err := readRecord(body)
	if err != nil {
		return err
	}
	return w.row(columns)
}

var errDamaged = errors.New("a row is damaged")

// readVarint reads a variable-length integer, and returns it with its length, which is 0 if the integer is incomplete.
func readVarint(b []byte) (int64, int) {
	var v uint64
	for i := 0; i < 9 && i < len(b); i++ {
		if i == 8 {
			return int64(v<<8 | uint64(b[i])), 9
		}
		if v = v<<7 | uint64(b[i]&0x7f); b[i] < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}

// readRecord reads the columns of a row: nil, int64, float64, string or []byte.
func readRecord(b []byte) (columns []any, err error) {
	head, n := readVarint(b)
	if n == 0 || head < int64(n) || head > int64(len(b)) {
		return nil, errDamaged
	}
	types, rest := b[n:head], b[head:]
	for len(types) > 0 {
		t, n := readVarint(types)
		if n == 0 || t < 0 || t == 10 || t == 11 {
			return nil, errDamaged
		}
		types = types[n:]
		size := [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[min(t, 11)]
		if t >= 12 {
			size = (t - 12) / 2
		}
		if size > int64(len(rest)) {
			return nil, errDamaged
		}
		v := rest[:size]
		rest = rest[size:]
		switch {
		case t == 0:
			columns = append(columns, nil)
		case t == 7:
			columns = append(columns, math.Float64frombits(bigEndian.Uint64(v)))
		case t >= 12 && t%2 == 0:
			columns = append(columns, v)
		case t >= 13:
			columns = append(columns, string(v))
		default:
			columns = append(columns, readInt(t, v))
		}
	}
	return columns, nil
}

// readInt reads an integer. The types 8 and 9 are the numbers 0 and 1.
func readInt(kind int64, v []byte) (n int64) {
	if kind >= 8 {
		return kind - 8
	}
	if v[0]&0x80 != 0 {
		n = -1
	}
	for _, c := range v {
		n = n<<8 | int64(c)
	}
	return n
}

// Table is a table of a database.
type Table struct {
	Name    string
	root    uint32
	columns []string // the stored columns, in the order in which rows store them
}

// Tables returns the tables of the database, without those of SQLite itself.
func (d *DB) Tables() (all []Table, err error) {
	err = d.walkTable(1, func(c []any) error { // type, name, tbl_name, rootpage, sql
		if len(c) < 5 || c[0] != "table" {
			return nil
		}
		name, isName := c[1].(string)
		root, isRoot := c[3].(int64)
		sql, isSQL := c[4].(string)
		if isName && isRoot && isSQL && root > 0 && root <= int64(d.pages) && !strings.HasPrefix(name, "sqlite_") {
			all = append(all, Table{name, uint32(root), columnNames(sql)})
		}
		return nil
	})
	return all, err
}

// Has reports whether the table has these columns.
func (t *Table) Has(columns ...string) bool {
	for _, name := range columns {
		if !slices.Contains(t.columns, name) {
			return false
		}
	}
	return true
}

// Rows calls the function row with the text of the named columns of each row, in the order of the rows. A value that
// is neither text nor an integer becomes "".
func (d *DB) Rows(t *Table, names []string, row func(texts []string) error) error {
	return d.readValues(t, names, func(values []any) error {
		texts := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case string:
				texts[i] = v
			case int64:
				texts[i] = fmt.Sprint(v)
			}
		}
		return row(texts)
	})
}

// readValues calls the function row with the values of the named columns of each row, in the order of the rows.
func (d *DB) readValues(t *Table, names []string, row func(values []any) error) error {
	var at []int
	for _, name := range names {
		i := slices.Index(t.columns, name)
		if i < 0 {
			return fmt.Errorf("the table %s has no column %s", t.Name, name)
		}
		at = append(at, i)
	}
	return d.walkTable(t.root, func(columns []any) error {
		values := make([]any, len(at))
		for i, c := range at {
			if c < len(columns) { // otherwise the column was added after the row
				values[i] = columns[c]
			}
		}
		return row(values)
	})
}

// columnNames returns the names of the stored columns in a CREATE TABLE statement.
func columnNames(sql string) (names []string) {
	_, list, _ := strings.Cut(sql, "(")
	for _, definition := range splitList(list) {
		name, rest := cutName(strings.TrimSpace(definition))
		upper := strings.ToUpper(rest)
		isConstraint := slices.Contains([]string{"PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"}, strings.ToUpper(name))
		isComputed := strings.Contains(upper, " AS (") && !strings.Contains(upper, "STORED")
		if name != "" && !isConstraint && !isComputed {
			names = append(names, name)
		}
	}
	return names
}

// splitList splits a list at its commas, up to the parenthesis that ends it. Commas in parentheses and in quotes
// don't count.
func splitList(text string) (parts []string) {
	depth, from, quote := 0, 0, byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '[':
			quote = ']'
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return append(parts, text[from:i])
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// cutName cuts the name, which may be quoted, off a column's definition.
func cutName(text string) (name, rest string) {
	for open, end := range map[string]string{`"`: `"`, "`": "`", "[": "]", "'": "'"} {
		if inner, ok := strings.CutPrefix(text, open); ok {
			name, rest, _ = strings.Cut(inner, end)
			return name, rest
		}
	}
	if i := strings.IndexAny(text, " \t\r\n("); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
