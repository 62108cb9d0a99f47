package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// messageRows describes a table with one message in each row, in the order of the messages.
type messageRows struct {
	table   string
	session string // column with the name of the session
	value   string // column with JSON
	// Names of further columns of a message. Without any, the value is the message itself.
	with []string
}

// read returns a document for each session, the newest first. A document has the session's name and messages.
func (m messageRows) read(d *DB, tables map[string]*Table) ([]byte, error) {
	t := tables[m.table]
	columns := []string{m.session, m.value}
	for _, name := range m.with {
		if t.Has(name) {
			columns = append(columns, name)
		}
	}
	messages, newest, rows := map[string][]string{}, map[string]int{}, 0
	err := d.Rows(t, columns, func(texts []string) error {
		session, message := texts[0], texts[1]
		if !json.Valid([]byte(message)) {
			return nil
		}
		if m.with != nil {
			name := m.value
			if name == "content_json" { // goose's export calls it "content"
				name = "content"
			}
			message = "{" + quoteText(name) + ":" + message + "}"
			var members []string
			for i, text := range texts[2:] {
				if text != "" {
					members = append(members, columns[2+i], text)
				}
			}
			message = addMembers(message, members...)
		}
		messages[session] = append(messages[session], message)
		rows++
		newest[session] = rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	byAge := func(a, b string) int { return newest[b] - newest[a] }
	for _, session := range slices.SortedFunc(maps.Keys(messages), byAge) {
		if !d.isWanted(session) {
			continue
		}
		out.WriteString(`{"session_id":` + quoteText(session) + `,"messages":[`)
		for i, message := range messages[session] {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(message)
		}
		out.WriteString("]}\n")
	}
	return out.Bytes(), nil
}

// readZed returns the threads of Zed's agent as Zed stores them: as JSON, which may be compressed in the
// database (zed-industries/zed, crates/agent/src/db.rs).
func readZed(d *DB, tables map[string]*Table) ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBytes), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	var threads [][]byte
	size := 0
	err = d.readValues(tables["threads"], []string{"data_type", "data", "id"}, func(values []any) error {
		if id, _ := values[2].(string); !d.isWanted(id) {
			return nil
		}
		var data []byte
		switch v := values[1].(type) {
		case []byte:
			data = v
		case string:
			data = []byte(v)
		}
		if values[0] == "zstd" {
			if data, err = decoder.DecodeAll(data, nil); err != nil {
				return fmt.Errorf("a compressed thread is damaged: %w", err)
			}
		}
		if size += len(data); size > maxBytes {
			return fmt.Errorf("the threads are larger than %d MB", maxBytes>>20)
		}
		if json.Valid(data) {
			threads = append(threads, data)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(threads) == 0 && d.only == "" {
		return nil, errors.New("the database of Zed contains no threads")
	}
	slices.Reverse(threads) // the newest row is the last one
	return append(bytes.Join(threads, []byte("\n")), '\n'), nil
}
