// Package screen provides the tools to draw the screen: the pen and its paints, the signs, the window over a
// list of rows, and the formats of numbers and times.
//
// Only the pen writes a frame. It writes a display.Text, or bytes that it cleans.
package screen
