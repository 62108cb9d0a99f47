// Package deploy checks the container files and examples with the programs that read them. It loads the
// compose file with compose's own loader, and decodes the examples on the sidecar page into the types of
// Kubernetes. The tests run the containers' command lines as processes on this machine.
//
// It is a separate module in a hidden folder, so that toolscope doesn't depend on these libraries.
package deploy
