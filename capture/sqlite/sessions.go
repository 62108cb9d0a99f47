package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// store is a kind of database that an agent uses.
type store struct {
	needs map[string][]string // tables, with the columns that are read
	read  func(d *DB, tables map[string]*Table) ([]byte, error)
}

// stores are the known kinds of databases. Each read returns the text that the agent itself exports, or the
// rows as JSON.
var stores = []store{
	{map[string][]string{"message": {"id", "session_id", "data"}, "part": {"id", "message_id", "data"}}, readOpencode},
	{map[string][]string{"messages": {"session_id", "role", "parts"}}, messageRows{ // crush
		"messages", "session_id", "parts", []string{"id", "role", "model", "created_at"}}.read},
	{map[string][]string{"messages": {"session_id", "role", "content_json"}}, messageRows{ // goose
		"messages", "session_id", "content_json", []string{"role"}}.read},
	{map[string][]string{"agent_messages": {"session_id", "message_data"}}, messageRows{ // OpenAI Agents for Python
		"agent_messages", "session_id", "message_data", nil}.read},
	{map[string][]string{"threads": {"id", "data_type", "data"}}, readZed},
}

// Sessions returns the sessions in the database at path, as the agent itself exports them. If the parameter only is
// not empty, it returns the session with this id.
func Sessions(path, only string) (text []byte, err error) {
	err = Read(path, func(d *DB) error {
		d.only = only
		if text, err = d.readSessions(); err == nil && only != "" && len(bytes.TrimSpace(text)) == 0 {
			err = errors.New("no session " + quoteText(only) + "; the newest ones: " + listNames(d.sessions))
		}
		return err
	})
	return text, err
}

// isWanted reports whether a session is to be returned, and records that the database has it.
func (d *DB) isWanted(session string) bool {
	if len(d.sessions) <= maxNames {
		d.sessions = append(d.sessions, session)
	}
	return d.only == "" || session == d.only
}

func (d *DB) readSessions() ([]byte, error) {
	all, err := d.Tables()
	if err != nil {
		return nil, err
	}
	var names []string
	tables := map[string]*Table{}
	for i := range all {
		names = append(names, all[i].Name)
		tables[all[i].Name] = &all[i]
	}
	for _, s := range stores {
		if s.hasTables(tables) {
			return s.read(d, tables)
		}
	}
	return nil, errors.New("no table from a known agent: " + listNames(names))
}

// hasTables reports whether a database has the tables of the store.
func (s *store) hasTables(tables map[string]*Table) bool {
	for name, columns := range s.needs {
		if t := tables[name]; t == nil || !t.Has(columns...) {
			return false
		}
	}
	return true
}

// maxNames is the maximum number of tables or sessions that an error lists.
const maxNames = 8

func listNames(names []string) string {
	switch {
	case len(names) == 0:
		return "it has none"
	case len(names) > maxNames:
		names = append(names[:maxNames:maxNames], "…")
	}
	return strings.Join(names, ", ")
}

// opencodeRow is a message or a part of one.
type opencodeRow struct{ id, of, data string }

// readOpencode reads opencode's messages and their parts, and returns a document for each session, the newest first,
// as opencode export prints it. It adds the ids, which the database has in separate columns.
func readOpencode(d *DB, tables map[string]*Table) ([]byte, error) {
	rows := func(table string, columns []string) (by map[string][]opencodeRow, err error) {
		by = map[string][]opencodeRow{}
		err = d.Rows(tables[table], columns, func(t []string) error {
			if strings.HasPrefix(t[2], "{") && json.Valid([]byte(t[2])) {
				by[t[1]] = append(by[t[1]], opencodeRow{t[0], t[1], t[2]})
			}
			return nil
		})
		for _, list := range by {
			slices.SortFunc(list, func(a, b opencodeRow) int { return strings.Compare(a.id, b.id) }) // ids grow with time
		}
		return by, err
	}
	messages, err := rows("message", []string{"id", "session_id", "data"})
	if err != nil {
		return nil, err
	}
	parts, err := rows("part", []string{"id", "message_id", "data"})
	if err != nil {
		return nil, err
	}
	var sessions []string
	for session := range messages {
		sessions = append(sessions, session)
	}
	slices.SortFunc(sessions, func(a, b string) int {
		newest := func(s string) string { return messages[s][len(messages[s])-1].id }
		return strings.Compare(newest(b), newest(a))
	})
	var out bytes.Buffer
	for _, session := range sessions {
		if !d.isWanted(session) {
			continue
		}
		out.WriteString(`{"info":{"id":` + quoteText(session) + `},"messages":[`)
		for i, m := range messages[session] {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(`{"info":` + addMembers(m.data, "id", m.id, "sessionID", session) + `,"parts":[`)
			for j, p := range parts[m.id] {
				if j > 0 {
					out.WriteByte(',')
				}
				out.WriteString(addMembers(p.data, "id", p.id, "sessionID", session, "messageID", m.id))
			}
			out.WriteString("]}")
		}
		out.WriteString("]}\n")
	}
	return out.Bytes(), nil
}

// addMembers returns a JSON object with further fields before its own.
func addMembers(object string, members ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(members); i += 2 {
		b.WriteString(quoteText(members[i]) + ":" + quoteText(members[i+1]) + ",")
	}
	rest := strings.TrimLeft(object[1:], " \t\r\n")
	if rest == "}" {
		return strings.TrimSuffix(b.String(), ",") + rest
	}
	return b.String() + rest
}

// quoteText returns a string in JSON's quotes.
func quoteText(text string) string {
	quoted, _ := json.Marshal(text) // can't fail
	return string(quoted)
}

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
