// Package deploy holds what is said of containers against what reads it: the compose file against
// compose's own loader, the examples of the page on sidecars against the types of Kubernetes. The
// command lines in them are run, as processes of this machine in place of containers.
//
// It is a module of its own, in a hidden folder, so that the product needs none of these libraries.
package deploy
