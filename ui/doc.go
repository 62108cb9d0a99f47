// Package ui is the Bubble Tea program: it shows the fold of a timeline while the timeline grows.
//
//	source ─▶ Inbox ─▶ Model.Update ─▶ Inspector ─▶ View ─▶ panes, modes ─▶ frame
//	  (any goroutine)  (one batch a frame)               (visible rows only)
//
// Only Model is a tea.Model; its Update routes and is short. What is drawn lives in the rooms
// below: screen has the pen, panes what there is to see of a session, modes what may cover that;
// replay, send and compare are modes that are rooms of their own. The modes that are open are a
// stack; the one on top owns the keyboard, the body and the footer, and below them all is browsing.
// Footer, help and what a key does are made of the same bindings.
//
// Invariants:
//   - A frame is exactly as high and as wide as the window.
//   - A frame's cost depends on the window, not on the document.
//   - A pen writes bytes that it cleans, or a display.Text, which only cleaning makes.
//   - An idle screen does no work: nothing ticks unless something is arriving.
package ui
