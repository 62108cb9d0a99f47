# Writes the databases of the tests, with Python's sqlite3: python3 make.py
import json, os, shutil, sqlite3, subprocess

def opencode(name, page, wal, keep=None):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(name + end): os.remove(name + end)
    c = sqlite3.connect(name, isolation_level=None)
    c.execute(f"pragma page_size={page}")
    if wal: c.execute("pragma journal_mode=wal"); c.execute("pragma wal_autocheckpoint=0")
    c.execute("create table account(id text primary key, access_token text)")
    c.execute("insert into account values('a','token-that-must-not-be-read')")
    c.execute('create table message("id" text primary key, session_id text not null, n integer default (1+1), data text, check (n > 0))')
    c.execute("create table part(id text primary key, message_id text, session_id text, data text)")
    for s in (1, 2):
        c.execute("begin")
        for m in range(1, 13):
            role = {"role": "user"} if m % 2 else {"role": "assistant", "modelID": "m-1", "providerID": "p", "tokens": {"input": 1, "output": 1}}
            mid = f"msg_{s}{m:02}"
            c.execute("insert into message(id,session_id,data) values(?,?,?)", (mid, f"ses_{s}", json.dumps({**role, "time": {"created": s * 1000 + m}})))
            part = {"type": "text", "text": "go"} if m % 2 else {"type": "tool", "callID": f"c{s}{m}", "tool": "bash", "state": {"status": "completed", "input": {"command": "ls"}, "output": "y" * (3000 if m == 6 else 5)}}
            c.execute("insert into part values(?,?,?,?)", (f"prt_{s}{m:02}", mid, f"ses_{s}", json.dumps(part)))
        c.execute("commit")
    c.execute("alter table message add column later text")
    if wal:  # copies, because closing writes the log into the database
        for end in ("", "-wal"): shutil.copy(name + end, "copy" + end)
    c.close()
    if wal:
        for end in ("", "-wal"): os.replace("copy" + end, name + end)

opencode("plain.db", 512, False)
opencode("logged.db", 1024, True)
if os.path.exists("foreign.db"): os.remove("foreign.db")
c = sqlite3.connect("foreign.db"); c.execute("create table notes(id integer primary key, text text)"); c.execute("create table tags(name text primary key) without rowid"); c.commit(); c.close()
if os.path.exists("utf16.db"): os.remove("utf16.db")
c = sqlite3.connect("utf16.db"); c.execute("pragma encoding='UTF-16le'"); c.execute("create table message(id text)"); c.commit(); c.close()

# fill writes a database with one table, and another one that must not be read.
def fill(name, table, rows):
    if os.path.exists(name): os.remove(name)
    c = sqlite3.connect(name, isolation_level=None)
    c.execute("pragma page_size=512")
    c.execute("create table secrets(token text)")
    c.execute("insert into secrets values('token-that-must-not-be-read')")
    c.execute(table)
    for row in rows:
        c.execute(f"insert into {table.split('(')[0].split()[-1]}({','.join(row)}) values({','.join('?' * len(row))})", list(row.values()))
    c.close()

fill("crush.db", "create table messages(id text, session_id text not null, role text not null, parts text not null default '[]', model text, created_at integer)", [
    {"id": f"m{i}", "session_id": "s1", "role": role, "model": "m-1", "created_at": i, "parts": json.dumps(parts)} for i, (role, parts) in enumerate([
        ("user", [{"type": "text", "data": {"text": "go"}}]),
        ("assistant", [{"type": "tool_call", "data": {"id": "c1", "name": "bash", "input": '{"command":"ls"}', "finished": True}}]),
        ("tool", [{"type": "tool_result", "data": {"tool_call_id": "c1", "name": "bash", "content": "a.txt", "is_error": False}}]),
        ("assistant", [{"type": "tool_call", "data": {"id": "c2", "name": "bash", "input": '{"command":"sle', "finished": False}}]),
    ])])
fill("goose.db", "create table messages(id integer primary key autoincrement, session_id text not null, role text not null, content_json text not null, created_timestamp integer)", [
    {"session_id": session, "role": role, "content_json": json.dumps([block])} for session, role, block in [
        ("20260101_1", "user", {"type": "text", "text": "first"}),
        ("20260101_2", "user", {"type": "text", "text": "go"}),
        ("20260101_2", "assistant", {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}}),
        ("20260101_2", "user", {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": [{"type": "text", "text": "a.txt"}]}}),
    ]])
fill("agents.db", "create table agent_messages(id integer primary key autoincrement, session_id text not null, message_data text not null)", [
    {"session_id": "s", "message_data": json.dumps(item)} for item in [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city":"Oslo"}'},
        {"type": "function_call", "call_id": "c2", "name": "get_time", "arguments": '{"zone":'},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"type": "function_call_output", "call_id": "c2", "output": "error"},
        {"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": "It rains."}]},
    ]])
thread = {"title": "t", "version": "0.3.0", "model": {"provider": "p", "model": "m"}, "messages": [
    {"User": {"id": "u1", "content": [{"Text": "go"}]}},
    {"Agent": {"content": [{"Thinking": {"text": "hm", "signature": None}}, {"ToolUse": {"id": "c1", "name": "list", "raw_input": '{"path":"a"}', "input": {"path": "a"}, "is_input_complete": True}}],
               "tool_results": {"c1": {"tool_use_id": "c1", "tool_name": "list", "is_error": False, "content": [{"Text": "b.txt"}]}}}},
    {"Agent": {"content": [{"ToolUse": {"id": "c2", "name": "edit", "raw_input": '{"path":"a/b', "input": {}, "is_input_complete": False}}], "tool_results": {}}},
]}
packed = subprocess.run(["zstd", "-qc"], input=json.dumps(thread).encode(), stdout=subprocess.PIPE, check=True).stdout
fill("zed.db", "create table threads(id text primary key, summary text not null, data_type text not null, data blob not null)", [
    {"id": "a", "summary": "t", "data_type": "json", "data": json.dumps({"title": "empty", "version": "0.3.0", "messages": []})},
    {"id": "b", "summary": "t", "data_type": "zstd", "data": packed}])

if os.path.exists("short.db"): os.remove("short.db")
c = sqlite3.connect("short.db") # s1 has the newest message, s2 only one
c.execute("pragma page_size=512")
c.execute("create table message(id text primary key, session_id text, data text)")
c.execute("create table part(id text primary key, message_id text, session_id text, data text)")
c.executemany("insert into message values(?,?,?)", [("m1", "s1", '{"role":"user"}'), ("m2", "s2", '{"role":"user"}'), ("m3", "s1", '{"role":"user"}')])
c.commit()
c.close()
