package fleet

import "time"

// HubOptions configure a hub.
type HubOptions struct {
	Listen     string // HOST:PORT; port 0 picks a free one
	Store      string // directory of its files
	Keep       time.Duration
	KeepBytes  int64
	SyncAlways bool   // sync each message to the disk before acknowledging it; else every second
	Auth       string // file with users and permissions, in NATS's format
	Public     bool   // other machines can reach it: only users in Auth may connect
	Cert, Key  string // files for TLS
	Log        func(string)
}
