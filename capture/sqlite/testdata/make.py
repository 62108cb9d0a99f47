# Writes the databases of the tests, with Python's sqlite3: python3 make.py
import json, os, shutil, sqlite3

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
