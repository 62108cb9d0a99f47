// Package diff compares turns: it matches their calls, compares each call's fields with those of one turn, the
// base, and describes the differences in a sentence. It draws nothing and keeps no state. Its results are plain
// data that the caller keeps, and the caller looks up turns and calls again when it needs them.
//
// A value that is still growing differs only when it can no longer become equal. Values are compared, not how they
// are written: 3 equals 3.0. Strings with different escapes and objects with another order of fields are equal
// too. White space between tokens is ignored.
package diff
