// Package e2e runs real client libraries with toolscope: they stream from toolscope serve
// through toolscope proxy, and must read the same calls that toolscope print shows of
// the same capture.
//
// It is a module of its own, in a hidden folder, so that toolscope doesn't depend on these libraries.
package e2e
