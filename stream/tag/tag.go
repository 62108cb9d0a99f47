// Package tag defines the placeholders with which toolscope replaces secrets, such as [redacted:x-api-key:8f3a]. A
// placeholder contains the name of the secret and a digest, by which equal secrets in one capture look equal.
package tag

import "bytes"

// Start is the beginning of each placeholder.
const Start = "[redacted:"

// Of returns the placeholder of a secret.
func Of(name, digest string) string { return Start + name + ":" + digest + "]" }

// IsIn reports whether a text contains a placeholder.
func IsIn[T ~string | ~[]byte](text T) bool { return bytes.Contains([]byte(text), []byte(Start)) }
