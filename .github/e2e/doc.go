// Package e2e runs real client libraries against the program: they stream from toolscope serve,
// through toolscope proxy, and what they make of the stream has to be what toolscope print shows of
// the same capture.
//
// It is a module of its own, in a hidden folder, so that the product needs none of these libraries.
package e2e
