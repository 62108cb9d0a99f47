// Package diff puts turns side by side: which of their calls belong together, what each of them has
// of the members that one of them, the base, has, and the sentence that says it. It draws nothing
// and keeps nothing: whoever shows a comparison holds what this package returns, which is plain
// data, and looks up turns and calls anew.
//
// A value that grows differs only once it can no longer become the same. Values are compared, not
// how they are written: 3 and 3.0 are alike, as are texts with other escapes and objects whose
// members come in another order. White space between tokens is nothing.
package diff
