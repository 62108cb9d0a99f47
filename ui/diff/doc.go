// Package diff compares turns. It matches their calls, compares each call's fields with those of one turn, the
// base, and describes the differences in a sentence. It draws nothing and keeps no state. Its results are plain
// data that the caller keeps. The caller looks up turns and calls again when it needs them.
//
// A growing value differs only when it can no longer become equal. The package compares values, not their
// spelling: 3 equals 3.0. Strings that differ only in their escapes are equal, and so are objects that differ
// only in the order of fields. White space between tokens is ignored.
package diff
