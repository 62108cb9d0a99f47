// Package screen is what everything that is drawn is drawn with: the pen and its paints, the signs,
// the window over a list of rows, numbers and times in words.
//
// Only the pen writes a frame, and it writes a display.Text, or bytes that it cleans.
package screen
