// Package deploy checks the container files and examples with the programs that read them: the compose file with
// compose's own loader, the examples of the page on sidecars with the types of Kubernetes. The
// tests run the command lines of the containers as processes of this machine.
//
// It is a module of its own, in a hidden folder, so that toolscope doesn't depend on these libraries.
package deploy
