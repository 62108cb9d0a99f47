// Package panes is what there is to see of a session: the list of turns and calls, the arguments of
// a call as a document, the frames behind it, its findings, what is known of a turn, and finished
// texts on a sheet.
//
// A pane that stands beside others is a Pane: one file, and one line in the program's table. What
// it may ask of the program is a Host, what all are about a Scene.
//
// A pane takes what is new in its Extend, once a batch, and draws one row at a time. What it shows
// it knows by a Ref; the structs behind it are good until the next Extend.
package panes
