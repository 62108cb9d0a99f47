// Package panes is what there is to see of a session: the list of turns and
// calls, the arguments of a call as a document, the frames behind it, its
// findings, what is known of a turn, and finished texts on a sheet.
//
// A pane takes what is new in its Extend, once a batch, and draws one row at a
// time. What it shows it knows by a Ref; the structs behind it are good until the
// next Extend.
package panes
