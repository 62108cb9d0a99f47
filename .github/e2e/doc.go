// Package e2e runs real client libraries with toolscope. They stream from toolscope serve through toolscope
// proxy, and must read the same calls that toolscope print shows for the same capture.
//
// It is a separate module in a hidden folder, so that toolscope doesn't depend on these libraries.
package e2e
