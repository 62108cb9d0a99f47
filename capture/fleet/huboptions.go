package fleet

import "time"

// HubOptions say how a hub is.
type HubOptions struct {
	Listen     string // HOST:PORT; port 0 picks a free one
	Store      string // the directory of its files
	Keep       time.Duration
	KeepBytes  int64
	SyncAlways bool   // each message is forced to the disk before it is acknowledged; else that is done every second
	Auth       string // a file that says who may do what, as NATS configures authorization
	Public     bool   // others than this machine reach it: nobody gets in whom Auth does not name
	Cert, Key  string // files, for TLS
	Log        func(string)
}
