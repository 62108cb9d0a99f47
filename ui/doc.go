// Package ui is the Bubble Tea program: it shows the fold of a timeline while
// the timeline grows.
//
//	source ─▶ Inbox ─▶ Model.Update ─▶ Inspector ─▶ Session ─▶ panes ─▶ View
//	  (any goroutine)  (one batch a frame)                    (visible rows only)
//
// Only Model is a tea.Model; its Update routes and is short. Panes are plain
// structs that keep a cursor and a window and draw one row at a time through a
// pen. Modes (browse, search, help, an opened string, replay) own the keyboard
// and the footer while they last.
//
// Invariants:
//   - A frame is exactly as high and as wide as the window.
//   - A frame's cost depends on the window, not on the document.
//   - A pen writes bytes that it cleans, or a display.Text, which only cleaning makes.
//   - An idle screen does no work: nothing ticks unless something is arriving.
package ui
