// Package panes implements the panes of the screen: the list of turns and calls, the arguments of a call
// as a document, its frames, its findings, the summary of a turn, and sheets of finished texts.
//
// A Pane is one file, and one line in the program's table. It calls the program through a Host; the
// Context holds what all panes show.
//
// A pane reads new data in Extend, once a batch, and draws one row at a time. It keeps its subject as a
// Ref; pointers to turns and calls are valid until the next Extend.
package panes
